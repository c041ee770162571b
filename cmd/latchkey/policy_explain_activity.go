package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/client"
	"latchkey/internal/domain"
	"latchkey/internal/policy"
	"latchkey/internal/policy/policytest"
	"latchkey/internal/request/engine"
	"latchkey/internal/request/ops"
)

// explainActivity explains an activity that waits: what it does, which policies
// want which votes, and who can still give them.
func (cmd *policyExplainCommand) explainActivity(ctx context.Context, server *client.Client, id string) error {
	if cmd.Body != "" || len(cmd.Approver) > 0 {
		return errors.New("an activity that waits has its parameters and its votes; leave them out")
	}
	body, err := server.QueryBody(client.ExplainRequest{ActivityID: id})
	if err != nil {
		return err
	}
	return cmd.ask(ctx, server, body, func(reply *engine.ExplainReply) error {
		found, err := server.GetActivity(ctx, client.GetActivityRequest{ActivityID: id})
		if err != nil {
			return readable(err)
		}
		organization, err := readOrganization(ctx, server)
		if err != nil {
			return err
		}
		label := organization.Labels()
		fmt.Print(label.Replace(describeActivity(&found.Activity)), label.Replace(wantedVotes(reply)))
		if err := policytest.PrintReply(os.Stdout, reply); err != nil {
			return err
		}
		fmt.Printf("to approve it: latchkey call approve_activity --json '{\"fingerprint\":\"%s\"}'\n", found.Activity.Fingerprint)
		return nil
	})
}

// describeActivity says what an activity does: what its operation is for, and
// with which parameters.
func describeActivity(a *client.Activity) string {
	var b strings.Builder
	summary := a.Type
	if op := ops.Catalog().Op(a.Type); op != nil {
		summary = op.Summary
	}
	fmt.Fprintf(&b, "activity %s: %s\n", a.ID, summary)
	var intent map[string]jsontext.Value
	if err := json.Unmarshal(a.Intent, &intent); err == nil {
		for _, parameters := range intent {
			describeParameters(&b, parameters)
		}
	}
	for i, v := range a.Votes {
		word := "approved"
		switch {
		case i == 0:
			word = "submitted"
		case v.Selection != string(domain.VoteApproved):
			word = "rejected"
		}
		fmt.Fprintf(&b, "%s by %s, %s\n", word, v.User.UserName, timeOf(v.CreatedAt))
	}
	return b.String()
}

// maxShown is how much of a parameter is shown.
const maxShown = 300

func describeParameters(b *strings.Builder, parameters jsontext.Value) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(parameters, &members); err != nil {
		return // not an object, so there is nothing to list
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		text := []rune(string(members[name]))
		if len(text) > maxShown {
			text = append(text[:maxShown], '…')
		}
		fmt.Fprintf(b, "  %s: %s\n", name, string(text))
	}
}

func timeOf(t client.Timestamp) string {
	seconds, err := strconv.ParseInt(t.Seconds, 10, 64)
	if err != nil {
		return t.Seconds
	}
	return time.Unix(seconds, 0).UTC().Format(time.RFC3339)
}

// wantedVotes says which policies want votes, and which.
func wantedVotes(reply *engine.ExplainReply) string {
	var b strings.Builder
	for _, p := range reply.Policies {
		if p.Outcome == string(policy.RequiresConsensus) && len(p.Consensus) > 0 {
			fmt.Fprintf(&b, "policy %s wants: %s\n", p.PolicyName, strings.Join(strings.Fields(p.Consensus[0].Source), " "))
		}
	}
	return b.String()
}
