package outbox

import (
	"errors"

	"latchkey/internal/domain"
	"latchkey/internal/ids"
	"latchkey/internal/outbox/notify"
	"latchkey/internal/store"
)

// note records what happened to a mail, for the organization that asked for it.
func (x *exchange) note(tx *store.Tx, m *domain.Message, t domain.MailEventType, err error) error {
	if m.Recipient == "" {
		return nil // no mail
	}
	event := m.Event(t, x.now)
	event.ID, event.Reason = ids.New(), reason(t, err)
	return tx.MailEvents().Insert(event)
}

// reason is what an organization may know of an error. Its text is for the
// operator: it can name hosts, accounts and settings.
func reason(t domain.MailEventType, err error) string {
	switch {
	case err == nil:
		return ""
	case t == domain.MailDeliveryDelay:
		return "the mail server did not take the message; it is tried again until it expires"
	case errors.Is(err, notify.ErrExpired):
		return "the message expired before the mail server took it"
	case errors.Is(err, errTooOften):
		return "the mail server did not take the message, and it was tried too often"
	}
	return "the mail server refused the message for good"
}
