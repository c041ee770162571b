package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/client"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/ops"
	"latchkey/internal/suggest"
)

type callCommand struct {
	Operation string `arg:"" optional:"" help:"Operation, such as create_wallet; --list names all."`
	JSON      string `name:"json" placeholder:"PARAMETERS" help:"Parameters as JSON; @FILE reads a file, - standard input. Default: {}."`
	Type      string `placeholder:"ACTIVITY_TYPE" help:"Version of the activity to send. Default: the newest."`

	connection
	sending
	DryRun   bool `help:"Check the parameters, print the request, and send nothing."`
	Result   bool `help:"Print the result alone, without the activity around it."`
	List     bool `help:"List the operations."`
	Describe bool `help:"Describe the operation's parameters and result, and show an example."`
}

// Exit statuses of call. Those of a pending and of a refused request are those
// of policy explain.
const (
	callInvalid = 2 // the operation or its parameters are wrong: nothing was sent
	callPending = 3 // the activity waits for votes
	callRefused = 4 // the server refused the request, or the activity was rejected or failed
)

// operation is an operation of the catalog: a submit path or a query.
type operation struct {
	name  string
	path  *activity.Endpoint   // nil: a query
	as    *activity.CompiledOp // the version that is meant
	query *activity.CompiledQuery
}

// Run checks the request, sends it and shows the reply.
func (cmd callCommand) Run(ctx context.Context) error {
	catalog := ops.Catalog()
	if cmd.List {
		return listOperations(os.Stdout, catalog)
	}
	op, err := cmd.find(catalog)
	if err != nil {
		return invalid(err)
	}
	if cmd.Describe {
		return op.describe(os.Stdout)
	}
	given, err := readText(cmd.JSON)
	if err != nil {
		return err
	}
	// No server is needed to say what is wrong.
	if err := jsonProblem(given); err != nil {
		return invalid(fmt.Errorf("the parameters must be JSON: %w; nothing was sent", err))
	}
	if err := op.check(given); err != nil {
		return invalid(err)
	}
	if cmd.DryRun && cmd.Organization != "" {
		return cmd.printRequest(&client.Client{OrganizationID: cmd.Organization}, op, given)
	}
	server, err := cmd.client()
	if err != nil {
		return err
	}
	if cmd.DryRun {
		return cmd.printRequest(server, op, given)
	}
	body, err := op.body(server, given)
	if err != nil {
		return err
	}
	reply, err := cmd.post(ctx, &cmd.connection, server, op.url(), body)
	if err != nil {
		return refused(err)
	}
	return cmd.show(ctx, server, op, reply)
}

func (cmd *callCommand) printRequest(c *client.Client, op *operation, given []byte) error {
	body, err := op.body(c, given)
	if err != nil {
		return err
	}
	fmt.Println(string(body))
	return nil
}

// find returns the operation that the arguments name.
func (cmd *callCommand) find(catalog *activity.Catalog) (*operation, error) {
	op := &operation{name: cmd.Operation, path: catalog.Endpoint(cmd.Operation), query: catalog.Query(cmd.Operation)}
	switch {
	case cmd.Operation == "":
		return nil, errors.New("name an operation; latchkey call --list shows all")
	case op.path == nil && op.query == nil:
		return nil, fmt.Errorf("%w\n  latchkey call --list shows all", noOperation(cmd.Operation, catalog))
	case op.path == nil:
		if cmd.Type != "" {
			return nil, fmt.Errorf("%s is a query, which has no --type", op.name)
		}
		return op, nil
	}
	op.as = op.path.Newest()
	if cmd.Type != "" {
		var err error
		if op.as, err = op.path.Version(cmd.Type); err != nil {
			return nil, err
		}
	}
	return op, nil
}

