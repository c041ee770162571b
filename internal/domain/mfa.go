package domain

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// MFAPolicy demands several proofs of its user for what its condition says. It is
// a part of the user, as credentials are.
type MFAPolicy struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Condition string    `json:"condition"` // as in policies
	Steps     []MFAStep `json:"steps"`     // all of them must be met, in any order
	Order     int32     `json:"order"`     // the lowest is asked first
	Notes     string    `json:"notes,omitzero"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// MFAStep is met by any one of its methods.
type MFAStep struct {
	Any []AuthenticationMethod `json:"any"`
}

// AuthenticationMethod is a way to prove who one is.
type AuthenticationMethod struct {
	Type AuthenticationType `json:"type"`
	// ID is that of the key, the passkey, the identity at an issuer or the profile
	// of the session; empty in a policy: any will do. Codes have none.
	ID string `json:"id,omitzero"`
}

// AuthenticationType is a kind of proof.
type AuthenticationType string

// The kinds of proof.
const (
	AuthEmailOTP AuthenticationType = "AUTHENTICATION_TYPE_EMAIL_OTP"
	AuthSMSOTP   AuthenticationType = "AUTHENTICATION_TYPE_SMS_OTP"
	AuthPasskey  AuthenticationType = "AUTHENTICATION_TYPE_PASSKEY"
	AuthAPIKey   AuthenticationType = "AUTHENTICATION_TYPE_API_KEY"
	AuthOAuth    AuthenticationType = "AUTHENTICATION_TYPE_OAUTH"
	AuthSession  AuthenticationType = "AUTHENTICATION_TYPE_SESSION"
)

// Enum lists the kinds for the schema.
func (AuthenticationType) Enum() []string {
	return []string{
		string(AuthEmailOTP), string(AuthSMSOTP), string(AuthPasskey), string(AuthAPIKey), string(AuthOAuth), string(AuthSession),
	}
}

// DefaultSession stands for the profile of a session that has none.
const DefaultSession = "00000000-0000-0000-0000-000000000000"

// Accepts reports whether a proof is what the method asks for.
func (m AuthenticationMethod) Accepts(proof AuthenticationMethod) bool {
	return m.Type == proof.Type && (m.ID == "" || m.ID == proof.ID)
}

// Method is what a stamp with the key proves. A recovery key proves nothing by
// itself: it was mailed, and serves for a recovery alone.
func (k APIKey) Method() *AuthenticationMethod {
	switch k.Type {
	case CredentialP256, CredentialSecp256k1, CredentialEd25519:
		return &AuthenticationMethod{Type: AuthAPIKey, ID: k.ID}
	case CredentialLogin, CredentialReadWrite, CredentialEmailAuth, CredentialOTPAuth, CredentialOAuth:
		profile := DefaultSession
		if k.Scope != nil {
			profile = k.Scope.ProfileID
		}
		return &AuthenticationMethod{Type: AuthSession, ID: profile}
	default:
		return nil
	}
}

// Method is what a stamp with the passkey proves.
func (a Authenticator) Method() *AuthenticationMethod {
	return &AuthenticationMethod{Type: AuthPasskey, ID: a.ID}
}

// IdentityMethod is what a token of an issuer about the user proves.
func (u *User) IdentityMethod(s OIDCSubject) *AuthenticationMethod {
	for _, p := range u.OAuthProviders {
		if p.Identity == s {
			return &AuthenticationMethod{Type: AuthOAuth, ID: p.ID}
		}
	}
	return nil
}

// Method is what a code of the type proves.
func (t OTPType) Method() *AuthenticationMethod {
	if t == OTPSMS {
		return &AuthenticationMethod{Type: AuthSMSOTP}
	}
	return &AuthenticationMethod{Type: AuthEmailOTP}
}

// SortMFAPolicies puts policies into the order in which they are asked.
func SortMFAPolicies(all []MFAPolicy) {
	slices.SortFunc(all, MFAPolicy.compare)
}

// compare orders policies as they are asked: ties go by id.
func (p MFAPolicy) compare(q MFAPolicy) int {
	return cmp.Or(cmp.Compare(p.Order, q.Order), strings.Compare(p.ID, q.ID))
}

// Same reports whether both policies demand the same, of the same activities, at
// the same place.
func (p MFAPolicy) Same(q MFAPolicy) bool {
	return p.ID == q.ID && p.Condition == q.Condition && p.Order == q.Order &&
		slices.EqualFunc(p.Steps, q.Steps, func(a, b MFAStep) bool { return slices.Equal(a.Any, b.Any) })
}

// WeakenedMFA lists the policies of a user that a change may weaken: those that it
// changes or removes, and those that a new or changed one comes before, for the
// first whose condition holds is the only one that counts.
func WeakenedMFA(before, after []MFAPolicy) (weakened []MFAPolicy) {
	var changed []MFAPolicy
	for _, q := range after {
		if !slices.ContainsFunc(before, q.Same) {
			changed = append(changed, q)
		}
	}
	for _, p := range before {
		gone := !slices.ContainsFunc(after, p.Same)
		shadowed := slices.ContainsFunc(changed, func(q MFAPolicy) bool { return q.compare(p) < 0 })
		if gone || shadowed {
			weakened = append(weakened, p)
		}
	}
	return weakened
}

// GainsAccess reports whether the user has a way to log in that they did not have
// before: a credential, a session or a contact.
func (u *User) GainsAccess(before *User) bool {
	id := func(k APIKey) string { return k.ID }
	return gained(u.APIKeys, before.APIKeys, id) ||
		gained(u.Authenticators, before.Authenticators, func(a Authenticator) string { return a.ID }) ||
		gained(u.OAuthProviders, before.OAuthProviders, func(p OAuthProvider) string { return p.ID }) ||
		u.Email != "" && u.Email != before.Email || u.PhoneNumber != "" && u.PhoneNumber != before.PhoneNumber
}

func gained[T any](after, before []T, id func(T) string) bool {
	return slices.ContainsFunc(after, func(a T) bool {
		return !slices.ContainsFunc(before, func(b T) bool { return id(a) == id(b) })
	})
}

// MFAPolicy finds one of the user's policies.
func (u *User) MFAPolicy(id string) (MFAPolicy, bool) {
	i := slices.IndexFunc(u.MFAPolicies, func(p MFAPolicy) bool { return p.ID == id })
	if i < 0 {
		return MFAPolicy{}, false
	}
	return u.MFAPolicies[i], true
}

// factorLifetime is how far apart the proofs for one policy may be.
const factorLifetime = 15 * time.Minute

// Factor is a proof that a user has given on an activity.
type Factor struct {
	AuthenticationMethod
	// Credential tells proofs apart: two stamps by one key are one factor.
	Credential string
	At         time.Time
}

// Counts reports whether the factor still counts beside one that is given now.
func (f Factor) Counts(now time.Time) bool { return now.Sub(f.At) < factorLifetime }

// Met reports whether the factors meet the policy, and which of them do. They must
// have been given within 15 minutes, and each counts for one step.
func (p *MFAPolicy) Met(factors []Factor) (with []AuthenticationMethod, met bool) {
	var most []AuthenticationMethod
	for i := len(factors) - 1; i >= 0; i-- { // the newest complete proof counts
		end := factors[i].At
		within := slices.DeleteFunc(slices.Clone(factors), func(f Factor) bool {
			return f.At.After(end) || end.Sub(f.At) >= factorLifetime
		})
		matched := p.match(within)
		if len(matched) == len(p.Steps) {
			return matched, true
		}
		if len(matched) > len(most) {
			most = matched
		}
	}
	return most, false
}

// match assigns factors to as many steps as possible, each to one (augmenting paths
// in a bipartite graph: policies are small).
func (p *MFAPolicy) match(factors []Factor) []AuthenticationMethod {
	stepOf := map[string]int{} // by credential
	byCredential := map[string]Factor{}
	for _, f := range factors {
		byCredential[f.Credential] = f
	}
	credentials := make([]string, 0, len(byCredential))
	for c := range byCredential {
		credentials = append(credentials, c)
	}
	slices.Sort(credentials)
	var assign func(step int, tried map[string]bool) bool
	assign = func(step int, tried map[string]bool) bool {
		for _, c := range credentials {
			accepted := slices.ContainsFunc(p.Steps[step].Any, func(m AuthenticationMethod) bool { return m.Accepts(byCredential[c].AuthenticationMethod) })
			if tried[c] || !accepted {
				continue
			}
			tried[c] = true
			if other, taken := stepOf[c]; !taken || assign(other, tried) {
				stepOf[c] = step
				return true
			}
		}
		return false
	}
	for step := range p.Steps {
		assign(step, map[string]bool{})
	}
	var matched []AuthenticationMethod
	for _, c := range credentials {
		if _, ok := stepOf[c]; ok {
			matched = append(matched, byCredential[c].AuthenticationMethod)
		}
	}
	return matched
}
