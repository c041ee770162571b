package server

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/ledger"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/store/postgres"
	"latchkey/internal/store/sqlite"
)

// Status is how an installation is. It is read of the database alone, without the keys,
// whether servers run or not.
type Status struct {
	Installation string        `json:"installation"`
	Nodes        []NodeStatus  `json:"nodes"` // the newest last
	Log          LogStatus     `json:"log"`
	Messages     MessageStatus `json:"messages"`
	Webhooks     WebhookStatus `json:"webhooks"`
}

// NodeStatus is a server; Alive says that it was seen a moment ago.
type NodeStatus struct {
	domain.Node
	Alive bool `json:"alive"`
}

// LogStatus is how far the log is.
type LogStatus struct {
	Epoch int64 `json:"epoch"`
	Size  int64 `json:"size"`
	// Published is the size of the newest checkpoint.
	Published int64 `json:"published"`
	// Waiting is about how many entries are not in the tree yet.
	Waiting int64 `json:"waiting"`
}

// MessageStatus is how many messages wait to be sent.
type MessageStatus struct {
	Waiting int        `json:"waiting"`
	Oldest  *time.Time `json:"oldest"` // nil: none waits
}

// WebhookStatus is how far the deliveries to endpoints are.
type WebhookStatus struct {
	Endpoints int `json:"endpoints"`
	// Behind is by how many entries of the log the last endpoint is behind its end.
	Behind  int64            `json:"behind"`
	Failing []FailingWebhook `json:"failing"`
}

// FailingWebhook is an endpoint that does not take what is delivered.
type FailingWebhook struct {
	OrganizationID string    `json:"organizationId"`
	EndpointID     string    `json:"endpointId"`
	Since          time.Time `json:"since"`
	Attempts       int       `json:"attempts"`
	LastError      string    `json:"lastError"`
	SwitchedOff    string    `json:"switchedOff,omitzero"`
}

// peek opens what the store of a config holds now, and leaves nothing behind.
func peek(ctx context.Context, url string) (store.Image, error) {
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		return sqlite.Peek(ctx, path)
	}
	return postgres.OpenImage(ctx, url)
}

// ReadStatus reads the status of the installation of a config.
func ReadStatus(ctx context.Context, c *config.Config, now time.Time) (s Status, err error) {
	image, err := peek(ctx, c.Store)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, image.Close()) }()
	return statusOf(ctx, image, now)
}

func statusOf(ctx context.Context, image store.Image, now time.Time) (s Status, err error) {
	inspector := store.NewInspector(nil)
	installation, err := inspector.Installation(ctx, image)
	if err != nil {
		return s, err
	}
	if installation != nil {
		s.Installation = installation.ID
	}
	found, err := inspector.Survey(ctx, image)
	if err != nil {
		return s, err
	}
	s.Nodes = make([]NodeStatus, 0, len(found.Nodes))
	for _, n := range found.Nodes {
		s.Nodes = append(s.Nodes, NodeStatus{n, now.Sub(n.SeenAt) < NodeAlive})
	}
	slices.SortFunc(s.Nodes, func(a, b NodeStatus) int { return a.StartedAt.Compare(b.StartedAt) })
	s.Messages.Waiting = found.Messages
	if found.Messages > 0 {
		s.Messages.Oldest = &found.Oldest
	}
	standing, err := logOf(ctx, image, inspector).Standing()
	if err != nil {
		return s, err
	}
	newest, err := image.NewestEntry(ctx)
	if err != nil {
		return s, err
	}
	s.Log = LogStatus{
		Epoch: standing.Epoch, Size: standing.Size, Published: standing.Published,
		Waiting: max(0, newest-standing.Place.Position) + int64(len(standing.Place.Missing)),
	}
	s.Webhooks = webhooksOf(found.Webhooks, domain.LogPlace{Epoch: standing.Epoch, Index: standing.Size})
	return s, nil
}

// logOf reads what is kept of the log in an image.
func logOf(ctx context.Context, image store.Image, inspector *store.Inspector) ledger.Stored {
	return ledger.Stored{Epoch: 1, Get: func(kind, id string) ([]byte, error) { return inspector.LogItem(ctx, image, kind, id) }}
}

func webhooksOf(all []domain.WebhookProgress, end domain.LogPlace) WebhookStatus {
	s := WebhookStatus{Endpoints: len(all), Failing: []FailingWebhook{}}
	for _, p := range all {
		if p.Begun && p.SwitchedOff == "" && p.Place.Epoch == end.Epoch {
			s.Behind = max(s.Behind, end.Index-p.Place.Index)
		}
		if p.Attempts > 0 || p.SwitchedOff != "" {
			s.Failing = append(s.Failing, FailingWebhook{
				OrganizationID: p.OrganizationID, EndpointID: p.EndpointID, Since: p.FailingSince,
				Attempts: p.Attempts, LastError: p.LastError, SwitchedOff: p.SwitchedOff,
			})
		}
	}
	slices.SortFunc(s.Failing, func(a, b FailingWebhook) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.EndpointID, b.EndpointID))
	})
	return s
}

// ListedOrganization is a parent organization.
type ListedOrganization struct {
	ID               string    `json:"id"`
	Name             string    `json:"name"`
	CreatedAt        time.Time `json:"createdAt"`
	Users            int       `json:"users"`
	SubOrganizations int       `json:"subOrganizations"`
}

// ListOrganizations reads the parent organizations of the installation of a config,
// ordered by the time at which they were created.
func ListOrganizations(ctx context.Context, c *config.Config) (all []ListedOrganization, err error) {
	image, err := peek(ctx, c.Store)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, image.Close()) }()
	found, err := store.NewInspector(nil).ParentOrganizations(ctx, image)
	if err != nil {
		return nil, err
	}
	all = make([]ListedOrganization, 0, len(found))
	for _, o := range found {
		all = append(all, ListedOrganization{o.ID, o.Name, o.CreatedAt, o.Users, o.Children})
	}
	slices.SortFunc(all, func(a, b ListedOrganization) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}
