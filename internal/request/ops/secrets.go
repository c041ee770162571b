package ops

import (
	"fmt"
	"slices"
	"strings"

	"latchkey/internal/domain"
	"latchkey/internal/policy/fact"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
	"latchkey/internal/schema"
)

// This file holds what the operations on secrets have in common: bytes that the
// organization keeps, sealed as keys are.

// maxSecrets is how many secrets a request may name.
const maxSecrets = 100

// EncryptionSuite is how a secret is sealed on its way.
type EncryptionSuite string

// Enum lists the suites for the schema.
func (EncryptionSuite) Enum() []string {
	return []string{"TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1"}
}

// KeyValue is a named text.
type KeyValue struct {
	Key   string `json:"key" check:"required,max=128" doc:"Name of the text." example:"kind"`
	Value string `json:"value" check:"required,allowempty,max=1024" doc:"The text." example:"creditCard"`
}

// checkKeys refuses a name that is given twice.
func checkKeys(problems *schema.Problems, member string, pairs []KeyValue) {
	seen := map[string]bool{}
	for i, p := range pairs {
		if seen[p.Key] {
			problems.Add(fmt.Sprintf("%s.%d.key", member, i), "is given twice; each name has one text")
		}
		seen[p.Key] = true
	}
}

// SecretIDsResult is the result of import_secrets and delete_secrets.
type SecretIDsResult struct {
	SecretIDs []string `json:"secretIds" check:"required,each=uuid" doc:"Ids of the secrets, in the order of the request."`
}

// Secret is a secret as clients read it: without its content.
type Secret struct {
	SecretID         string        `json:"secretId" check:"required,uuid" doc:"Id of the secret."`
	Name             string        `json:"name,omitzero" doc:"Human-readable name; several secrets may have the same."`
	StaticProperties []KeyValue    `json:"staticProperties" check:"required" doc:"Texts that were bound to the secret when it was imported; policies see them."`
	CreatedAtUnixMs  schema.Uint64 `json:"createdAtUnixMs" check:"required" doc:"When it was imported, in milliseconds since the Unix epoch."`
}

func secretRecord(s *domain.Secret) Secret {
	return Secret{
		SecretID: s.ID, Name: s.Name, CreatedAtUnixMs: schema.Uint64(s.CreatedAt.UnixMilli()),
		StaticProperties: record.Each(s.StaticProperties, func(p domain.Property) KeyValue { return KeyValue(p) }),
	}
}

// secretFacts sets which secrets are asked for. Those with the same properties
// look the same to every policy.
func secretFacts(f activity.Facts, ids []string) error {
	seen := map[string]bool{}
	for _, id := range ids {
		secret, err := f.Tx.Secrets().Lookup(id)
		if err != nil {
			return err
		}
		if secret == nil {
			continue
		}
		var properties fact.Map
		for _, p := range secret.StaticProperties {
			properties = append(properties, fact.Entry{Name: p.Key, Value: fact.String(p.Value)})
		}
		slices.SortFunc(properties, func(a, b fact.Entry) int { return strings.Compare(a.Name, b.Name) })
		if look := fmt.Sprintf("%q", secret.StaticProperties); !seen[look] {
			seen[look] = true
			f.Secrets = append(f.Secrets, &fact.Secret{StaticProperties: properties})
		}
	}
	return nil
}

// newestFirst is a page of a table in which ids grow, the newest first.
func newestFirst[T any](page Pagination, id func(*T) string, list func(after string, limit int) ([]*T, error)) ([]*T, error) {
	const piece = 100
	var window []*T // before it is reversed
	for after := page.Before; ; {
		part, err := list(after, piece)
		if err != nil {
			return nil, err
		}
		last := len(part) < piece
		for _, one := range part {
			if page.After != "" && id(one) >= page.After {
				last = true
				break
			}
			window = append(window, one)
		}
		switch n := page.size(); {
		case page.Before != "" && page.After == "" && len(window) >= n:
			window, last = window[:n], true // the ones next to the cursor
		case len(window) > n:
			window = slices.Clone(window[len(window)-n:])
		}
		if last {
			slices.Reverse(window)
			return window, nil
		}
		after = id(part[len(part)-1])
	}
}
