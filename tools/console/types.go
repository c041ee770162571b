package main

import (
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

// interfaceTypes writes the types of the client, by the names of their files: the
// models; of each query its request and its reply; of each activity the parameters and
// the result of its newest version.
func interfaceTypes(file string) (map[string][]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var doc document
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	queries, activities := newModule(), newModule()
	queries.WriteString("\nexport interface Queries {\n")
	activities.WriteString("\nexport interface Activities {\n")
	var paths, constants strings.Builder
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
			fmt.Fprintf(queries, "  %s: { request: %s; reply: %s };\n", name, queries.typescript(request, "  "), queries.typescript(reply, "  "))
			continue
		}
		newest := request.OneOf[len(request.OneOf)-1]
		result := "Record<string, never>"
		if newest.Latchkey.Result != nil {
			result = activities.typescript(*newest.Latchkey.Result, "  ")
		}
		fmt.Fprintf(activities, "  %s: { parameters: %s; result: %s };\n", name, activities.typescript(newest.Properties["parameters"], "  "), result)
		fmt.Fprintf(&constants, "  %s: ['%s', '%s'],\n", name, newest.Properties["type"].Const, newest.Latchkey.ResultKey)
	}
	queries.WriteString("}\n\n// Of each query that is not where the others are, its path.\n")
	fmt.Fprintf(queries, "export const ownPaths: Partial<Record<keyof Queries, string>> = {\n%s};\n", paths.String())
	activities.WriteString("}\n\n// Of each activity, the type of its newest version and the member of its result.\n")
	fmt.Fprintf(activities, "export const activityTypes: Record<keyof Activities, [type: string, resultKey: string]> = {\n%s};\n", constants.String())
	return map[string][]byte{
		"models.ts": modelsOf(doc.Components.Schemas, queries, activities), "queries.ts": queries.text(), "activities.ts": activities.text(),
	}, nil
}

// module is a file of types.
type module struct {
	strings.Builder
	models map[string]bool // that it names
}

func newModule() *module { return &module{models: map[string]bool{}} }

const head = "// Written by make console from the OpenAPI document; do not edit.\n"

// text is the file; it imports the models that it names.
func (m *module) text() []byte {
	imports := ""
	if len(m.models) > 0 {
		imports = fmt.Sprintf("\nimport type {\n  %s,\n} from './models';\n", strings.Join(slices.Sorted(maps.Keys(m.models)), ",\n  "))
	}
	return []byte(head + imports + m.String())
}

// modelsOf is the file of those schemas that modules name, and that these name. The
// others are of versions before the newest.
func modelsOf(schemas map[string]schema, modules ...*module) []byte {
	types := map[string]string{}
	var add func(m *module)
	add = func(m *module) {
		for name := range m.models {
			if _, there := types[name]; there {
				continue
			}
			types[name] = "" // it may name itself
			inside := newModule()
			types[name] = inside.typescript(schemas[name], "")
			add(inside)
		}
	}
	for _, m := range modules {
		add(m)
	}
	var b strings.Builder
	b.WriteString(head)
	for _, name := range slices.Sorted(maps.Keys(types)) {
		fmt.Fprintf(&b, "\nexport type %s = %s;\n", name, types[name])
	}
	return []byte(b.String())
}

func (m *module) typescript(s schema, indent string) string {
	switch {
	case s.Ref != "":
		name := s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
		m.models[name] = true
		return name
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
		return m.union(s.OneOf, indent)
	case len(s.Properties) > 0:
		return m.object(s, indent)
	case len(s.AnyOf) > 0:
		return m.union(s.AnyOf, indent)
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
		return "Array<" + m.typescript(*s.Items, indent) + ">"
	case "object":
		return "Record<string, unknown>"
	}
	return "unknown"
}

func (m *module) union(of []schema, indent string) string {
	all := make([]string, len(of))
	for i, s := range of {
		all[i] = m.typescript(s, indent)
	}
	return strings.Join(all, " | ")
}

// lineWidth is up to where an object is on one line.
const lineWidth = 100

func (m *module) object(s schema, indent string) string {
	var members []string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		optional := "?"
		if slices.Contains(s.Required, name) {
			optional = ""
		}
		members = append(members, fmt.Sprintf("%s%s: %s", name, optional, m.typescript(s.Properties[name], indent+"  ")))
	}
	line := "{ " + strings.Join(members, "; ") + " }"
	if len(indent)+len(line) <= lineWidth && !strings.Contains(line, "\n") {
		return line
	}
	separator := ";\n" + indent
	return "{\n" + indent + "  " + strings.Join(members, separator+"  ") + separator + "}"
}
