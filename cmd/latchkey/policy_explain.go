package main

import (
	"context"
	"fmt"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/client"
	"latchkey/internal/ids"
	"latchkey/internal/policy/deploy"
	"latchkey/internal/policy/policytest"
	"latchkey/internal/request/engine"
)

type policyExplainCommand struct {
	Operation string `arg:"" help:"Operation, such as create_wallet, or the id of an activity that waits for votes."`
	Body      string `arg:"" optional:"" help:"Parameters of the operation, or the whole request, as JSON; @FILE reads a file, - standard input."`

	connection
	Policies string   `placeholder:"FILE" help:"Suppose the policies of this file in the place of the organization's own."`
	Approver []string `placeholder:"USER_ID" help:"Suppose that this user has voted, the submitter first; can be repeated. Default: the caller."`
	Time     string   `placeholder:"TIME" help:"Suppose this time (RFC 3339). Default: now."`
	JSON     bool     `name:"json" help:"Print the reply as JSON, for programs."`
}

// Exit statuses of policy explain.
var explained = map[string]error{"ALLOW": nil, "PENDING": exitStatus(3), "DENY": exitStatus(4)}

// Run asks the server and shows what it explains.
func (cmd policyExplainCommand) Run(ctx context.Context) error {
	server, err := cmd.client()
	if err != nil {
		return err
	}
	if id, ok := ids.Normal(cmd.Operation); ok {
		return cmd.explainActivity(ctx, server, id)
	}
	request := requestCommand{Operation: cmd.Operation, Body: cmd.Body, connection: cmd.connection}
	_, newest, err := request.find()
	if err != nil {
		return err
	}
	if newest == nil {
		return fmt.Errorf("%s is no activity: every member may ask a query, and no policy is asked", cmd.Operation)
	}
	body, err := request.body(newest, true)
	if err != nil {
		return err
	}
	return cmd.ask(ctx, server, body, func(reply *engine.ExplainReply) error { return policytest.PrintReply(os.Stdout, reply) })
}

// ask asks with what is supposed, shows the reply, and tells the outcome by the
// exit status.
func (cmd *policyExplainCommand) ask(ctx context.Context, server *client.Client, body []byte, show func(*engine.ExplainReply) error) error {
	body, err := cmd.suppose(ctx, server, body)
	if err != nil {
		return err
	}
	answer, err := server.Post(ctx, "/latchkey/v1/explain", body)
	if err != nil {
		return readable(err)
	}
	var reply engine.ExplainReply
	if err := json.Unmarshal(answer, &reply); err != nil {
		return fmt.Errorf("the reply is not one of this version: %w", err)
	}
	if cmd.JSON {
		fmt.Println(string(answer))
	} else if err := show(&reply); err != nil {
		return err
	}
	status, known := explained[reply.Outcome]
	if !known {
		return fmt.Errorf("the outcome %q is not known to this version", reply.Outcome)
	}
	return status
}

// suppose adds to the request what is to be supposed.
func (cmd *policyExplainCommand) suppose(ctx context.Context, server *client.Client, body []byte) ([]byte, error) {
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, err
	}
	supposed := map[string]any{}
	if cmd.Policies != "" {
		policies, controls, err := supposedByFiles(ctx, server, true, cmd.Policies)
		if err != nil {
			return nil, err
		}
		if len(controls) > 0 {
			return nil, invalid(fmt.Errorf("the organization has no velocity control %s yet, and explain cannot suppose one; create it first", controls[0].Identifier))
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

// supposedByFiles reads the policies and velocity controls of files, with the ids
// that the organization has for their names. Controls that the organization has
// are left out if known says so; they must be the same.
func supposedByFiles(ctx context.Context, server *client.Client, known bool, paths ...string) (policies []engine.SupposedPolicy, controls []engine.SupposedControl, err error) {
	files, err := (&policyFiles{Files: paths}).load()
	if err != nil {
		return nil, nil, err
	}
	organization, err := readOrganization(ctx, server)
	if err != nil {
		return nil, nil, err
	}
	// Compared with none, all are new.
	organization.Policies = nil
	if !known {
		organization.Controls = nil
	}
	plan, err := deploy.Compare(organization, files, false)
	if err != nil {
		sayMistakes(err)
		return nil, nil, exitStatus(policyInvalid)
	}
	policies = []engine.SupposedPolicy{}
	for i := range plan.Steps {
		if c := plan.Steps[i].Control; c != nil {
			controls = append(controls, engine.SupposedControl{Name: c.Name, Identifier: c.Identifier, DataSource: c.DataSource, Aggregation: c.Aggregation})
			continue
		}
		p := plan.Steps[i].Policy()
		policies = append(policies, engine.SupposedPolicy{
			PolicyName: p.Name, Effect: p.Effect, Condition: p.Condition, Consensus: p.Consensus, Time: p.Time, Notes: p.Notes,
		})
	}
	return policies, controls, nil
}
