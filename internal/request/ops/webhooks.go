package ops

import (
	"cmp"
	"slices"
	"strconv"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
	"latchkey/internal/schema"
	"latchkey/internal/suggest"
	"latchkey/internal/webhook/target"
)

// This file holds what the operations on webhook endpoints have in common.

// WebhookEndpoint is an endpoint as clients read it.
type WebhookEndpoint struct {
	EndpointID     string                `json:"endpointId" check:"required,uuid" doc:"Id of the endpoint."`
	OrganizationID string                `json:"organizationId" check:"required,uuid" doc:"Organization that it belongs to."`
	URL            string                `json:"url" check:"required" doc:"Address to which events are posted."`
	Name           string                `json:"name" check:"required" doc:"Human-readable name."`
	IsActive       bool                  `json:"isActive" check:"required" doc:"Whether events are delivered; false while it is paused or switched off."`
	Subscriptions  []WebhookSubscription `json:"subscriptions" check:"required" doc:"Events that it gets."`
}

// WebhookSubscription says which events an endpoint gets.
type WebhookSubscription struct {
	EventType   string `json:"eventType" check:"required" doc:"Type of the events: ACTIVITY_UPDATES, each change of an activity's status." example:"ACTIVITY_UPDATES"`
	FiltersJSON string `json:"filtersJson,omitzero" check:"max=20000" doc:"JSON object that narrows the events: types and statuses, a list of activity types and one of statuses; both when both are given." example:"{\"statuses\":[\"ACTIVITY_STATUS_COMPLETED\"]}"`
	IsActive    *bool  `json:"isActive,omitzero" doc:"Whether the subscription counts; true when absent."`
}

// webhookFilters are the filters of a subscription.
type webhookFilters struct {
	Types    []string                `json:"types,omitzero" check:"max=200,unique" doc:"Activity types."`
	Statuses []domain.ActivityStatus `json:"statuses,omitzero" check:"max=10,unique" doc:"Statuses."`
}

// WebhookEndpointResult is the result of the operations that make or change an
// endpoint.
type WebhookEndpointResult struct {
	EndpointID      string          `json:"endpointId" check:"required,uuid" doc:"The endpoint."`
	WebhookEndpoint WebhookEndpoint `json:"webhookEndpoint" check:"required" doc:"The endpoint as it is now."`
}

func endpointRecord(org string, e *domain.WebhookEndpoint) WebhookEndpoint {
	return WebhookEndpoint{
		EndpointID: e.ID, OrganizationID: org, URL: e.URL, Name: e.Name, IsActive: !e.Paused,
		Subscriptions: record.Each(e.Subscriptions, func(s domain.WebhookSubscription) WebhookSubscription {
			active := !s.Inactive
			return WebhookSubscription{EventType: string(s.EventType), FiltersJSON: s.Filters, IsActive: &active}
		}),
	}
}

// unservedEvents are those that clients know and this server has not.
var unservedEvents = []string{"BALANCE_CONFIRMED_UPDATES", "BALANCE_FINALIZED_UPDATES", "SEND_TRANSACTION_STATUS_UPDATES"}

// checkSubscription reads one subscription, as far as its form says.
func checkSubscription(problems *schema.Problems, path string, s *WebhookSubscription) {
	switch {
	case slices.Contains(unservedEvents, s.EventType):
		problems.Add(path+".eventType", "%s is not served here: this server watches no chain; ACTIVITY_UPDATES is", s.EventType)
	case s.EventType != string(domain.ActivityUpdates):
		problems.Add(path+".eventType", "must be ACTIVITY_UPDATES")
	}
	if _, wrong := readFilters(s.FiltersJSON); len(wrong) > 0 {
		for _, f := range wrong {
			where := path + ".filtersJson"
			if f.Path != "" {
				where += "." + f.Path
			}
			problems.Add(where, "%s", f.Description)
		}
	}
}

func readFilters(text string) (f webhookFilters, problems []fault.Field) {
	if text == "" {
		return f, nil
	}
	return f, schema.Of[webhookFilters]().Decode([]byte(text), &f)
}

// subscription makes the stored form. Types must be ones that the server has.
func subscription(c *activity.Catalog, i int, s *WebhookSubscription) (domain.WebhookSubscription, error) {
	stored := domain.WebhookSubscription{
		EventType: domain.WebhookEvent(s.EventType), Filters: s.FiltersJSON, Inactive: s.IsActive != nil && !*s.IsActive,
	}
	filters, problems := readFilters(s.FiltersJSON)
	for n, name := range filters.Types {
		if c.Op(name) != nil {
			continue
		}
		problem := "is not the type of an activity that this server has"
		if near := suggest.Name(name, 6, c.Types()); near != "" {
			problem += "; did you mean " + near + "?"
		}
		problems = append(problems, fault.Field{
			Path:        "subscriptions[" + strconv.Itoa(i) + "].filtersJson.types[" + strconv.Itoa(n) + "]",
			Description: problem,
		})
	}
	if len(problems) > 0 {
		return stored, fault.Fields("parameters", problems)
	}
	stored.Types = filters.Types
	for _, status := range filters.Statuses {
		stored.Statuses = append(stored.Statuses, string(status))
	}
	return stored, nil
}

// checkURLForm refuses what is no address for deliveries on any server.
func checkURLForm(problems *schema.Problems, path, url string) {
	if _, err := target.Parse(url); err != nil {
		problems.Add(path, "%v", err)
	}
}

// checkURL refuses an address to which this server does not deliver.
func checkURL(e activity.Env, field, url string) error {
	if err := e.Webhooks.CheckURL(url); err != nil {
		return fault.Fields("parameters", []fault.Field{{Path: field, Description: err.Error()}})
	}
	return nil
}

// editableEndpoint finds an endpoint that may be changed by its own operations.
func editableEndpoint(e activity.Env, id string) (*domain.WebhookEndpoint, error) {
	endpoint, err := e.Tx.WebhookEndpoints().Get(id)
	if err == nil && endpoint.Feature {
		err = fault.Invalid("this endpoint is the organization's FEATURE_NAME_WEBHOOK: " +
			"change it with set_organization_feature, end it with remove_organization_feature")
	}
	return endpoint, err
}

// setFeatureEndpoint makes, changes or removes the endpoint that
// FEATURE_NAME_WEBHOOK stands for. An empty address removes it.
func setFeatureEndpoint(e activity.Env, url string) error {
	table, id := e.Tx.WebhookEndpoints(), e.Tx.Org()
	present, err := table.Lookup(id)
	switch {
	case err != nil || present == nil && url == "":
		return err
	case url == "":
		err = table.Delete(id)
	case present != nil:
		err = table.Edit(id, func(w *domain.WebhookEndpoint) error {
			w.URL, w.UpdatedAt = url, e.Now
			return nil
		})
	default:
		err = table.Insert(&domain.WebhookEndpoint{
			ID: id, URL: url, Name: string(domain.FeatureWebhook), Feature: true,
			Subscriptions: []domain.WebhookSubscription{{EventType: domain.ActivityUpdates}},
			CreatedBy:     e.ActivityID, CreatedAt: e.Now, UpdatedAt: e.Now,
		})
	}
	return cmp.Or(err, e.Tx.NoticeWebhook(domain.WebhookNotice{EndpointID: id, Resume: true}))
}
