package notify

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Kind says what a message is for. It chooses the templates.
type Kind string

// The kinds. All but the last go by mail.
const (
	OTPEmail      Kind = "otp_email"      // a one-time code
	EmailAuth     Kind = "email_auth"     // a bundle with a login key
	EmailRecovery Kind = "email_recovery" // a bundle with a recovery key
	Invitation    Kind = "invitation"     // a bundle with the key of a new user
	OTPSMS        Kind = "otp_sms"        // a one-time code
)

// IsMail reports whether messages of the kind go by mail.
func (k Kind) IsMail() bool {
	return k == OTPEmail || k == EmailAuth || k == EmailRecovery || k == Invitation
}

func (k Kind) isOTP() bool { return k == OTPEmail || k == OTPSMS }

// Message is what an outbox stores, as JSON. It is rendered when it is sent.
// Its JSON holds the secret; everything else that prints it does not.
type Message struct {
	// ID names the message for good: letters, digits and -._ only.
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	// To is an email address, or a phone number as + and digits.
	To string `json:"to"`

	OrganizationID string `json:"organizationId,omitempty"`
	UserID         string `json:"userId,omitempty"`

	// Code is the secret of the otp kinds, Bundle of the others.
	Code   string `json:"code,omitempty"`
	Bundle string `json:"bundle,omitempty"`

	// CreatedAt is the date that a mail shows, however late it is sent.
	CreatedAt time.Time `json:"createdAt"`
	// ExpiresAt is when the secret ends. Zero: the message does not speak of it.
	ExpiresAt time.Time `json:"expiresAt,omitzero"`

	// What the request asked for; each may be empty. See the Check functions.
	AppName           string `json:"appName,omitempty"`
	LogoURL           string `json:"logoUrl,omitempty"`
	MagicLinkTemplate string `json:"magicLinkTemplate,omitempty"`
	TemplateVariables string `json:"templateVariables,omitempty"` // a JSON object
	SMSTemplate       string `json:"smsTemplate,omitempty"`
	FromAddress       string `json:"fromAddress,omitempty"`
	FromName          string `json:"fromName,omitempty"`
	ReplyTo           string `json:"replyTo,omitempty"`
}

// Format prints neither the secret nor the recipient, whatever the verb.
func (m Message) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "message %q of kind %q", m.ID, string(m.Kind))
}

// LogValue is Format for [slog].
func (m Message) LogValue() slog.Value {
	return slog.GroupValue(slog.String("id", m.ID), slog.String("kind", string(m.Kind)))
}

// Bounds of a message's parts. A header line has at most 998 bytes (RFC 5322,
// section 2.1.1), and each of these must fit into one.
const (
	maxID     = 100
	maxName   = 256
	maxSecret = 900
)

// Check says whether the message can be rendered and addressed. What it
// returns is a [*Permanent], and safe to show to the client that asked for the
// message.
func (m *Message) Check() error {
	if err := m.check(); err != nil {
		return &Permanent{Err: err}
	}
	return nil
}

func (m *Message) check() error {
	if !validID(m.ID) {
		return fmt.Errorf("the message id must be 1 to %d letters, digits or -._ and begin with a letter or digit", maxID)
	}
	if m.CreatedAt.IsZero() {
		return errors.New("the message has no creation time")
	}
	if err := m.checkSecret(); err != nil {
		return err
	}
	for _, name := range []struct{ what, text string }{{"the app name", m.AppName}, {"the sender name", m.FromName}} {
		if err := checkName(name.what, name.text); err != nil {
			return err
		}
	}
	for _, a := range []struct{ what, text string }{
		{"the sender address", m.FromAddress},
		{"the reply-to address", m.ReplyTo},
	} {
		if a.text == "" {
			continue
		}
		if err := checkAddress(a.text); err != nil {
			return fmt.Errorf("%s %w", a.what, err)
		}
	}
	for _, c := range []struct {
		text  string
		check func(string) error
	}{
		{m.LogoURL, CheckLogoURL},
		{m.MagicLinkTemplate, CheckMagicLinkTemplate},
		{m.TemplateVariables, CheckTemplateVariables},
		{m.SMSTemplate, CheckSMSTemplate},
	} {
		if c.text == "" {
			continue
		}
		if err := c.check(c.text); err != nil {
			return err
		}
	}
	return nil
}

// checkSecret checks the recipient too: both follow from the kind.
func (m *Message) checkSecret() error {
	switch {
	case !m.Kind.IsMail() && m.Kind != OTPSMS:
		return errors.New("the kind of the message is unknown")
	case m.Kind.isOTP() && (!validSecret(m.Code) || m.Bundle != ""):
		return errors.New("a one-time code message must have a code of letters and digits, and no bundle")
	case !m.Kind.isOTP() && (!validSecret(m.Bundle) || m.Code != ""):
		return errors.New("this message must have a bundle of letters and digits, and no code")
	case m.Kind == OTPSMS:
		return checkPhone(m.To)
	}
	if err := checkAddress(m.To); err != nil {
		return fmt.Errorf("the recipient %w", err)
	}
	return nil
}

// secret is the one text of the message that only its recipient may read.
func (m *Message) secret() string {
	if m.Kind.isOTP() {
		return m.Code
	}
	return m.Bundle
}

func validID(s string) bool {
	return s != "" && len(s) <= maxID && alphanumeric(rune(s[0])) && !strings.ContainsFunc(s, func(r rune) bool {
		return !alphanumeric(r) && !strings.ContainsRune("-._", r)
	})
}

// validSecret allows the characters that mean themselves in every part of a
// URL (RFC 3986, section 2.3), so that a link holds the secret as it is.
func validSecret(s string) bool {
	return s != "" && len(s) <= maxSecret && !strings.ContainsFunc(s, func(r rune) bool {
		return !alphanumeric(r) && !strings.ContainsRune("-._~", r)
	})
}

func alphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

func checkName(what, s string) error {
	switch {
	case !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl):
		return errors.New(what + " must be UTF-8 without control characters")
	case utf8.RuneCountInString(s) > maxName:
		return fmt.Errorf("%s must have at most %d characters", what, maxName)
	}
	return nil
}

// Secret is a setting that must not be printed. string(s) is its value.
type Secret string

const redacted = "[secret]"

// Format prints nothing of the secret, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue is Format for [slog].
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText keeps the secret out of JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