// noOperation says that there is no such operation, and which one was probably
// meant.
func noOperation(name string, catalog *activity.Catalog) error {
	// As some clients write them: createWallet.
	var snake strings.Builder
	for _, r := range name {
		if r >= 'A' && r <= 'Z' {
			snake.WriteByte('_')
		}
		snake.WriteRune(unicode.ToLower(r))
	}
	if guess := suggest.Name(snake.String(), len(name)/3+1, operationNames(catalog)); guess != "" {
		return fmt.Errorf("there is no operation %q; is %s meant?", name, guess)
	}
	return fmt.Errorf("there is no operation %q", name)
}

func operationNames(catalog *activity.Catalog) []string {
	var all []string
	for _, p := range catalog.Endpoints {
		all = append(all, p.Name)
	}
	for _, q := range catalog.Queries {
		all = append(all, q.Name)
	}
	return all
}

// check holds the parameters against the catalog, as the server will.
func (op *operation) check(given []byte) error {
	if op.path != nil {
		_, err := op.path.Parse(op.as, given)
		return err
	}
	// The organization is filled in later, when it is known.
	anywhere := &client.Client{OrganizationID: "f9a31c64-d604-42e4-9bef-a773096afad7"}
	body, err := op.body(anywhere, given)
	if err != nil {
		return err
	}
	if _, wrong := op.query.Parse(body); len(wrong) > 0 {
		return fault.Fields("", wrong)
	}
	return nil
}

// url is the operation's path on the server.
func (op *operation) url() string {
	if op.path != nil {
		return "/public/v1/submit/" + op.name
	}
	return "/public/v1/query/" + op.name
}

// body is the request with everything that the parameters leave out.
func (op *operation) body(c *client.Client, given []byte) ([]byte, error) {
	if op.path != nil {
		return c.SubmitBody(op.as.Type, jsontext.Value(given))
	}
	// Of a query, the organization is a parameter like others.
	var in struct {
		OrganizationID string `json:"organizationId"`
	}
	if err := json.Unmarshal(given, &in); err != nil {
		if _, wrong := op.query.Parse(given); len(wrong) > 0 {
			return nil, fault.Fields("", wrong)
		}
		return nil, err
	}
	if in.OrganizationID != "" {
		c = c.In(in.OrganizationID)
	}
	return c.QueryBody(jsontext.Value(given))
}

// show prints the reply and tells the outcome by the exit status.
func (cmd *callCommand) show(ctx context.Context, server *client.Client, op *operation, reply []byte) error {
	if op.path == nil {
		return printReply(reply)
	}
	var body struct {
		Activity client.Activity `json:"activity"`
	}
	if err := json.Unmarshal(reply, &body); err != nil {
		return fmt.Errorf("the reply holds no activity: %w", err)
	}
	outcome := body.Activity.Err()
	switch {
	case !cmd.Result:
		if err := printReply(reply); err != nil {
			return err
		}
	case outcome == nil:
		var result jsontext.Value
		if err := body.Activity.DecodeResult(&result); err != nil {
			return err
		}
		if err := printReply(result); err != nil {
			return err
		}
	}
	if outcome == nil {
		return nil
	}
	var pending *client.PendingError
	if errors.As(outcome, &pending) {
		showPending(ctx, server, &body.Activity)
		return exitStatus(callPending)
	}
	fmt.Fprintf(os.Stderr, "latchkey: %v\n", outcome)
	return exitStatus(callRefused)
}

// invalid says what is wrong with a request that was not sent.
func invalid(err error) error {
	if f, ok := fault.As(err); ok {
		err = problems("the request is not valid; nothing was sent", f.Message, f.Fields)
	}
	fmt.Fprintf(os.Stderr, "latchkey: %v\n", err)
	return exitStatus(callInvalid)
}

// refused tells a refusal from a server that could not answer, which says
// nothing about the request.
func refused(err error) error {
	var reply *client.Error
	if !errors.As(err, &reply) || reply.Status >= 500 {
		return readable(err)
	}
	fmt.Fprintf(os.Stderr, "latchkey: %v\n", readable(err))
	return exitStatus(callRefused)
}
