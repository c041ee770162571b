package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/client"
	"latchkey/internal/policy/policytest"
	"latchkey/internal/request/engine"
)

type policyExplainCommand struct {
	requestCommand
	// A whole question can be sent with `latchkey request --exact`, and a question
	// changes nothing: it is asked anew.
	Exact  struct{} `kong:"-"`
	Resend struct{} `kong:"-"`

	Policies string   `placeholder:"FILE" help:"Suppose the policies of this file in the place of the organization's own."`
	Approver []string `placeholder:"USER_ID" help:"Suppose that this user has voted, the submitter first; can be repeated. Default: the caller."`
	Time     string   `placeholder:"TIME" help:"Suppose this time (RFC 3339). Default: now."`
	JSON     bool     `name:"json" help:"Print the reply as JSON, for programs."`
}

// Exit statuses of policy explain.
var explained = map[string]error{"ALLOW": nil, "PENDING": exitStatus(3), "DENY": exitStatus(4)}

// Run asks the server and shows what it explains.
func (cmd policyExplainCommand) Run(ctx context.Context) error {
	if err := cmd.complete(); err != nil {
		return err
	}
	stamper, err := cmd.stamper()
	if err != nil {
		return err
	}
	_, newest, err := cmd.find()
	if err != nil {
		return err
	}
	if newest == nil {
		return fmt.Errorf("%s is no activity: every member may ask a query, and no policy is asked", cmd.Operation)
	}
	body, err := cmd.body(newest, true)
	if err != nil {
		return err
	}
	if body, err = cmd.suppose(body); err != nil {
		return err
	}
	answer, err := (&client.Client{BaseURL: cmd.URL, Stamper: stamper}).Post(ctx, "/latchkey/v1/explain", body)
	if err != nil {
		return readable(err)
	}
	var reply engine.ExplainReply
	if err := json.Unmarshal(answer, &reply); err != nil {
		return fmt.Errorf("the reply is not one of this version: %w", err)
	}
	if cmd.JSON {
		fmt.Println(string(answer))
	} else if err := policytest.PrintReply(os.Stdout, &reply); err != nil {
		return err
	}
	status, known := explained[reply.Outcome]
	if !known {
		return fmt.Errorf("the outcome %q is not known to this version", reply.Outcome)
	}
	return status
}

// suppose adds to the request what is to be supposed.
func (cmd *policyExplainCommand) suppose(body []byte) ([]byte, error) {
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, err
	}
	supposed := map[string]any{}
	if cmd.Policies != "" {
		policies, err := supposedPolicies(cmd.Policies)
		if err != nil {
			return nil, err
		}
		supposed["policies"] = policies
	}
	if len(cmd.Approver) > 0 {
		supposed["approvers"] = cmd.Approver
	}
	if cmd.Time != "" {
		supposed["time"] = cmd.Time
	}
	for name, value := range supposed {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		members[name] = text
	}
	return json.Marshal(members, json.Deterministic(true))
}

// supposedPolicies reads policies for a server, which knows no names of a file.
func supposedPolicies(path string) ([]engine.SupposedPolicy, error) {
	file, err := policytest.Load(path)
	if err != nil {
		return nil, err
	}
	all := make([]engine.SupposedPolicy, len(file.Policies))
	var unknown []string
	for i, p := range file.Policies {
		unknown = append(unknown, p.MadeUp...)
		all[i] = engine.SupposedPolicy{
			PolicyName: p.Name, Effect: p.Effect, Condition: p.Condition, Consensus: p.Consensus, Time: p.Time, Notes: p.Notes,
		}
	}
	if len(unknown) > 0 {
		return nil, errors.New(path + ": the server does not know " + strings.Join(unknown, ", ") +
			"; give them the ids (or addresses) that they have there")
	}
	return all, nil
}
