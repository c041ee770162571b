package ops

import (
	"crypto/rand"
	"crypto/subtle"
	"math/big"
	"strings"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/keys/vault"
	"latchkey/internal/outbox/notify"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
	"latchkey/internal/store"
)

// This file holds what the operations on one-time codes have in common.

// Limits of codes, low enough to make guessing hopeless: three tries at one of
// a million, for at most three codes at a time.
const (
	otpSeconds = 300             // that a code lasts
	otpActive  = 3               // codes at a time, for each contact
	otpWindow  = 3 * time.Minute // in which at most otpActive codes are sent for each user identifier
)

// alphabets of codes: Crockford's, which has no letters that look like digits.
const (
	digits       = "0123456789"
	alphanumeric = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
)

// CodeParams says what a code is like and where it goes.
type CodeParams struct {
	Recipient
	OTPLength         int32         `json:"otpLength,omitzero" check:"min=6,max=9" doc:"Length of the code; 9 when absent."`
	Alphanumeric      *bool         `json:"alphanumeric,omitzero" doc:"Whether the code has letters; true when absent."`
	ExpirationSeconds schema.Uint64 `json:"expirationSeconds,omitzero" check:"min=1,max=600" doc:"How long the code lasts; 300 when absent."`
}

// Recipient says where a code goes.
type Recipient struct {
	OTPType          domain.OTPType    `json:"otpType" check:"required" doc:"How the code is sent."`
	Contact          string            `json:"contact" check:"required,max=320" doc:"E-mail address or phone number (E.164)." example:"user@example.com"`
	UserIdentifier   string            `json:"userIdentifier,omitzero" check:"max=1024" doc:"What the number of codes is limited by, beside the contact: for example a hash of the user's address."`
	SMSCustomization *SMSCustomization `json:"smsCustomization,omitzero" doc:"What a short message says."`
	Sender
}

// length of the code in characters.
func (p *CodeParams) length() int {
	if p.OTPLength == 0 {
		return 9
	}
	return int(p.OTPLength)
}

// checkContact refuses an invalid contact, at its place in the request.
func (p *Recipient) checkContact(problems *schema.Problems) {
	rule := schema.EmailProblem
	if p.OTPType == domain.OTPSMS {
		rule = schema.PhoneProblem
	}
	if problem := rule(p.Contact); problem != "" {
		problems.Add("contact", "%s", problem)
	}
}

// sendCode makes a code and puts it into the outbox. With sealed, it must come
// back encrypted to the key that is returned.
func sendCode(e activity.Env, p *CodeParams, appName string, c EmailLook, auth, sealed bool) (otp *domain.OTP, target []byte, err error) {
	kind := notify.OTPEmail
	if p.OTPType == domain.OTPSMS {
		kind = notify.OTPSMS
	}
	if err := requireSending(e, kind); err != nil {
		return nil, nil, err
	}
	if err := limitCodes(e, p); err != nil {
		return nil, nil, err
	}
	if err := slowDown(e, p); err != nil {
		return nil, nil, err
	}
	contact, err := contactOnRecord(e, p)
	if err != nil {
		return nil, nil, err
	}
	code, err := newCode(p)
	if err != nil {
		return nil, nil, err
	}
	seconds := p.ExpirationSeconds
	if seconds == 0 {
		seconds = otpSeconds
	}
	otp = &domain.OTP{
		ID: e.NewID(), Type: p.OTPType, Contact: contact, UserIdentifier: p.UserIdentifier,
		Auth: auth, Sealed: sealed, CreatedAt: e.Now, ExpiresAt: e.Now.Add(time.Duration(seconds) * time.Second),
	}
	if otp.MAC, err = codeMAC(e, otp.ID, code); err != nil {
		return nil, nil, err
	}
	if sealed {
		if target, err = e.Vault.NewMessageTarget(otp.ID); err != nil {
			return nil, nil, err
		}
	}
	if err := e.Tx.OTPs().Insert(otp); err != nil {
		return nil, nil, err
	}
	m := notify.Message{Kind: kind, To: contact, Code: code, AppName: appName, ExpiresAt: otp.ExpiresAt}
	if c := p.SMSCustomization; c != nil && !kind.IsMail() {
		m.SMSTemplate = c.Template
	}
	return otp, target, post(e, m, p.Sender, c)
}

// contactOnRecord is where a code goes: if the contact stands for a user of the
// organization, to what is on record, and not to what was asked for, which may
// be written in another way.
func contactOnRecord(e activity.Env, p *CodeParams) (string, error) {
	users, err := e.Tx.Users().List("", 0)
	if err != nil {
		return "", err
	}
	if user, _ := domain.FindByContact(users, p.OTPType, p.Contact); user != nil {
		return user.Contact(p.OTPType), nil
	}
	return p.Contact, nil
}

// limitCodes refuses a code too many, and deletes those that no longer count.
func limitCodes(e activity.Env, p *CodeParams) error {
	keys := []string{domain.OTPContact(p.OTPType, p.Contact)}
	if p.UserIdentifier != "" {
		keys = append(keys, domain.OTPUser(p.UserIdentifier))
	}
	for _, key := range keys {
		codes, err := e.Tx.OTPs().ListBy(store.ByContact, key, "", 0)
		if err != nil {
			return err
		}
		active, recent := 0, 0
		for _, code := range codes {
			fresh := e.Now.Sub(code.CreatedAt) < otpWindow
			if fresh {
				recent++
			}
			if code.Active(e.Now) {
				active++
			} else if !fresh {
				if err := dropCode(e.Tx, code); err != nil {
					return err
				}
			}
		}
		if active >= otpActive || recent >= otpActive {
			return fault.New(fault.ResourceExhausted, fault.ReasonTooManyOTPs,
				"Max number of OTPs have been initiated: at most %d at a time; wait until one of them has expired", otpActive)
		}
	}
	return nil
}

