package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"syscall"

	"github.com/go-json-experiment/json/jsontext"

	"latchkey/client"
	"latchkey/internal/fault"
	"latchkey/internal/secretfile"
)

// connection is how commands reach a server, and as which user.
type connection struct {
	Data         string `default:"./latchkey-data" placeholder:"DIR" help:"Data folder of a dev server; gives what the other flags leave out. Default: ${default}."`
	URL          string `placeholder:"URL" help:"Base address of the server."`
	Key          string `placeholder:"FILE" help:"Key file, as 'latchkey keygen --out' writes it."`
	Organization string `placeholder:"ID" help:"Organization to act in."`
}

// complete takes what no flag gave from the dev server's file.
func (c *connection) complete() error {
	if c.URL != "" && c.Key != "" && c.Organization != "" {
		return nil
	}
	dev, err := readDevFile(c.Data)
	if err != nil {
		if c.URL != "" && c.Key != "" {
			return nil // the body may name the organization
		}
		return fmt.Errorf("give --url and --key, or --data with the folder of a dev server: %w", err)
	}
	if c.URL == "" {
		c.URL = dev.BaseURL
	}
	if c.Organization == "" {
		c.Organization = dev.OrganizationID
	}
	return nil
}

func (c *connection) stamper() (client.Stamper, error) {
	if c.Key == "" {
		dev, err := readDevFile(c.Data)
		if err != nil {
			return nil, err
		}
		key, err := client.ParsePrivateKey(client.P256, dev.APIPrivateKey)
		return key.Stamper(), err
	}
	text, err := secretfile.Read(c.Key)
	if err != nil {
		return nil, err
	}
	key, err := client.ParseKeyFile(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Key, err)
	}
	return key.Stamper(), nil
}

// client is a client of the server, with what the flags and the dev server's
// file say.
func (c *connection) client() (*client.Client, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	if err := checkURL(c.URL); err != nil {
		return nil, err
	}
	stamper, err := c.stamper()
	if err != nil {
		return nil, err
	}
	return &client.Client{BaseURL: c.URL, Stamper: stamper, OrganizationID: c.Organization}, nil
}

// jsonProblem says why a text is not JSON, and where; nil: it is.
func jsonProblem(text []byte) error {
	if jsontext.Value(text).IsValid() {
		return nil
	}
	first := strings.TrimSpace(string(text))
	if yaml := regexp.MustCompile(`^(---|#|- |[A-Za-z_][A-Za-z0-9_]*:(\s|$))`); yaml.MatchString(first) {
		return errors.New("this looks like YAML; write JSON, such as {\"name\": \"value\"}")
	}
	d := jsontext.NewDecoder(bytes.NewReader(text))
	if _, err := d.ReadValue(); err != nil {
		at := min(int(d.InputOffset()), len(text))
		var syntax *jsontext.SyntacticError
		if errors.As(err, &syntax) {
			at = min(int(syntax.ByteOffset), len(text))
		}
		before := text[:at]
		line := bytes.Count(before, []byte("\n")) + 1
		column := at - (bytes.LastIndexByte(before, '\n') + 1) + 1
		return fmt.Errorf("line %d, column %d is not JSON", line, column)
	}
	return errors.New("there is more after the end of the value")
}

// checkURL refuses what is no address of a server.
func checkURL(text string) error {
	if strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://") {
		return nil
	}
	return fmt.Errorf("--url must begin with http:// or https://; is http://%s meant?", strings.TrimPrefix(text, "//"))
}

// readText gives the text of an argument: @FILE is in a file, - on standard
// input, and none is an empty object.
func readText(argument string) ([]byte, error) {
	switch file, isFile := strings.CutPrefix(argument, "@"); {
	case argument == "":
		return []byte("{}"), nil
	case argument == "-":
		return io.ReadAll(os.Stdin)
	case isFile:
		return os.ReadFile(file)
	}
	return []byte(argument), nil
}

// printReply shows a reply to people.
func printReply(reply []byte) error {
	value := jsontext.Value(reply)
	if err := value.Indent(); err != nil {
		return fmt.Errorf("the reply is not JSON: %w", err)
	}
	fmt.Println(value)
	return nil
}

// readable says a refusal the way a person wants to read it.
func readable(err error) error {
	var doubt *doubtError
	if errors.As(err, &doubt) {
		return fmt.Errorf("%w\n  %s", readable(doubt.error), doubt.advice)
	}
	var refusal *client.Error
	if !errors.As(err, &refusal) {
		if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF) {
			return fmt.Errorf("%w; if this port speaks TLS, the address begins with https://", err)
		}
		return err
	}
	head := fmt.Sprintf("refused with HTTP %d", refusal.Status)
	if refusal.Reason != "" {
		head += fmt.Sprintf(" (%s)", refusal.Reason)
	}
	var fields []fault.Field
	for _, f := range refusal.Fields() {
		fields = append(fields, fault.Field(f))
	}
	return problems(head, refusal.Message, fields)
}

// problems lists what is wrong, all of it.
func problems(head, message string, fields []fault.Field) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n  %s", head, message)
	for _, f := range fields {
		if f.Path == "" { // the whole, of which the message speaks
			continue
		}
		fmt.Fprintf(&text, "\n  - %s: %s", f.Path, f.Description)
	}
	return errors.New(text.String())
}
