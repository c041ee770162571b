package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/request/activity"
	"latchkey/internal/request/ops"
)

type requestCommand struct {
	Operation string `arg:"" help:"Operation, such as whoami, or its path."`
	Body      string `arg:"" optional:"" help:"Parameters, or the whole request, as JSON; @FILE reads a file, - standard input."`

	connection
	sending
	Exact bool `help:"Send the body as it is: nothing is filled in."`
}

// Run stamps the request, sends it and shows the reply.
func (cmd requestCommand) Run(ctx context.Context) error {
	server, err := cmd.client()
	if err != nil {
		return err
	}
	path, newest, err := cmd.find()
	if err != nil {
		return err
	}
	body, err := cmd.body(newest, strings.Contains(path, "/submit/"))
	if err != nil {
		return err
	}
	if file, ok := strings.CutPrefix(cmd.Body, "@"); ok && cmd.Exact {
		cmd.file = file
	}
	reply, err := cmd.post(ctx, &cmd.connection, server, path, body)
	if err != nil {
		return readable(err)
	}
	return printReply(reply)
}

// find returns the operation's path and, for activities, its newest version. A
// path that this binary does not know is left to the server.
func (cmd *requestCommand) find() (string, *activity.CompiledOp, error) {
	catalog := ops.Catalog()
	name := cmd.Operation[strings.LastIndexByte(cmd.Operation, '/')+1:]
	if p := catalog.Endpoint(name); p != nil {
		return "/public/v1/submit/" + name, p.Newest(), nil
	}
	if catalog.Query(name) != nil {
		return "/public/v1/query/" + name, nil, nil
	}
	if strings.HasPrefix(cmd.Operation, "/") {
		return cmd.Operation, nil, nil
	}
	return "", nil, fmt.Errorf("%w; a path begins with /", noOperation(cmd.Operation, catalog))
}

// body is the request as it will be signed.
func (cmd *requestCommand) body(newest *activity.CompiledOp, submit bool) ([]byte, error) {
	given, err := readText(cmd.Body)
	if err != nil || cmd.Exact {
		return given, err
	}
	members := map[string]jsontext.Value{}
	if err := jsonProblem(given); err != nil {
		return nil, fmt.Errorf("the body must be a JSON object: %w; --exact sends it as it is", err)
	}
	if err := json.Unmarshal(given, &members); err != nil {
		return nil, errors.New("the body must be a JSON object, with each name once; --exact sends it as it is")
	}
	if _, whole := members["parameters"]; submit && !whole {
		members = map[string]jsontext.Value{"parameters": given}
	}
	fill := func(name, value string) {
		if _, ok := members[name]; !ok && value != "" {
			members[name] = jsontext.Value(strconv.Quote(value))
		}
	}
	fill("organizationId", cmd.Organization)
	if submit {
		fill("timestampMs", strconv.FormatInt(time.Now().UnixMilli(), 10))
	}
	if newest != nil {
		fill("type", newest.Type)
	}
	return json.Marshal(members, json.Deterministic(true))
}
