package store

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/keys/vault"
)

// Inspector takes the rows of an [Image] apart, and says of each whether it is
// ours. It is for one goroutine.
type Inspector struct {
	keys *vault.RowKeys // nil: marks are not checked
	sums map[string]string
	last *rows
}

// NewInspector returns one that checks marks with keys; with nil it takes every
// row that has a mark for right.
func NewInspector(keys *vault.RowKeys) *Inspector {
	return &Inspector{keys: keys, sums: kindSums()}
}

// rows returns what opens rows of an organization.
func (i *Inspector) rows(org string) (*rows, error) {
	if i.last != nil && i.last.org == org {
		return i.last, nil
	}
	r := &rows{store: &Store{}, org: org}
	if i.keys != nil {
		key, err := i.keys.Organization(org)
		if err != nil {
			return nil, err
		}
		r.key = key
	}
	i.last = r
	return r, nil
}

func (i *Inspector) open(org, kind string, item Item) (storedRow, error) {
	r, err := i.rows(org)
	if err != nil {
		return storedRow{}, err
	}
	if _, _, hasMark := cut(item.Body); !hasMark {
		return storedRow{Item: Item{ID: item.ID}}, nil
	}
	return r.open(kind, item), nil
}

// Open returns the body of an item; ok says that it is ours.
func (i *Inspector) Open(org, kind string, item Item) (body []byte, ok bool, err error) {
	row, err := i.open(org, kind, item)
	return row.Body, row.Body != nil, err
}

// Activity decodes an activity; what is found of it is returned, nil for nothing.
func (i *Inspector) Activity(org string, row ActivityRow) (*domain.Activity, *Finding, error) {
	r, err := i.rows(org)
	if err != nil {
		return nil, nil, err
	}
	if r.activity(&row) != nil {
		return nil, &Finding{org, activityKind, row.ID, notOurs}, nil
	}
	a, err := decodeActivity(org, &row)
	if err != nil {
		return nil, &Finding{org, activityKind, row.ID, "it cannot be read"}, nil // the error is what was found
	}
	return a, nil, nil
}

// Entry takes an entry of the log apart; what is found of it is returned, nil for
// nothing.
func (i *Inspector) Entry(row *EntryRow) (*LogEntry, *Finding, error) {
	r, err := i.rows(row.Org)
	if err != nil {
		return nil, nil, err
	}
	entry, ok := r.entry(row)
	if !ok {
		found := EntryFinding(row, notOurs)
		return nil, &found, nil
	}
	return &entry, nil, nil
}

// State is what the log must say of the state that a stored head stands for; ok
// is false if the head cannot be opened.
func (i *Inspector) State(org string, sealed []byte) (digest string, ok bool, err error) {
	r, err := i.rows(org)
	if err != nil || r.key == nil {
		return "", false, err
	}
	h, err := openHead(r.key, sealed)
	if err != nil {
		return "", false, nil // it was reported with the rows of the organization
	}
	return h.digest, true, nil
}

// Installation is the record of the installation, nil when there is none that is
// ours.
func (i *Inspector) Installation(ctx context.Context, image Image) (found *domain.Installation, err error) {
	err = image.Items(ctx, instanceOrg, installations.Name, func(org, kind string, item Item) error {
		body, ours, err := i.Open(org, kind, item)
		if err != nil || !ours {
			return err
		}
		record := new(domain.Installation)
		if json.Unmarshal(body, record) == nil { // else it is reported with the rows
			found = record
		}
		return nil
	})
	return found, err
}

// LogItem reads an item of what is kept of the tree; nil: there is none that is
// ours.
func (i *Inspector) LogItem(ctx context.Context, image Image, kind, id string) ([]byte, error) {
	stored, err := image.Get(ctx, logOrg, kind, id)
	if err != nil || stored == nil {
		return nil, err
	}
	body, _, err := i.Open(logOrg, kind, Item{id, stored})
	return body, err
}

// OrganizationRows adds up the rows of one organization, to compare them with its
// head.
type OrganizationRows struct {
	inspector *Inspector
	org       string
	added     map[string]sum
	sealed    []byte // the head; nil: it is missing, or not ours
}

// Organization begins with the rows of an organization.
func (i *Inspector) Organization(org string) *OrganizationRows {
	return &OrganizationRows{inspector: i, org: org, added: map[string]sum{}}
}

// Add returns the body of a row, nil for one that is not to be used: then it is
// said why.
func (o *OrganizationRows) Add(kind string, item Item) (body []byte, found *Finding, err error) {
	name, known := o.inspector.sums[kind]
	if !known {
		return nil, &Finding{o.org, kind, item.ID, "no version of this server writes rows of this kind"}, nil
	}
	row, err := o.inspector.open(o.org, kind, item)
	if err != nil {
		return nil, nil, err
	}
	if row.Body == nil {
		return nil, &Finding{o.org, kind, item.ID, notOurs}, nil
	}
	switch {
	case kind == headKind && item.ID == headID:
		o.sealed = row.Body
	case name != "" && o.inspector.keys != nil:
		r, err := o.inspector.rows(o.org)
		if err != nil {
			return nil, nil, err
		}
		o.added[name] = o.added[name].plus(r.key.Element(row.mark))
	}
	return row.Body, nil, nil
}

// Headless says that the organization has no head, and needs none.
func (o *OrganizationRows) Headless() bool { return headless(o.org) }

// End compares all rows with the head, and the head with the version of the
// organization.
func (o *OrganizationRows) End(version int64) ([]Finding, error) {
	if version <= 0 {
		return []Finding{{o.org, "", "", "it has rows, but no version: its row of the table organizations is missing or damaged"}}, nil
	}
	if headless(o.org) {
		return nil, nil
	}
	if o.sealed == nil {
		return []Finding{{o.org, headKind, headID, isGone}}, nil
	}
	if o.inspector.keys == nil {
		return nil, nil
	}
	r, err := o.inspector.rows(o.org)
	if err != nil {
		return nil, err
	}
	h, err := openHead(r.key, o.sealed)
	if err != nil {
		return []Finding{{o.org, headKind, headID, notOurs}}, nil // the error is what was found
	}
	return o.compare(h, version), nil
}

func (o *OrganizationRows) compare(h *head, version int64) (found []Finding) {
	if h.Version != version {
		found = append(found, Finding{o.org, headKind, headID, otherVersion})
	}
	names := map[string]bool{}
	for name := range h.Sums {
		names[name] = true
	}
	for name := range o.added {
		names[name] = true
	}
	for name := range names {
		if h.Sums[name] == o.added[name] {
			continue
		}
		what := incomplete
		if name == restSum {
			what = restIncomplete
		}
		found = append(found, Finding{o.org, name, "", what})
	}
	return found
}

// openHead is the reverse of [head.seal].
func openHead(key *vault.RowKey, sealed []byte) (*head, error) {
	plain, err := key.OpenHead(headContext, sealed)
	if err != nil {
		return nil, err
	}
	h := new(head)
	if err := json.Unmarshal(plain, h); err != nil {
		return nil, err
	}
	if h.Version <= 0 {
		return nil, errors.New("store: a head without a version")
	}
	h.digest = stateDigest(key, h.Version, plain)
	return h, nil
}
