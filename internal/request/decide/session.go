package decide

import (
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
)

// Added says how long the credentials last that an activity adds: the
// longest-lived of them counts. The zero value adds none.
type Added struct {
	Forever bool
	Seconds uint64
}

// outlives reports whether what is added outlives a key. A recovery key is no
// session: it serves for a lasting credential, and for nothing else.
func (a Added) outlives(k domain.APIKey, now time.Time) bool {
	if !k.Expires() || k.Type == domain.CredentialRecovery {
		return false
	}
	return a.Forever || a.Seconds > k.SecondsLeft(now)
}

// outlives reports whether the activity adds what would outlive the session that
// the user signs with, where that is forbidden. It is not left to policies: they
// do not bind the root quorum, and users of a sub-organization are often that
// quorum.
func (in *Input) outlives(u *domain.User, credentialID string) (bool, error) {
	for _, k := range u.APIKeys {
		if k.ID == credentialID && in.Adds.outlives(k, in.Now) {
			return in.SessionsLocked()
		}
	}
	return false, nil
}

// CheckApproval refuses the approval of a user by a credential that does not
// suffice for what the activity adds.
func (in *Input) CheckApproval(u *domain.User, credentialID string) error {
	outlived, err := in.outlives(u, credentialID)
	if err == nil && outlived {
		err = outlivesSession()
	}
	return err
}

func outlivesSession() *fault.Error {
	return fault.New(fault.PermissionDenied, fault.ReasonForbidden,
		"request not authorized: it would add or keep access beyond the end of the session that signed it, which the organization "+
			"or its parent forbids (%s); sign it with a passkey or with an API key that does not expire, "+
			"or ask for a key that expires no later than the session", domain.FeatureSessionsAddNoCredentials)
}
