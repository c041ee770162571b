package notify

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Router sends each message by the [Sender] of its kind, and none that has
// expired.
type Router struct {
	Mail Sender // nil: no mail
	SMS  Sender // nil: no SMS
	Now  func() time.Time
}

// ErrExpired is the reason of a [*Permanent]: the message is of no use any more.
var ErrExpired = errors.New("the message has expired")

// sender returns the [Sender] of a kind, or an [ErrDisabled].
func (r *Router) sender(k Kind) (Sender, error) {
	switch {
	case k.IsMail() && r.Mail != nil:
		return r.Mail, nil
	case k.IsMail():
		return nil, fmt.Errorf("mail: %w", ErrDisabled)
	case k == OTPSMS && r.SMS != nil:
		return r.SMS, nil
	case k == OTPSMS:
		return nil, fmt.Errorf("sms: %w", ErrDisabled)
	}
	return nil, permanent("the kind of the message is unknown")
}

// Enabled reports whether messages of a kind can be sent at all.
func (r *Router) Enabled(k Kind) bool {
	_, err := r.sender(k)
	return err == nil
}

// Check says, before a message is stored, what would keep it from being sent:
// an [ErrDisabled], or a [*Permanent] that the client which asked for it may
// read.
func (r *Router) Check(m *Message) error {
	way, err := r.sender(m.Kind)
	if err != nil {
		return err
	}
	if err := m.Check(); err != nil {
		return err
	}
	if limits, ok := way.(interface{ CheckFrom(address string) error }); ok && m.FromAddress != "" {
		if err := limits.CheckFrom(m.FromAddress); err != nil {
			return &Permanent{Err: err}
		}
	}
	return nil
}

// From is the address that a mail would come from; empty: it is no mail, or none
// can be sent.
func (r *Router) From(m *Message) string {
	switch way, ok := r.Mail.(interface{ DefaultFrom() string }); {
	case !m.Kind.IsMail():
		return ""
	case m.FromAddress != "" || !ok:
		return m.FromAddress
	default:
		return way.DefaultFrom()
	}
}

// Send sends the message.
func (r *Router) Send(ctx context.Context, m *Message) error {
	way, err := r.sender(m.Kind)
	if err != nil {
		return err
	}
	if !m.ExpiresAt.IsZero() && !r.Now().Before(m.ExpiresAt) {
		return &Permanent{Err: ErrExpired}
	}
	return way.Send(ctx, m)
}
