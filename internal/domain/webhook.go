package domain

import (
	"slices"
	"time"
)

// WebhookEndpoint is an address to which the organization has its events
// delivered. How far the deliveries are is not in it but in [WebhookProgress],
// which changes with each.
type WebhookEndpoint struct {
	ID            string                `json:"id"`
	URL           string                `json:"url"`
	Name          string                `json:"name"`
	Paused        bool                  `json:"paused,omitzero"`
	Subscriptions []WebhookSubscription `json:"subscriptions"`
	// CreatedBy is the activity right after which deliveries begin.
	CreatedBy string `json:"createdBy"`
	// Feature says that it is the one of FEATURE_NAME_WEBHOOK, whose id is that of
	// the organization.
	Feature   bool      `json:"feature,omitzero"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// WebhookEvent is a type of event, in the words of the interface.
type WebhookEvent string

// ActivityUpdates are the changes of an activity's status: the events that there
// are.
const ActivityUpdates WebhookEvent = "ACTIVITY_UPDATES"

// WebhookSubscription says which events an endpoint gets. Empty lists mean all.
type WebhookSubscription struct {
	EventType WebhookEvent `json:"eventType"`
	Filters   string       `json:"filters,omitzero"` // as it was given, JSON
	Types     []string     `json:"types,omitzero"`
	Statuses  []string     `json:"statuses,omitzero"`
	Inactive  bool         `json:"inactive,omitzero"`
}

// Wants reports whether an endpoint is to get the event that an activity of a type
// has got a status.
func (e *WebhookEndpoint) Wants(activityType, status string) bool {
	return slices.ContainsFunc(e.Subscriptions, func(s WebhookSubscription) bool {
		return !s.Inactive && s.EventType == ActivityUpdates &&
			(len(s.Types) == 0 || slices.Contains(s.Types, activityType)) &&
			(len(s.Statuses) == 0 || slices.Contains(s.Statuses, status))
	})
}

// WebhookProgress is how far the deliveries to an endpoint are. Only the server
// that holds the lease writes it.
type WebhookProgress struct {
	OrganizationID string `json:"organizationId"`
	EndpointID     string `json:"endpointId"`
	// Place is where deliveries go on, if they have Begun; else they begin right
	// after the activity that made the endpoint.
	Place LogPlace `json:"place,omitzero"`
	Begun bool     `json:"begun,omitzero"`
	// Of what comes before ReplayUntil, which was delivered before, only what
	// happened since ReplaySince is wanted.
	ReplaySince time.Time `json:"replaySince,omitzero"`
	ReplayUntil LogPlace  `json:"replayUntil,omitzero"`

	Delivered    time.Time `json:"delivered,omitzero"` // the last one that was taken
	Attempts     int       `json:"attempts,omitzero"`  // that failed since
	FailingSince time.Time `json:"failingSince,omitzero"`
	NextAttempt  time.Time `json:"nextAttempt,omitzero"`
	LastError    string    `json:"lastError,omitzero"`
	SwitchedOff  string    `json:"switchedOff,omitzero"` // why; empty: it is not
}

// WebhookNotice tells the server that delivers what became of an endpoint.
type WebhookNotice struct {
	ID             string `json:"id"`
	OrganizationID string `json:"organizationId"`
	EndpointID     string `json:"endpointId"`
	// Resume forgets why deliveries failed so far: the endpoint was changed.
	Resume bool `json:"resume,omitzero"`
	// Replay asks for what was delivered already: what comes after a cursor, or what
	// happened since a time.
	Replay bool      `json:"replay,omitzero"`
	After  string    `json:"after,omitzero"`
	Since  time.Time `json:"since,omitzero"`
}

// WebhookLease says which server delivers. Each holder has another term.
type WebhookLease struct {
	Holder string    `json:"holder"`
	Term   int64     `json:"term"`
	Until  time.Time `json:"until"`
}
