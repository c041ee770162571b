package server

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/outbox/notify"
)

// send sends one message and says how it ended.
func (o *outbox) send(ctx context.Context, m *domain.Message) {
	err := o.deliver(ctx, m)
	o.ended <- ending{Message: m, err: err, gaveUp: ctx.Err() != nil} // there is room for all
}

func (o *outbox) deliver(ctx context.Context, m *domain.Message) (err error) {
	defer func() {
		// A message that brings the server down would do so again and again.
		if p := recover(); p != nil {
			err = fmt.Errorf("panic of type %T\n%s", p, debug.Stack()) // its text may hold the secret
		}
	}()
	text, err := o.identity.OpenMessage(domain.OutboxPurpose, m.Sealed)
	if err != nil {
		return err
	}
	var opened notify.Message
	if json.Unmarshal(text, &opened) != nil {
		return errors.New("the message is not one that this server can read") // the reason may quote it
	}
	return o.router.Send(ctx, &opened)
}
