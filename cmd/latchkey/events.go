package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"latchkey/client"
)

type eventsCommand struct {
	Tail eventsTailCommand `cmd:"" help:"Print events as they happen, one line of JSON for each, until interrupted. Exit status 4: the server refuses, or no longer lets the key read."`
}

type eventsTailCommand struct {
	After           string   `default:"now" placeholder:"CURSOR" help:"Begin after this cursor; 'start' is before the first event. Default: ${default}."`
	SubOrganization bool     `name:"sub-organizations" help:"Events of the sub-organizations too."`
	Type            []string `placeholder:"ACTIVITY_TYPE" help:"Only of activities of this type; can be repeated."`
	Status          []string `placeholder:"STATUS" help:"Only of activities that came to this status, such as ACTIVITY_STATUS_COMPLETED; can be repeated."`
	Count           int      `placeholder:"N" help:"End after so many events."`
	connection
}

var errEnough = errors.New("as many events as were asked for")

// Run prints events. When the connection is lost, it goes on after the last event
// that was printed.
func (cmd eventsTailCommand) Run(ctx context.Context) error {
	server, err := cmd.client()
	if err != nil {
		return err
	}
	q := client.EventsRequest{After: cmd.After, IncludeSubOrganizations: cmd.SubOrganization, Types: cmd.Type}
	if q.After == "start" {
		q.After = ""
	}
	for _, status := range cmd.Status {
		q.Statuses = append(q.Statuses, client.ActivityStatus(status))
	}
	if q.After == "now" { // from now on, however often the connection is lost
		reply, err := server.Events(ctx, client.EventsRequest{After: "now"})
		if err != nil {
			return refused(err)
		}
		q.After = reply.Cursor
	}
	printed, pause := 0, firstPause
	for {
		err := server.StreamEvents(ctx, q, func(e *client.EventView) error {
			if err := printJSON(e); err != nil {
				return err
			}
			q.After, pause = e.Cursor, firstPause
			if printed++; printed == cmd.Count {
				return errEnough
			}
			return nil
		})
		if errors.Is(err, errEnough) || ctx.Err() != nil {
			return nil
		}
		if !unanswered(ctx, err) {
			return refused(err)
		}
		fmt.Fprintf(os.Stderr, "latchkey: %v; going on in %v\n", err, pause)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		pause = min(2*pause, maxPause)
	}
}
