// Package domain holds what an organization consists of: plain records and the
// rules that need nothing but the records. It does no I/O and reads no clock.
//
// The JSON tags are the stored form. The form that clients see is in package
// record, so that either can change without the other.
package domain

import (
	"slices"
	"time"
)

// Organization is the unit of isolation: everything else belongs to one.
type Organization struct {
	ID         string    `json:"id"`
	Name       string    `json:"name"`
	ParentID   string    `json:"parentId,omitzero"` // empty: it is a parent itself
	Deleted    bool      `json:"deleted,omitzero"`  // its record remains, everything else is gone
	RootQuorum Quorum    `json:"rootQuorum"`
	Features   []Feature `json:"features"`
	// IPAllowlist restricts where requests of its users come from; nil: nowhere.
	IPAllowlist *IPAllowlist `json:"ipAllowlist,omitzero"`
	// AuthProxy signs its users up and logs them in; nil: it never had one.
	AuthProxy *AuthProxy `json:"authProxy,omitzero"`
	CreatedAt time.Time  `json:"createdAt"`
	UpdatedAt time.Time  `json:"updatedAt"`
}

// DirectoryKeys are the keys by which the organization's parent finds it.
func (o *Organization) DirectoryKeys() []string {
	if o.Deleted {
		return nil
	}
	return []string{AllChildren, ChildByName(o.Name)}
}

// AllChildren is the key of the directory of a parent organization that finds
// every child; the functions below make the others.
const AllChildren = "all"

// ChildByName finds organizations by their name.
func ChildByName(name string) string { return "name:" + name }

// ChildByUserName finds organizations by the name of a user.
func ChildByUserName(name string) string { return "username:" + name }

// ChildByEmail finds organizations by the e-mail address of a user.
func ChildByEmail(email string) string { return "email:" + NormalEmail(email) }

// ChildByPhone finds organizations by the phone number of a user.
func ChildByPhone(phone string) string { return "phone:" + phone }

// ChildByVerified finds organizations by a contact of a user that was verified:
// by a key of [ChildByEmail] or [ChildByPhone], or by [AllChildren] for any
// contact.
func ChildByVerified(contact string) string { return "verified-" + contact }

// ChildByCredential finds organizations by the credential key of a user.
func ChildByCredential(key string) string { return "credential:" + key }

// ChildByAddress finds organizations by the address of a wallet account.
func ChildByAddress(key string) string { return "address:" + key }

// KnownOrganization is the installation's entry for a parent organization.
type KnownOrganization struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Installation is all servers on one database, and its copies. Its id never
// changes.
type Installation struct {
	ID string `json:"id"`
	// Epochs are the logs that the installation has had, the present one last.
	Epochs []LogEpoch `json:"epochs,omitempty"`
	// SealID and SealGeneration are of the newest seal of the master key that was
	// used; FormerSeals are those before it, which are not used again.
	SealID         string `json:"sealId,omitempty"`
	SealGeneration int    `json:"sealGeneration,omitempty"`
	// SealMaster names the master key in it, without revealing it; empty: an earlier
	// version did not note it.
	SealMaster string `json:"sealMaster,omitempty"`
	// Seal is that newest one, for servers that run on the one before, under the
	// master key of which it is encrypted.
	Seal        string   `json:"seal,omitempty"`
	FormerSeals []string `json:"formerSeals,omitempty"`
	// Rotation is the replacement of the data keys that is under way, if one is.
	Rotation *Rotation `json:"rotation,omitempty"`
}

// Rotation is how far the replacement of the data keys is.
type Rotation struct {
	Master  string `json:"master"`  // which master key the new data keys are under
	Through string `json:"through"` // the last organization, in their order, that is done
	Done    int    `json:"done"`    // organizations
	Secrets int    `json:"secrets"`
}

// LogEpoch is one log of the installation: from its beginning until an older state
// of the database was made the present one, or its keys were replaced.
type LogEpoch struct {
	Number       int64    `json:"number"` // from 1, not without gaps
	Origin       string   `json:"origin"`
	VerifierKeys []string `json:"verifierKeys"`
	BeganMs      int64    `json:"beganMs"`
	// Previous is the last known checkpoint of the log before, with its signatures.
	Previous string `json:"previous,omitempty"`
}

// HasFeature reports whether the organization has the feature switched on.
func (o *Organization) HasFeature(name FeatureName) bool {
	return slices.ContainsFunc(o.Features, func(f Feature) bool { return f.Name == name })
}

// Quorum is a set of users of whom Threshold must agree.
type Quorum struct {
	Threshold int32    `json:"threshold"`
	UserIDs   []string `json:"userIds"`
}

// Reached reports whether the approvers make the quorum. A threshold below one
// is never reached: a damaged record must not allow anything.
func (q Quorum) Reached(approverIDs ...string) bool {
	if q.Threshold < 1 {
		return false
	}
	var count int32
	for i, id := range approverIDs {
		if slices.Contains(q.UserIDs, id) && !slices.Contains(approverIDs[:i], id) {
			count++
		}
	}
	return count >= q.Threshold
}

// Has reports whether the user is a member.
func (q Quorum) Has(userID string) bool { return slices.Contains(q.UserIDs, userID) }

// FeatureName names a switch of an organization.
type FeatureName string

// The features that the server knows.
const (
	FeatureEmailAuth     FeatureName = "FEATURE_NAME_EMAIL_AUTH"
	FeatureEmailRecovery FeatureName = "FEATURE_NAME_EMAIL_RECOVERY"
	FeatureOTPEmailAuth  FeatureName = "FEATURE_NAME_OTP_EMAIL_AUTH"
	FeatureSMSAuth       FeatureName = "FEATURE_NAME_SMS_AUTH"
	FeatureOrigins       FeatureName = "FEATURE_NAME_WEBAUTHN_ORIGINS"
	FeatureWebhook       FeatureName = "FEATURE_NAME_WEBHOOK"
	// FeatureAuthProxy has the id of the auth proxy's configuration as its value.
	FeatureAuthProxy FeatureName = "FEATURE_NAME_AUTH_PROXY"
	// FeatureSessionsAddNoCredentials is an extension: what a session does adds no
	// credential that outlives it.
	FeatureSessionsAddNoCredentials FeatureName = "FEATURE_NAME_SESSIONS_ADD_NO_CREDENTIALS"
)

// Feature is a switch that is on, with its setting.
type Feature struct {
	Name  FeatureName `json:"name"`
	Value string      `json:"value"`
}

// Limits bounds what one organization may hold. 0 means no bound.
type Limits struct {
	Users            int
	Tags             int // of a parent
	ChildTags        int // of a sub-organization
	LongLivedAPIKeys int // for each user
	ExpiringAPIKeys  int // for each user
	Wallets          int
	PrivateKeys      int
	Secrets          int
	Policies         int
	VelocityControls int
	Authenticators   int // for each user
	OAuthProviders   int // for each user
	WebhookEndpoints int
}
