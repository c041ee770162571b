package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/client"
	"latchkey/internal/activity"
	"latchkey/internal/fault"
	"latchkey/internal/ops"
	"latchkey/internal/secretfile"
)

type requestCommand struct {
	Operation string `arg:"" help:"Operation, such as whoami, or its path."`
	Body      string `arg:"" optional:"" help:"Parameters, or the whole request, as JSON; @FILE reads a file, - standard input."`

	Data         string `default:"./latchkey-data" placeholder:"DIR" help:"Data folder of a dev server; gives what the other flags leave out. Default: ${default}."`
	URL          string `placeholder:"URL" help:"Base address of the server."`
	Key          string `placeholder:"FILE" help:"Key file, as 'latchkey keygen --out' writes it."`
	Organization string `placeholder:"ID" help:"Organization to act in."`
	Exact        bool   `help:"Send the body as it is: nothing is filled in."`
}

// Run stamps the request, sends it and shows the reply.
func (cmd requestCommand) Run(ctx context.Context) error {
	if err := cmd.complete(); err != nil {
		return err
	}
	stamper, err := cmd.stamper()
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
	reply, err := (&client.Client{BaseURL: cmd.URL, Stamper: stamper}).Post(ctx, path, body)
	if err != nil {
		return readable(err)
	}
	value := jsontext.Value(reply)
	if err := value.Indent(); err != nil {
		return fmt.Errorf("the reply is not JSON: %w", err)
	}
	fmt.Println(value)
	return nil
}

// complete takes what no flag gave from the dev server's file.
func (cmd *requestCommand) complete() error {
	if cmd.URL != "" && cmd.Key != "" && cmd.Organization != "" {
		return nil
	}
	dev, err := readDevFile(cmd.Data)
	if err != nil {
		if cmd.URL != "" && cmd.Key != "" {
			return nil // the body may name the organization
		}
		return fmt.Errorf("give --url and --key, or --data with the folder of a dev server: %w", err)
	}
	if cmd.URL == "" {
		cmd.URL = dev.BaseURL
	}
	if cmd.Organization == "" {
		cmd.Organization = dev.OrganizationID
	}
	return nil
}

func (cmd *requestCommand) stamper() (client.Stamper, error) {
	if cmd.Key == "" {
		dev, err := readDevFile(cmd.Data)
		if err != nil {
			return nil, err
		}
		key, err := client.ParsePrivateKey(client.P256, dev.APIPrivateKey)
		return key.Stamper(), err
	}
	text, err := secretfile.Read(cmd.Key)
	if err != nil {
		return nil, err
	}
	key, err := client.ParseKeyFile(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmd.Key, err)
	}
	return key.Stamper(), nil
}

// find returns the operation's path and, for activities, its newest version. A
// path that this binary does not know is left to the server.
func (cmd *requestCommand) find() (string, *activity.Activity, error) {
	catalog := ops.Catalog()
	name := cmd.Operation[strings.LastIndexByte(cmd.Operation, '/')+1:]
	if p := catalog.Path(name); p != nil {
		return "/public/v1/submit/" + name, p.Newest(), nil
	}
	if catalog.Query(name) != nil {
		return "/public/v1/query/" + name, nil, nil
	}
	if strings.HasPrefix(cmd.Operation, "/") {
		return cmd.Operation, nil, nil
	}
	return "", nil, fmt.Errorf("there is no operation %q; a path must begin with /", cmd.Operation)
}

// body is the request as it will be signed.
func (cmd *requestCommand) body(newest *activity.Activity, submit bool) ([]byte, error) {
	given, err := cmd.given()
	if err != nil || cmd.Exact {
		return given, err
	}
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(given, &members); err != nil {
		return nil, errors.New("the body must be a JSON object; --exact sends it as it is")
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

func (cmd *requestCommand) given() ([]byte, error) {
	switch file, isFile := strings.CutPrefix(cmd.Body, "@"); {
	case cmd.Body == "":
		return []byte("{}"), nil
	case cmd.Body == "-":
		return io.ReadAll(os.Stdin)
	case isFile:
		return os.ReadFile(file)
	}
	return []byte(cmd.Body), nil
}

// readable says a refusal the way a person wants to read it.
func readable(err error) error {
	var refusal *client.Error
	if !errors.As(err, &refusal) {
		return err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "refused with HTTP %d", refusal.Status)
	if refusal.Reason != "" {
		fmt.Fprintf(&text, " (%s)", refusal.Reason)
	}
	fmt.Fprintf(&text, "\n  %s", refusal.Message)
	var details []struct {
		Violations []fault.Field `json:"fieldViolations"`
	}
	if json.Unmarshal(refusal.Details, &details) == nil {
		for _, d := range details {
			for _, f := range d.Violations {
				fmt.Fprintf(&text, "\n  - %s: %s", f.Path, f.Description)
			}
		}
	}
	return errors.New(text.String())
}
