package policytest

import (
	"encoding/base64"
	"strconv"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/keys/curve"
)

// epoch is when everything of a file was created, and when cases without a time
// happen. It is fixed: a case that depends on the time must say it.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// readUsers makes tags, users and the root quorum.
func (r *reader) readUsers() {
	r.readTags(KindTag, "tags", domain.TagUser, r.content.Tags)
	r.readTags(KindPrivateKeyTag, "privateKeyTags", domain.TagPrivateKey, r.content.PrivateKeyTags)
	for i, u := range r.content.Users {
		path := "users." + strconv.Itoa(i)
		made := &domain.User{
			ID: r.assignID(KindUser, path, i, u.Name, u.ID), Name: u.Name, Email: u.Email,
			TagIDs: r.ids(KindTag, join(path, "tags"), u.Tags), CreatedAt: epoch, UpdatedAt: epoch,
		}
		credentials := u.Credentials
		if credentials == nil {
			credentials = []credential{{Type: domain.CredentialP256}}
		}
		for j, c := range credentials {
			r.readCredential(made, join(path, "credentials."+strconv.Itoa(j)), i*100+j, &c)
		}
		r.users = append(r.users, made)
	}
	// A threshold that is never reached: without a quorum policies alone decide.
	r.quorum = domain.Quorum{Threshold: 1}
	if q := r.content.RootQuorum; q != nil {
		r.quorum = domain.Quorum{Threshold: q.Threshold, UserIDs: r.ids(KindUser, "rootQuorum.members", q.Members)}
		if int(q.Threshold) > len(q.Members) {
			r.reportPath("rootQuorum.threshold", "is %d, but there are only %d members", q.Threshold, len(q.Members))
		}
	}
}

func (r *reader) readTags(kind, path string, t domain.TagType, tags []tag) {
	for i, given := range tags {
		id := r.assignID(kind, path+"."+strconv.Itoa(i), i, given.Name, given.ID)
		r.tags = append(r.tags, &domain.Tag{ID: id, Name: given.Name, Type: t, CreatedAt: epoch, UpdatedAt: epoch})
	}
}

// credential gives a user a credential.
func (r *reader) readCredential(u *domain.User, path string, n int, c *credential) {
	id := c.ID
	if id == "" {
		id = madeUpID("credential", n, u.Name)
	}
	r.reserve("id "+id, join(path, "id"), "the id "+id)
	if c.Type == domain.CredentialAuthenticator {
		r.readPasskey(u, path, id, c)
		return
	}
	if c.CredentialID != "" {
		r.reportPath(join(path, "credentialId"), "only passkeys have one")
	}
	text := c.PublicKey
	if text == "" {
		text = madeUpKey(c.Type.Curve(), id)
	}
	key, err := curve.ParsePublicKey(c.Type.Curve(), text)
	if err != nil {
		r.reportPath(join(path, "publicKey"), "%v", err)
		return
	}
	r.reserve(domain.APIKeyCredential(key.String()), join(path, "publicKey"), "the key")
	u.APIKeys = append(u.APIKeys, domain.APIKey{
		ID: id, Name: "key " + strconv.Itoa(n), PublicKey: key.String(), Type: c.Type, CreatedAt: epoch, UpdatedAt: epoch,
	})
}

func (r *reader) readPasskey(u *domain.User, path, id string, c *credential) {
	made := domain.Authenticator{
		ID: id, Name: "passkey " + id, CredentialID: c.CredentialID, COSEKey: digest("passkey", id), CreatedAt: epoch, UpdatedAt: epoch,
	}
	if made.CredentialID == "" {
		made.CredentialID = base64url(digest("credential", id)[:16])
	}
	if c.PublicKey != "" {
		var err error
		if made.COSEKey, err = base64.RawURLEncoding.DecodeString(c.PublicKey); err != nil {
			r.reportPath(join(path, "publicKey"), "must be the base64url of the passkey's public key, without padding")
		}
	}
	r.reserve(domain.PasskeyCredential(made.CredentialID), join(path, "credentialId"), "the passkey")
	u.Authenticators = append(u.Authenticators, made)
}
