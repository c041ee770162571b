package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
)

var (
	root    = regexp.MustCompile("^\\*\\*`([^`]+)`\\*\\*: (.+)$")
	row     = regexp.MustCompile("^\\| `([^`]+)` \\| (.+) \\|$")
	code    = regexp.MustCompile("`([^`]+)`")
	heading = regexp.MustCompile(`^### Of an? (\w+)`)
)

// field is what the editor completes.
type field struct {
	Name   string   `json:"name"`
	Kind   string   `json:"kind"`
	Of     string   `json:"of"` // condition, consensus or time
	Values []string `json:"values,omitempty"`
}

// policyFields reads the fields that a policy may name from the tables that docgen
// has made of the code.
func policyFields(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	_, part, _ := strings.Cut(string(text), "<!-- generated: fields -->")
	part, _, ok := strings.Cut(part, "<!-- end: fields -->")
	if !ok {
		return nil, errors.New(file + " has no part with the fields")
	}
	var fields []field
	var of, above string
	for line := range strings.Lines(part) {
		line = strings.TrimSpace(line)
		if m := heading.FindStringSubmatch(line); m != nil {
			of = m[1]
		} else if m := root.FindStringSubmatch(line); m != nil {
			above = m[1]
			if strings.HasPrefix(m[2], "list") {
				above += "[]"
			}
			fields = append(fields, field{Name: m[1], Kind: m[2], Of: of})
		} else if m := row.FindStringSubmatch(line); m != nil {
			// The services behind these are not served.
			if strings.Contains(m[2], "Spark") || strings.Contains(m[1], ".signatures[]") || strings.Contains(m[1], ".transfer.") ||
				strings.Contains(m[1], ".claim.") || strings.Contains(m[1], ".lightning_receive.") {
				continue
			}
			kind, values, _ := strings.Cut(strings.NewReplacer("&lt;", "<", "&gt;", ">").Replace(m[2]), ":")
			f := field{Name: above + "." + m[1], Kind: kind, Of: of}
			for _, v := range code.FindAllStringSubmatch(values, -1) {
				f.Values = append(f.Values, v[1])
			}
			fields = append(fields, f)
		}
	}
	if len(fields) < 50 {
		return nil, fmt.Errorf("%s: only %d fields were found", file, len(fields))
	}
	var b bytes.Buffer
	b.WriteString("// Written by make console from docs/policy-language.md; do not edit.\n")
	b.WriteString("export interface Field {\n  name: string;\n  kind: string;\n  of: string;\n  values?: string[];\n}\n\n")
	b.WriteString("export const fields: Field[] = [\n")
	for _, f := range fields {
		text, err := json.Marshal(f)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "  %s,\n", text)
	}
	b.WriteString("];\n")
	return b.Bytes(), nil
}
