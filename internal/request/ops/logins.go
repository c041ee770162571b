package ops

import (
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/outbox/notify"
	"latchkey/internal/proof/token"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
	"latchkey/internal/store"
)

// This file holds what logins have in common: they give a user a P-256 key that
// expires.

// loginSeconds is how long a login lasts by default.
const loginSeconds = 900

// newKey describes the key of a login.
type newKey struct {
	kind       domain.CredentialType
	name       string
	publicKey  string // compressed hex
	seconds    schema.Uint64
	invalidate bool                   // the other keys of this kind
	profile    *domain.SessionProfile // nil: the login is not limited
}

// logIn gives the user the key and returns its id and its end.
func logIn(e activity.Env, userID string, k newKey) (id string, ends time.Time, err error) {
	k.seconds = k.lifetime()
	ends, err = endOf(e.Now, k.seconds)
	if err != nil {
		return "", ends, err
	}
	key := domain.APIKey{
		ID: e.NewID(), Name: k.name, PublicKey: k.publicKey, Type: k.kind,
		ExpirationSeconds: uint64(k.seconds), CreatedAt: e.Now, UpdatedAt: e.Now,
	}
	if k.profile != nil {
		key.Scope = &domain.SessionScope{ProfileID: k.profile.ID, Scope: k.profile.Scope}
	}
	return key.ID, ends, e.Tx.Users().Edit(userID, func(u *domain.User) error {
		if k.invalidate {
			u.APIKeys = slices.DeleteFunc(u.APIKeys, func(other domain.APIKey) bool { return other.Type == k.kind })
		}
		// A login with a key that the user already has prolongs it.
		u.APIKeys = slices.DeleteFunc(u.APIKeys, func(other domain.APIKey) bool {
			return other.PublicKey == k.publicKey && other.Type == k.kind
		})
		makeRoom(e, u)
		u.APIKeys = append(u.APIKeys, key)
		u.UpdatedAt = e.Now
		return nil
	})
}

// lifetime is the shorter of what the login and its profile say.
func (k newKey) lifetime() schema.Uint64 {
	var most schema.Uint64
	if k.profile != nil {
		most = schema.Uint64(k.profile.ExpirationSeconds)
	}
	switch {
	case k.seconds == 0 && most == 0:
		return loginSeconds
	case k.seconds == 0 || most > 0 && most < k.seconds:
		return most
	}
	return k.seconds
}

// endOf is the end of what lasts for a number of seconds. Clients read it as a
// number, which must stay in a range that they can represent.
func endOf(now time.Time, seconds schema.Uint64) (time.Time, error) {
	const longest = 100 * 365 * 24 * 3600
	if seconds > longest {
		return time.Time{}, fault.Invalid("invalid api key expiration: expirationSeconds is %d; at most %d are allowed", seconds, longest)
	}
	return now.Add(time.Duration(seconds) * time.Second), nil
}

// sealedLogIn gives the user a fresh key whose private half only the owner of
// target can read.
func sealedLogIn(e activity.Env, userID, target string, k newKey) (id, bundle string, ends time.Time, err error) {
	recipient, err := recipientKey(target)
	if err != nil {
		return "", "", ends, err
	}
	public, bundle, err := e.Vault.NewCredential(recipient)
	if err != nil {
		return "", "", ends, err
	}
	k.publicKey = hex.EncodeToString(public)
	id, ends, err = logIn(e, userID, k)
	return id, bundle, ends, err
}

// session writes the token that a client keeps of a login.
func session(e activity.Env, userID string, k newKey, ends time.Time) (string, error) {
	return token.WriteLogin(e.ServerKeys, token.Login{
		ExpiresAt: ends, PublicKey: k.publicKey, UserID: userID, OrganizationID: e.Tx.Org(), Profile: k.profile,
	})
}

// LoginResult is the result of the logins whose key the client made.
type LoginResult struct {
	Session string `json:"session" check:"required,secret" doc:"Signed session, as a JWT. Requests are stamped with the key; the session itself authenticates nothing."`
}

// loginWith logs the user in with a key that the client made.
func loginWith(e activity.Env, userID string, k newKey) (LoginResult, error) {
	k.kind, k.name = domain.CredentialLogin, defaultName("Login", e)
	_, ends, err := logIn(e, userID, k)
	if err != nil {
		return LoginResult{}, err
	}
	text, err := session(e, userID, k, ends)
	return LoginResult{Session: text}, err
}

// defaultName is the name of a key when the request has none.
func defaultName(what string, e activity.Env) string {
	return fmt.Sprintf("%s - %s", what, e.Now.UTC().Format(time.RFC3339Nano))
}

// userWithContact finds the one user of the organization for whom the contact
// stands.
func userWithContact(tx *store.Tx, t domain.OTPType, contact string) (*domain.User, error) {
	users, err := tx.Users().List("", 0)
	if err != nil {
		return nil, err
	}
	found, several := domain.FindByContact(users, t, contact)
	switch {
	case several:
		return nil, fault.Invalid("more than one user of the organization has this contact; logins need exactly one")
	case found == nil:
		return nil, fault.Missing("no user of the organization has this contact")
	}
	return found, nil
}

// requireFeature refuses a login that the organization has switched off.
func requireFeature(e activity.Env, name domain.FeatureName) error {
	org, err := e.Tx.Organization()
	if err != nil {
		return err
	}
	if !org.HasFeature(name) {
		return fault.New(fault.PermissionDenied, fault.ReasonForbidden,
			"request not authorized: the organization has %s switched off; its root quorum can turn it on with set_organization_feature", name)
	}
	return nil
}

// SessionProfile names a limited kind of session.
type SessionProfile struct {
	SessionProfileID string `json:"sessionProfileId,omitzero" check:"uuid,unsampled" doc:"Session profile of the organization or its parent that limits the login; leave out for one that is not limited."`
}

// find returns the profile, nil when the login names none.
func (p *SessionProfile) find(tx *store.Tx) (*domain.SessionProfile, error) {
	if p.SessionProfileID == "" {
		return nil, nil
	}
	return tx.SessionProfile(p.SessionProfileID)
}

// mailKey gives the user with the address a key and mails it there.
func mailKey(e activity.Env, email, target string, k newKey, m notify.Message, s Sender, look EmailLook) (userID, keyID string, err error) {
	if err := requireSending(e, m.Kind); err != nil {
		return "", "", err
	}
	user, err := userWithContact(e.Tx, domain.OTPEmail, email)
	if err != nil {
		return "", "", err
	}
	id, bundle, ends, err := sealedLogIn(e, user.ID, target, k)
	if err != nil {
		return "", "", err
	}
	m.To, m.UserID, m.Bundle, m.ExpiresAt = user.Email, user.ID, bundle, ends
	return user.ID, id, post(e, m, s, look)
}
