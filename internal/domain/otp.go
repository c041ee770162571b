package domain

import "time"

// OTP is a one-time code that was sent to a user. The code itself is kept
// only as a keyed hash.
type OTP struct {
	ID      string  `json:"id"`
	Type    OTPType `json:"type"`
	Contact string  `json:"contact"`
	// UserIdentifier is what the caller limits the rate by, if set.
	UserIdentifier string `json:"userIdentifier,omitzero"`
	MAC            []byte `json:"mac"`
	// Auth says that the code logs in by itself (otp_auth), and does not
	// verify a contact; the two kinds are not mixed.
	Auth bool `json:"auth,omitzero"`
	// Sealed says that the code must come sealed to the code's import target.
	Sealed    bool      `json:"sealed,omitzero"`
	Attempts  int       `json:"attempts,omitzero"` // that failed
	CreatedAt time.Time `json:"createdAt"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// OTPType says how a code is sent.
type OTPType string

// The types of codes.
const (
	OTPEmail OTPType = "OTP_TYPE_EMAIL"
	OTPSMS   OTPType = "OTP_TYPE_SMS"
)

// Enum lists the types for the schema.
func (OTPType) Enum() []string { return []string{string(OTPEmail), string(OTPSMS)} }

// Feature is the switch for logins by this kind of code.
func (t OTPType) Feature() FeatureName {
	if t == OTPSMS {
		return FeatureSMSAuth
	}
	return FeatureOTPEmailAuth
}

// OTPAttempts is how often a code may be guessed.
const OTPAttempts = 3

// Active reports whether the code can still be used.
func (o *OTP) Active(now time.Time) bool {
	return o.Attempts < OTPAttempts && now.Before(o.ExpiresAt)
}

// Keys are what the rate of codes is limited by.
func (o *OTP) Keys() []string {
	keys := []string{OTPContact(o.Type, o.Contact)}
	if o.UserIdentifier != "" {
		keys = append(keys, OTPUser(o.UserIdentifier))
	}
	return keys
}

// OTPContact is the key of the codes that were sent to one contact.
func OTPContact(t OTPType, contact string) string {
	if t == OTPEmail {
		contact = NormalEmail(contact)
	}
	return "contact " + string(t) + " " + contact
}

// OTPUser is the key of the codes that were sent for one user identifier.
func OTPUser(identifier string) string { return "user " + identifier }

// WrongCodes counts the wrong codes that were sent back for a contact, over a
// day. Codes, and the tries that each allows, are limited by themselves; this
// bounds what trying for a long time can reach.
type WrongCodes struct {
	Contact string    `json:"contact"` // as [OTPContact] writes it
	Count   int       `json:"count"`
	Since   time.Time `json:"since"`
	Last    time.Time `json:"last"`
}

const (
	wrongCodesFor  = 24 * time.Hour
	wrongCodesFree = 15 // as many as five codes allow
	wrongCodesWait = time.Hour
)

// Add counts a wrong code.
func (w *WrongCodes) Add(now time.Time) {
	if w.Expired(now) {
		w.Count, w.Since = 0, now
	}
	w.Count, w.Last = w.Count+1, now
}

// Expired reports whether the day is over.
func (w *WrongCodes) Expired(now time.Time) bool { return now.Sub(w.Since) >= wrongCodesFor }

// NextCode is when the next code may be sent to the contact: after some wrong
// codes a minute after the last, and for as many as a code allows twice as long,
// up to an hour.
func (w *WrongCodes) NextCode(now time.Time) time.Time {
	if w.Expired(now) || w.Count < wrongCodesFree {
		return now
	}
	doubled := min((w.Count-wrongCodesFree)/OTPAttempts, 6)
	return w.Last.Add(min(time.Minute<<doubled, wrongCodesWait))
}
