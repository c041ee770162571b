package store

import (
	"context"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
)

// The outbox holds what has to be sent, of all organizations, in the order in
// which it was asked for. A message is written in the commit of the activity
// that asks for it, so that it exists if and only if the activity does. A sender
// takes it in a transaction of the outbox itself, whose version makes sure that
// no two senders take the same one.

// outboxOrg is the pseudo-organization that holds the messages. It is no UUID,
// so no request can name it.
const outboxOrg = "outbox"

var messages = Kind[domain.Message]{
	Name: "message", Label: "message", Unguarded: true,
	ID: func(m *domain.Message) string { return m.ID },
}

// Post puts a message into the outbox when the transaction commits.
func (tx *Tx) Post(m *domain.Message) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	tx.outside = append(tx.outside, Change{Org: outboxOrg, Kind: messages.Name, ID: m.ID, Body: body})
	if m.Recipient == "" {
		return nil
	}
	return tx.noteMail(m)
}

// Messages holds the messages that wait to be sent, in a transaction of
// [Store.Outbox].
func (tx *Tx) Messages() Table[domain.Message] { return In(tx, &messages) }

// Outbox runs fn on the messages that wait to be sent and on what happened to
// mails, and commits what it changed of them.
func (s *Store) Outbox(ctx context.Context, fn func(*Tx) error) error {
	return s.change(ctx, outboxOrg, fn)
}
