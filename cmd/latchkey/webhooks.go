package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"text/tabwriter"
	"time"

	"latchkey/client"
)

type webhooksCommand struct {
	List   webhooksListCommand   `cmd:"" help:"Show the webhook endpoints of an organization, and how far the deliveries to them are."`
	Replay webhooksReplayCommand `cmd:"" help:"Have events delivered to an endpoint again. Exit status: 3 pending, 4 refused."`
	Test   webhooksTestCommand   `cmd:"" help:"Send an endpoint a signed test event now. Exit status 1: it was not taken."`
}

type webhooksListCommand struct {
	connection
	JSON bool `name:"json" help:"Print the reply as JSON, for programs."`
}

// Run asks the server.
func (cmd webhooksListCommand) Run(ctx context.Context) error {
	server, err := cmd.client()
	if err != nil {
		return err
	}
	reply, err := server.ListWebhookEndpoints(ctx, client.ListWebhookEndpointsRequest{})
	if err != nil {
		return readable(err)
	}
	if cmd.JSON {
		return printJSON(reply)
	}
	if len(reply.WebhookEndpoints) == 0 {
		fmt.Println("The organization has no webhook endpoint; latchkey call create_webhook_endpoint makes one.")
		return nil
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ENDPOINT\tNAME\tSTATE\tWAITING\tLAST DELIVERY\tURL")
	for _, e := range reply.WebhookEndpoints {
		fmt.Fprintf(table, "%s\t%q\t%s\t%d\t%s\t%s\n", e.EndpointID, e.Name, e.State, e.Waiting, lastDelivery(e.LastDeliveredMs), e.URL)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, e := range reply.WebhookEndpoints {
		if e.LastError != "" {
			fmt.Printf("%s: %s\n", e.EndpointID, e.LastError)
		}
	}
	return nil
}

func lastDelivery(millis uint64) string {
	if millis == 0 {
		return "none yet"
	}
	return time.UnixMilli(int64(millis)).UTC().Format(time.RFC3339)
}

type webhooksReplayCommand struct {
	connection
	Endpoint string `required:"" placeholder:"ID" help:"The endpoint."`
	After    string `placeholder:"CURSOR" help:"Deliver what comes after this cursor of the events feed."`
	Since    string `placeholder:"TIME" help:"Deliver what happened since this time (RFC 3339, such as 2026-11-15T12:00:00Z)."`
}

// Run submits the activity.
func (cmd webhooksReplayCommand) Run(ctx context.Context) error {
	replay := client.ReplayWebhookEndpointParameters{EndpointID: cmd.Endpoint, After: cmd.After}
	switch {
	case (cmd.After == "") == (cmd.Since == ""):
		return errors.New("give --after CURSOR or --since TIME, one of both")
	case cmd.Since != "":
		at, err := time.Parse(time.RFC3339, cmd.Since)
		if err != nil || at.UnixMilli() < 1 {
			return errors.New("--since: must be a time such as 2026-11-15T12:00:00Z (RFC 3339)")
		}
		replay.SinceMs = uint64(at.UnixMilli())
	}
	server, err := cmd.client()
	if err != nil {
		return err
	}
	_, activity, err := server.ReplayWebhookEndpoint(ctx, replay)
	var pending *client.PendingError
	if errors.As(err, &pending) {
		showPending(ctx, server, activity)
		return exitStatus(3)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "latchkey: %v\n", readable(err))
		return exitStatus(4)
	}
	fmt.Printf("The events are delivered to %s again; \"latchkey webhooks list\" shows how many wait.\n", cmd.Endpoint)
	return nil
}

type webhooksTestCommand struct {
	connection
	Endpoint string `required:"" placeholder:"ID" help:"The endpoint."`
}

// Run asks the server to send the event.
func (cmd webhooksTestCommand) Run(ctx context.Context) error {
	server, err := cmd.client()
	if err != nil {
		return err
	}
	reply, err := server.TestWebhookEndpoint(ctx, client.TestWebhookEndpointRequest{EndpointID: cmd.Endpoint})
	if err != nil {
		return readable(err)
	}
	if !reply.Delivered {
		return fmt.Errorf("the test event %s was not taken: %s", reply.EventID, reply.Error)
	}
	fmt.Println("The test event " + reply.EventID + " was taken, after " + strconv.Itoa(int(reply.DurationMs)) + " ms.")
	return nil
}
