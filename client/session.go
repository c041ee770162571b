package client

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
)

// NewSessionStamper makes a stamper of the session that
// [Client.CreateReadOnlySession] returns. It authenticates queries, and no activity.
func NewSessionStamper(session string) Stamper { return sessionStamper{session} }

// sessionStamper hides the session when it is printed: the session alone is
// enough to read.
type sessionStamper struct{ session string }

// Stamp implements [Stamper].
func (s sessionStamper) Stamp([]byte) (header, value string, err error) {
	if s.session == "" {
		return "", "", errors.New("stamping: the session is empty")
	}
	return "X-Session", s.session, nil
}

// PublicKey implements [Stamper].
func (sessionStamper) PublicKey() string { return "" }

// Format prints [secret], whatever the verb.
func (sessionStamper) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue logs [secret].
func (sessionStamper) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText refuses.
func (sessionStamper) MarshalText() ([]byte, error) { return nil, errMarshal }
