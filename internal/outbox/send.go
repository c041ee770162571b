package outbox

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/outbox/notify"
)

// send sends one message and reports the result.
func (o *Outbox) send(ctx context.Context, m *domain.Message) {
	err := o.deliver(ctx, m)
	o.results <- result{Message: m, err: err, interrupted: ctx.Err() != nil} // there is room for all
}

func (o *Outbox) deliver(ctx context.Context, m *domain.Message) (err error) {
	defer func() {
		// A message that crashes the server would do so at every attempt.
		if p := recover(); p != nil {
			err = fmt.Errorf("panic of type %T\n%s", p, debug.Stack()) // its text may hold the secret
		}
	}()
	text, err := o.Keys.OpenMessage(domain.OutboxPurpose, m.Sealed)
	if err != nil {
		return err
	}
	var opened notify.Message
	if json.Unmarshal(text, &opened) != nil {
		return errors.New("the message is not one that this server can read") // the reason may quote it
	}
	return o.Router.Send(ctx, &opened)
}
