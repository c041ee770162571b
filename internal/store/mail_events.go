package store

import (
	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
)

// What happened to mails is kept beside the outbox, by day, organization and
// recipient: the first is written in the commit of the activity that asks for the
// mail, the others in the transaction of the outbox that they are about. Days
// that are over are deleted from the front.

var mailEvents = Kind[domain.MailEvent]{
	Name: "mail-event", Label: "mail event", Unguarded: true,
	ID: func(e *domain.MailEvent) string { return mailEventsOf(e.Day(), e.OrganizationID, e.Recipient) + e.ID },
}

// mailEventsOf is what the ids of a day's events of one recipient begin with.
func mailEventsOf(day, org, recipient string) string {
	return day + separator + org + separator + recipient + separator
}

// MailEvents holds what happened to mails, in a transaction of [Store.Outbox].
func (tx *Tx) MailEvents() Table[domain.MailEvent] { return In(tx, &mailEvents) }

// noteMail records that a mail was put into the outbox when the transaction
// commits.
func (tx *Tx) noteMail(m *domain.Message) error {
	e := m.Event(domain.MailSend, m.CreatedAt)
	e.ID = m.ID
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	tx.outside = append(tx.outside, Change{Org: outboxOrg, Kind: mailEvents.Name, ID: mailEvents.ID(e), Body: body})
	return nil
}

// MailEventsOn lists what happened on a day to the mails that the organization
// sent to a recipient, in the order of events.
func (tx *Tx) MailEventsOn(day, recipient string) ([]*domain.MailEvent, error) {
	prefix := mailEventsOf(day, tx.org, recipient)
	rows, err := tx.store.rowsOf(outboxOrg)
	if err != nil {
		return nil, err
	}
	items, err := rows.scan(tx.ctx, mailEvents.Name, Range{From: prefix, To: prefix + "\x7f"})
	if err != nil {
		return nil, err
	}
	events := make([]*domain.MailEvent, 0, len(items))
	for _, item := range items {
		if item.Body == nil {
			continue // not ours
		}
		event := new(domain.MailEvent)
		if err := json.Unmarshal(item.Body, event); err != nil {
			return nil, damaged(outboxOrg, mailEvents.Name, item.ID, err)
		}
		events = append(events, event)
	}
	return events, nil
}

// DropMailEvents deletes, in a transaction of [Store.Outbox], the events of the
// days before one: no more than fit into one commit. More says that there may be
// others.
func (tx *Tx) DropMailEvents(before string) (dropped int, more bool, err error) {
	const page = 1000
	events, err := tx.MailEvents().List("", page)
	if err != nil {
		return 0, false, err
	}
	for _, e := range events { // the oldest days come first
		if e.Day() >= before {
			return dropped, false, nil
		}
		if err := tx.MailEvents().Delete(mailEvents.ID(e)); err != nil {
			return 0, false, err
		}
		dropped++
	}
	return dropped, len(events) == page, nil
}
