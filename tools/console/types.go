package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// schema is the part of JSON Schema that the OpenAPI document uses.
type schema struct {
	Ref        string            `json:"$ref"`
	Type       string            `json:"type"`
	Const      string            `json:"const"`
	Enum       []any             `json:"enum"`
	Items      *schema           `json:"items"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	OneOf      []schema          `json:"oneOf"`
	AnyOf      []schema          `json:"anyOf"`
	Latchkey   struct {
		Result    *schema `json:"result"`
		IntentKey string  `json:"intentKey"`
		ResultKey string  `json:"resultKey"`
	} `json:"x-latchkey"`
}

type content struct {
	Content struct {
		JSON struct {
			Schema schema `json:"schema"`
		} `json:"application/json"`
	} `json:"content"`
}

type document struct {
	Paths map[string]struct {
		Post struct {
			RequestBody content            `json:"requestBody"`
			Responses   map[string]content `json:"responses"`
		} `json:"post"`
	} `json:"paths"`
	Components struct {
		Schemas map[string]schema `json:"schemas"`
	} `json:"components"`
}

// interfaceTypes writes the types of the client: of each query its request and its
// reply, of each activity the parameters and the result of its newest version.
func interfaceTypes(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var doc document
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var b bytes.Buffer
	b.WriteString("// Written by make console from the OpenAPI document; do not edit.\n")
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		fmt.Fprintf(&b, "\nexport type %s = %s;\n", name, doc.Components.Schemas[name].typescript(""))
	}
	var queries, paths, activities, constants strings.Builder
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		operation := doc.Paths[path].Post
		request, reply := operation.RequestBody.Content.JSON.Schema, operation.Responses["200"].Content.JSON.Schema
		name := path[strings.LastIndexByte(path, '/')+1:]
		own, isOwn := strings.CutPrefix(path, "/latchkey/v1/")
		if isOwn {
			name = strings.ReplaceAll(own, "/", "_")
			fmt.Fprintf(&paths, "  %s: '%s',\n", name, path)
		}
		if len(request.OneOf) == 0 || isOwn {
			fmt.Fprintf(&queries, "  %s: { request: %s; reply: %s };\n", name, request.typescript("  "), reply.typescript("  "))
			continue
		}
		newest := request.OneOf[len(request.OneOf)-1]
		result := "Record<string, never>"
		if newest.Latchkey.Result != nil {
			result = newest.Latchkey.Result.typescript("  ")
		}
		fmt.Fprintf(&activities, "  %s: { parameters: %s; result: %s };\n", name, newest.Properties["parameters"].typescript("  "), result)
		fmt.Fprintf(&constants, "  %s: ['%s', '%s'],\n", name, newest.Properties["type"].Const, newest.Latchkey.ResultKey)
	}
	fmt.Fprintf(&b, "\nexport interface Queries {\n%s}\n", queries.String())
	b.WriteString("\n// Of each query that is not where the others are, its path.\n")
	fmt.Fprintf(&b, "export const ownPaths: Partial<Record<keyof Queries, string>> = {\n%s};\n", paths.String())
	fmt.Fprintf(&b, "\nexport interface Activities {\n%s}\n", activities.String())
	b.WriteString("\n// Of each activity, the type of its newest version and the member of its result.\n")
	fmt.Fprintf(&b, "export const activityTypes: Record<keyof Activities, [type: string, resultKey: string]> = {\n%s};\n", constants.String())
	return b.Bytes(), nil
}

func (s schema) typescript(indent string) string {
	switch {
	case s.Ref != "":
		return s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
	case s.Const != "":
		return "'" + s.Const + "'"
	case len(s.Enum) > 0:
		all := make([]string, len(s.Enum))
		for i, value := range s.Enum {
			if text, ok := value.(string); ok {
				all[i] = "'" + text + "'"
			} else {
				all[i] = fmt.Sprint(value)
			}
		}
		return strings.Join(all, " | ")
	case len(s.OneOf) > 0:
		return union(s.OneOf, indent)
	case len(s.Properties) > 0:
		return s.object(indent)
	case len(s.AnyOf) > 0:
		return union(s.AnyOf, indent)
	}
	switch s.Type {
	case "string", "boolean":
		return s.Type
	case "integer", "number":
		return "number"
	case "array":
		if s.Items == nil {
			return "unknown[]"
		}
		return "Array<" + s.Items.typescript(indent) + ">"
	case "object":
		return "Record<string, unknown>"
	}
	return "unknown"
}

func union(of []schema, indent string) string {
	all := make([]string, len(of))
	for i, s := range of {
		all[i] = s.typescript(indent)
	}
	return strings.Join(all, " | ")
}

func (s schema) object(indent string) string {
	var b strings.Builder
	b.WriteString("{\n")
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		optional := "?"
		if slices.Contains(s.Required, name) {
			optional = ""
		}
		fmt.Fprintf(&b, "%s  %s%s: %s;\n", indent, name, optional, s.Properties[name].typescript(indent+"  "))
	}
	b.WriteString(indent + "}")
	return b.String()
}