// slowDown refuses a code for a contact for which many wrong ones came back, for
// a while.
func slowDown(e activity.Env, p *CodeParams) error {
	wrong, err := e.Tx.WrongCodes().Lookup(domain.OTPContact(p.OTPType, p.Contact))
	if err != nil || wrong == nil {
		return err
	}
	if next := wrong.NextCode(e.Now); e.Now.Before(next) {
		return fault.New(fault.ResourceExhausted, fault.ReasonTooManyOTPs,
			"Max number of OTPs have been initiated: too many wrong codes came back for this contact within a day; the next can be sent at %s",
			next.UTC().Format(time.RFC3339))
	}
	return nil
}

// countWrong counts a wrong code, for the code and for its contact.
func countWrong(tx *store.Tx, otp *domain.OTP, now time.Time) error {
	if err := tx.OTPs().Edit(otp.ID, func(o *domain.OTP) error { o.Attempts++; return nil }); err != nil {
		return err
	}
	contact := domain.OTPContact(otp.Type, otp.Contact)
	counted, err := tx.WrongCodes().Lookup(contact)
	if err != nil {
		return err
	}
	if counted == nil {
		return tx.WrongCodes().Insert(&domain.WrongCodes{Contact: contact, Count: 1, Since: now, Last: now})
	}
	return tx.WrongCodes().Edit(contact, func(w *domain.WrongCodes) error { w.Add(now); return nil })
}

func dropCode(tx *store.Tx, o *domain.OTP) error {
	if o.Sealed {
		if err := vault.DropMessageTarget(tx.Ciphertexts(), o.ID); err != nil {
			return err
		}
	}
	return tx.OTPs().Delete(o.ID)
}

func newCode(p *CodeParams) (string, error) {
	alphabet := alphanumeric
	if p.Alphanumeric != nil && !*p.Alphanumeric {
		alphabet = digits
	}
	code := make([]byte, p.length())
	for i := range code {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet))))
		if err != nil {
			return "", err
		}
		code[i] = alphabet[n.Int64()]
	}
	return string(code), nil
}

// codeMAC is what is stored of a code. Letters that Crockford's alphabet leaves
// out are read as the digits that they look like.
func codeMAC(e activity.Env, id, code string) ([]byte, error) {
	code = strings.NewReplacer("O", "0", "I", "1", "L", "1").Replace(strings.ToUpper(code))
	return e.ServerKeys.MAC("otp", []byte(id+" "+code))
}

// withCode accepts a code that was sent, once, and does what it is for. If that
// is refused, the code is used up all the same: it is part of the recorded
// request by then.
func withCode[R any](
	e activity.Env, id string, auth, sealed bool, read func(*domain.OTP) (code string, err error), then func(*domain.OTP) (R, error),
) (result R, err error) {
	otp, err := useCode(e, id, auth, sealed, read)
	if err != nil {
		return result, err
	}
	result, err = then(otp)
	if refusal, ok := fault.As(err); ok {
		err = &activity.RefusalWithWrites{Refusal: refusal, Keep: func(tx *store.Tx) error { return dropCode(tx, otp) }}
	}
	return result, err
}

// useCode accepts a code that was sent, once. Wrong ones are counted; after a
// few, the right one is refused too.
func useCode(e activity.Env, id string, auth, sealed bool, read func(*domain.OTP) (code string, err error)) (*domain.OTP, error) {
	otp, err := e.Tx.OTPs().Lookup(id)
	if err != nil {
		return nil, err
	}
	if otp == nil || otp.Auth != auth {
		return nil, fault.Invalid("Invalid OTP code: there is no code with this otpId, or it was used already; ask for a new one")
	}
	if otp.Sealed != sealed {
		return nil, fault.Invalid("Invalid OTP code: the versions of one attempt must not be mixed: a code of init_otp V3 is verified by verify_otp V2, older ones by V1")
	}
	if !e.Now.Before(otp.ExpiresAt) {
		return nil, fault.Invalid("Invalid OTP code: it expired at %s; ask for a new one", otp.ExpiresAt.UTC().Format(time.RFC3339))
	}
	if otp.Attempts >= domain.OTPAttempts {
		return nil, fault.Invalid("Invalid OTP code: it was guessed wrong too often; ask for a new one")
	}
	code, err := read(otp)
	if err != nil {
		return nil, err
	}
	mac, err := codeMAC(e, otp.ID, code)
	if err != nil {
		return nil, err
	}
	if subtle.ConstantTimeCompare(mac, otp.MAC) != 1 {
		left := domain.OTPAttempts - otp.Attempts - 1
		return nil, &activity.RefusalWithWrites{
			Refusal: fault.Invalid("Invalid OTP code: it is not the one that was sent; tries left: %d", left),
			Keep:    func(tx *store.Tx) error { return countWrong(tx, otp, e.Now) },
		}
	}
	return otp, dropCode(e.Tx, otp)
}
