package ops

import (
	"context"
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
	"latchkey/internal/schema"
)

// ListEmailEvents says what happened to the mails that were sent to an address.
var ListEmailEvents = activity.Query[ListEmailEventsParams, ListEmailEventsReply]{
	Name:    "list_email_events",
	Summary: "Read what happened in the last week to mails that the organization sent to an address.",
	Read:    listEmailEvents,
}

// ListEmailEventsParams are the parameters of list_email_events.
type ListEmailEventsParams struct {
	OrganizationID    string         `json:"organizationId" check:"required" doc:"Organization to read."`
	Email             string         `json:"email" check:"required,email" doc:"Recipient of the mails."`
	EventType         EmailEventType `json:"eventType,omitzero" doc:"Return events of this type only."`
	PaginationOptions Pagination     `json:"paginationOptions,omitzero" doc:"Which page."`
}

// EmailEventType says what happened to a mail.
type EmailEventType string

// Enum lists the types for the schema.
func (EmailEventType) Enum() []string {
	return []string{string(domain.MailSend), string(domain.MailDelivery), string(domain.MailDeliveryDelay), string(domain.MailBounce)}
}

// ListEmailEventsReply is the reply of list_email_events.
type ListEmailEventsReply struct {
	EmailEvents []EmailEvent `json:"emailEvents" check:"required" doc:"Events, the newest first."`
}

// EmailEvent is something that happened to a mail.
type EmailEvent struct {
	ID             string            `json:"id" check:"required,uuid" doc:"Id of the event."`
	OrganizationID string            `json:"organizationId" check:"required,uuid" doc:"Organization that the mail was sent for."`
	MessageID      string            `json:"messageId" check:"required,uuid" doc:"Id of the mail; several events may share it."`
	EventType      EmailEventType    `json:"eventType" check:"required" doc:"Send: it waits to be sent. Delivery: the operator's mail server took it. DeliveryDelay: the first attempt failed. Bounce: it was given up."`
	FromAddress    string            `json:"fromAddress" check:"required,allowempty" doc:"Address that the mail is from."`
	ToAddress      string            `json:"toAddress" check:"required" doc:"Address that the mail is for."`
	Timestamp      schema.Uint64     `json:"timestamp" check:"required" doc:"When it happened, in milliseconds since the Unix epoch."`
	CreatedAt      schema.Uint64     `json:"createdAt" check:"required" doc:"When it was recorded, in milliseconds since the Unix epoch."`
	Details        EmailEventDetails `json:"details" check:"required" doc:"More about it."`
}

// EmailEventDetails say more about an event.
type EmailEventDetails struct {
	DiagnosticCode string `json:"diagnosticCode,omitzero" doc:"Why the mail was not sent. What the mail server answered is in the operator's log."`
}

func listEmailEvents(_ context.Context, r activity.Reader, p *ListEmailEventsParams) (ListEmailEventsReply, error) {
	events, err := mailEventPage(r, p)
	return ListEmailEventsReply{EmailEvents: record.Each(events, func(e *domain.MailEvent) EmailEvent {
		at := schema.Uint64(e.At.UnixMilli())
		return EmailEvent{
			ID: e.ID, OrganizationID: e.OrganizationID, MessageID: e.MessageID, EventType: EmailEventType(e.Type),
			FromAddress: e.From, ToAddress: p.Email, Timestamp: at, CreatedAt: at,
			Details: EmailEventDetails{DiagnosticCode: e.Reason},
		}
	})}, err
}

// mailEventPage reads day by day, the newest first, until the page is full. A
// page that stands before an event is the end of all that stand before it.
func mailEventPage(r activity.Reader, p *ListEmailEventsParams) ([]*domain.MailEvent, error) {
	page, recipient := p.PaginationOptions, domain.MailRecipient(p.Email)
	var found []*domain.MailEvent
	for ago := range domain.MailEventDays {
		events, err := r.Tx.MailEventsOn(domain.MailDay(r.Now.AddDate(0, 0, -ago)), recipient)
		if err != nil {
			return nil, err
		}
		slices.Reverse(events)
		for _, e := range events {
			if page.Before != "" && e.ID <= page.Before || page.After != "" && e.ID >= page.After {
				continue
			}
			if p.EventType == "" || p.EventType == EmailEventType(e.Type) {
				found = append(found, e)
			}
		}
		if page.Before == "" && len(found) >= page.size() {
			return found[:page.size()], nil
		}
	}
	if page.Before != "" && page.After == "" {
		found = found[max(0, len(found)-page.size()):]
	}
	return found[:min(len(found), page.size())], nil
}
