package outbox

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/outbox/notify"
	"latchkey/internal/store"
)

// TestMailEvents notes what happened to each mail, and not what servers said.
func TestMailEvents(t *testing.T) {
	refused := errors.New("550 no such user at mx.internal.example.com")
	for _, tt := range []struct {
		name string
		errs []error
		want []domain.MailEventType
		last string
	}{
		{"sent", []error{nil}, []domain.MailEventType{domain.MailDelivery}, ""},
		{"delayed", []error{refused, refused, nil}, []domain.MailEventType{domain.MailDeliveryDelay, domain.MailDelivery}, ""},
		{"refused", []error{&notify.Permanent{Err: refused}}, []domain.MailEventType{domain.MailBounce}, "refused the message for good"},
		{"expired", []error{refused}, []domain.MailEventType{domain.MailDeliveryDelay, domain.MailBounce}, "expired"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := newQueue(t)
			m := q.message(func(m *domain.Message) {
				m.Recipient, m.From = domain.MailRecipient("ada@example.com"), "from@example.com"
			})
			q.insert(m, q.message(nil)) // the other is no mail
			o := New(Config{Store: q.store, Lease: time.Minute})
			for i, err := range tt.errs {
				leased := *m
				leased.Attempts = i + 1
				noted := exchange{Outbox: o, now: q.now()}
				if e := q.store.Outbox(t.Context(), func(tx *store.Tx) error {
					if e := put(tx.Messages(), &leased); e != nil {
						return e
					}
					return noted.record(tx, result{Message: &leased, err: err})
				}); e != nil {
					t.Fatal(e)
				}
			}
			if tt.last == "expired" {
				late := exchange{Outbox: o, now: m.ExpiresAt}
				if err := q.store.Outbox(t.Context(), late.run); err != nil {
					t.Fatal(err)
				}
			}
			var got []domain.MailEventType
			var last *domain.MailEvent
			err := q.store.Outbox(t.Context(), func(tx *store.Tx) error {
				events, err := tx.MailEvents().List("", 0)
				for _, e := range events {
					got, last = append(got, e.Type), e
				}
				return err
			})
			if err != nil || !slices.Equal(got, tt.want) {
				t.Fatalf("events: %v, %v; want %v", got, err, tt.want)
			}
			if last.MessageID != m.ID || last.From != "from@example.com" || !strings.Contains(last.Reason, tt.last) || strings.Contains(last.Reason, "mx.internal") {
				t.Errorf("last event: %+v", last)
			}
		})
	}
}
