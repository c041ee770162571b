package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/schema"
)

// listOperations prints every operation with its summary.
func listOperations(out io.Writer, catalog *activity.Catalog) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, p := range catalog.Endpoints {
		fmt.Fprintf(table, "%s\tactivity\t%s\n", p.Name, p.Newest().Summary)
	}
	for _, q := range catalog.Queries {
		fmt.Fprintf(table, "%s\tquery\t%s\n", q.Name, q.Summary)
	}
	return table.Flush()
}

// describe prints what an operation takes and gives.
func (op *operation) describe(out io.Writer) error {
	parameters, gives, summary := op.schemas()
	fmt.Fprintf(out, "%s: %s\n\nPOST %s\n", op.name, summary, op.url())
	if op.path != nil {
		for _, v := range op.path.Versions {
			mark := ""
			if v == op.as && len(op.path.Versions) > 1 {
				mark = " (described here)"
			}
			fmt.Fprintf(out, "type %s%s\n", v.Type, mark)
		}
	}
	fmt.Fprint(out, "\nParameters\n")
	members(out, parameters)
	switch {
	case op.path == nil:
		fmt.Fprint(out, "  (organizationId is filled in unless it is given.)\n\nReply\n")
		members(out, gives)
	case op.as.Govern.By == decide.Vote:
		fmt.Fprint(out, "\nResult\n  that of the activity voted on\n")
	default:
		fmt.Fprint(out, "\nResult\n")
		members(out, gives)
	}
	if err := example(out, "Example", parameters.Example()); err != nil {
		return err
	}
	if bytes.Equal(parameters.Example(), parameters.ExampleFull()) {
		return nil
	}
	return example(out, "Example with everything that is optional", parameters.ExampleFull())
}

// example prints parameters with values that are made up.
func example(out io.Writer, title string, text []byte) error {
	value := jsontext.Value(text)
	if err := value.Indent(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%s\n%s\n", title, value)
	return err
}

func (op *operation) schemas() (parameters, gives *schema.Schema, summary string) {
	if op.path == nil {
		return op.query.Params, op.query.Reply, op.query.Summary
	}
	return op.as.Params, op.as.Result, op.as.Summary
}

// members prints one line for each member, and its description below.
func members(out io.Writer, s *schema.Schema) {
	var all []schema.Property
	elements := map[string]schema.Property{}
	s.Walk(func(p schema.Property) {
		if p.Element {
			elements[p.Parent] = p
		} else {
			all = append(all, p)
		}
	})
	if len(all) == 0 {
		fmt.Fprintln(out, "  none")
	}
	for _, p := range all {
		element, isArray := elements[p.Path]
		fmt.Fprintf(out, "  %s: %s\n      %s\n", strings.ReplaceAll(p.Path, ".0", "[]"), kind(p, element, isArray), p.Doc)
		values := p.Enum
		if isArray {
			values = element.Enum
		}
		if len(values) > 0 {
			fmt.Fprintf(out, "      One of %s.\n", strings.Join(values, ", "))
		}
	}
}

// kind says a value's type and bounds in words.
func kind(p, element schema.Property, isArray bool) string {
	words := []string{typeWord(p)}
	if isArray {
		words[0] = "array of " + typeWord(element)
	}
	if p.Required {
		words = append(words, "required")
	}
	unit := map[string]string{"string": " characters", "array": " elements"}[p.Type]
	switch {
	case p.HasMin && p.HasMax:
		words = append(words, fmt.Sprintf("%d to %d%s", p.Min, p.Max, unit))
	case p.HasMin:
		words = append(words, fmt.Sprintf("at least %d%s", p.Min, unit))
	case p.HasMax:
		words = append(words, fmt.Sprintf("at most %d%s", p.Max, unit))
	}
	if p.Unique {
		words = append(words, "none twice")
	}
	if len(p.OneOf) > 0 {
		words = append(words, "one of "+strings.Trim(fmt.Sprint(p.OneOf), "[]"))
	}
	return strings.Join(words, ", ")
}

func typeWord(p schema.Property) string {
	switch {
	case p.Type == "int64":
		return "64-bit number in a string"
	case p.Type == "raw" && p.ObjectOnly:
		return "any object"
	case p.Type == "raw":
		return "any value"
	case p.Format != "" && p.Format != "label": // every label is a short text
		return p.Format
	}
	return p.Type
}
