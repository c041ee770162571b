package engine

import (
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/activity"
	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/schema"
	"latchkey/internal/store"
)

// Reply is what goes back to the client.
type Reply struct {
	Status int
	Body   jsontext.Value
}

// reply answers with an activity, new or seen before. To whoever submits it, a
// failed one is the error that it failed with, each time.
func (e *Engine) reply(tx *store.Tx, event *Event, a *domain.Activity) (*Reply, error) {
	event.ActivityID, event.Status = a.ID, a.Status
	if a.Status == domain.StatusFailed {
		var failure fault.Body
		if err := json.Unmarshal(a.Failure, &failure); err != nil {
			return nil, fmt.Errorf("reading the failure of activity %s: %w", a.ID, err)
		}
		return &Reply{Status: failure.Status(), Body: a.Failure}, nil
	}
	view, err := e.catalog.Render(a, userOf(tx))
	if err != nil {
		return nil, err
	}
	body, err := schema.Encode(activity.Reply{Activity: view})
	return &Reply{Status: http.StatusOK, Body: body}, err
}

// userOf finds the users of a transaction, nil for those that are gone.
func userOf(tx *store.Tx) func(id string) (*domain.User, error) { return tx.Users().Lookup }
