package store

import (
	"context"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
)

// Survey is what an operator asks of an installation, read of an [Image] without the
// keys: it shows what is written there, and proves nothing.
type Survey struct {
	Nodes []domain.Node
	// Messages is how many wait to be sent, and Oldest when the first of them was
	// written; zero: none waits.
	Messages int
	Oldest   time.Time
	// Webhooks is how far the deliveries to each endpoint are.
	Webhooks []domain.WebhookProgress
}

// Survey reads it.
func (i *Inspector) Survey(ctx context.Context, image Image) (s Survey, err error) {
	err = records(ctx, i, image, instanceOrg, &nodes, func(n *domain.Node) { s.Nodes = append(s.Nodes, *n) })
	if err != nil {
		return s, err
	}
	err = records(ctx, i, image, outboxOrg, &messages, func(m *domain.Message) {
		s.Messages++
		if s.Oldest.IsZero() || m.CreatedAt.Before(s.Oldest) {
			s.Oldest = m.CreatedAt
		}
	})
	if err != nil {
		return s, err
	}
	err = records(ctx, i, image, webhookOrg, &webhookProgress, func(p *domain.WebhookProgress) { s.Webhooks = append(s.Webhooks, *p) })
	return s, err
}

// records reads the records of a kind; those that are not ours are left out.
func records[T any](ctx context.Context, i *Inspector, image Image, org string, kind *Kind[T], fn func(*T)) error {
	return image.Items(ctx, org, kind.Name, func(org, name string, item Item) error {
		body, ours, err := i.Open(org, name, item)
		if err != nil || !ours {
			return err
		}
		record := new(T)
		if json.Unmarshal(body, record) == nil {
			fn(record)
		}
		return nil
	})
}

// ParentOrganization is a parent organization, as an operator sees it.
type ParentOrganization struct {
	domain.Organization
	Users, Children int
}

// ParentOrganizations reads the parent organizations of an installation, ordered by id.
func (i *Inspector) ParentOrganizations(ctx context.Context, image Image) (all []ParentOrganization, err error) {
	var known []string
	err = records(ctx, i, image, instanceOrg, &knownOrganizations, func(o *domain.KnownOrganization) { known = append(known, o.ID) })
	if err != nil {
		return nil, err
	}
	for _, id := range known {
		parent := ParentOrganization{Organization: domain.Organization{ID: id}}
		err := records(ctx, i, image, id, &organizations, func(o *domain.Organization) { parent.Organization = *o })
		if err == nil {
			err = records(ctx, i, image, id, &users, func(*domain.User) { parent.Users++ })
		}
		if err == nil {
			prefix := domain.AllChildren + separator
			err = image.Items(ctx, id, directoryKind, func(_, _ string, item Item) error {
				if strings.HasPrefix(item.ID, prefix) {
					parent.Children++
				}
				return nil
			})
		}
		if err != nil {
			return nil, err
		}
		all = append(all, parent)
	}
	return all, nil
}

// Issuers are the issuers of OpenID Connect tokens by which users log in, of some
// organizations: all says that it were all.
func (i *Inspector) Issuers(ctx context.Context, image Image, organizations int) (issuers []string, all bool, err error) {
	seen := map[string]bool{}
	all = true
	err = image.Versions(ctx, func(org string, _ int64) error {
		if !IsOrganization(org) || !all {
			return nil
		}
		if organizations--; organizations < 0 {
			all = false
			return nil
		}
		return records(ctx, i, image, org, &users, func(u *domain.User) {
			for _, p := range u.OAuthProviders {
				if !seen[p.Identity.Issuer] {
					seen[p.Identity.Issuer] = true
					issuers = append(issuers, p.Identity.Issuer)
				}
			}
		})
	})
	return issuers, all, err
}
