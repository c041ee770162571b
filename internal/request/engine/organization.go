package engine

import (
	"cmp"
	"context"
	"errors"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/store"
)

// NewOrganization describes a new parent organization with one root user, who has one
// API key. It is for the operator; no request can do this.
type NewOrganization struct {
	OrganizationID   string
	OrganizationName string
	UserID           string
	UserName         string
	UserEmail        string
	APIKeyID         string
	APIKeyName       string
	PublicKey        string
	KeyType          domain.CredentialType
	// KeyLasts is how long the key serves; 0: for good.
	KeyLasts time.Duration
}

// ErrNameTaken says that an organization has the name already.
var ErrNameTaken = errors.New("an organization with this name already exists")

// CreateOrganization creates the organization. It returns ErrNameTaken when another one has
// its name, unless sameName allows that, and a fault when its id is taken.
//
// The name is entered first. A crash before the organization follows leaves an
// entry that claims nothing: the check looks whether there is an organization.
func CreateOrganization(ctx context.Context, s *store.Store, f NewOrganization, sameName bool, now time.Time) error {
	err := s.Instance(ctx, func(tx *store.Tx) error {
		known, err := tx.KnownOrganizations().List("", 0)
		if err != nil {
			return err
		}
		for _, o := range known {
			if o.ID == f.OrganizationID {
				return nil
			}
			if o.Name != f.OrganizationName || sameName {
				continue
			}
			if err := Exists(ctx, s, o.ID); !errors.Is(err, store.ErrNoOrganization) {
				return cmp.Or(err, ErrNameTaken)
			}
		}
		return tx.KnownOrganizations().Insert(&domain.KnownOrganization{ID: f.OrganizationID, Name: f.OrganizationName})
	})
	if err != nil {
		return err
	}
	return s.CreateOrganization(ctx, f.OrganizationID, f.insert(now))
}

// Exists returns nil when there is such an organization, and
// store.ErrNoOrganization when there is none.
func Exists(ctx context.Context, s *store.Store, org string) error {
	return s.View(ctx, org, func(*store.Tx) error { return nil })
}

func (f NewOrganization) insert(now time.Time) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		err := tx.Organizations().Insert(&domain.Organization{
			ID: f.OrganizationID, Name: f.OrganizationName,
			RootQuorum: domain.Quorum{Threshold: 1, UserIDs: []string{f.UserID}},
			Features: []domain.Feature{
				{Name: domain.FeatureEmailAuth}, {Name: domain.FeatureEmailRecovery}, {Name: domain.FeatureOTPEmailAuth},
			},
			CreatedAt: now, UpdatedAt: now,
		})
		if err != nil {
			return err
		}
		return tx.Users().Insert(&domain.User{
			ID: f.UserID, Name: f.UserName, Email: f.UserEmail,
			APIKeys: []domain.APIKey{{
				ID: f.APIKeyID, Name: f.APIKeyName, PublicKey: f.PublicKey, Type: f.KeyType,
				ExpirationSeconds: uint64(f.KeyLasts.Seconds()),
				CreatedAt:         now, UpdatedAt: now,
			}},
			CreatedAt: now, UpdatedAt: now,
		})
	}
}
