package docgen

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"latchkey/internal/schema"
)

// member is one line of a table: a member of a JSON object, at any depth.
type member struct {
	name     string // with the way to it: users[].userName
	kind     string
	required string
	doc      string
}

// few is how many values of an enumeration are shown where they are used.
// Longer lists are in the index, once.
const few = 8

// values collects the long enumerations by the name of their heading.
type values map[string][]string

// members lists what an object may hold, in the order of the declaration.
func (v values) members(s *schema.Schema) []member {
	properties := map[string]schema.Property{}
	var order []string
	s.Walk(func(p schema.Property) {
		properties[p.Path] = p
		if !p.Element {
			order = append(order, p.Path)
		}
	})
	list := make([]member, len(order))
	for i, path := range order {
		p := properties[path]
		m := member{name: place(path), doc: p.Doc}
		if p.Type == "array" {
			m.kind = "array of " + v.kind(properties[path+".0"]) + limits(p, "element")
			if p.Unique {
				m.kind += ", none twice"
			}
		} else {
			m.kind = v.kind(p)
		}
		switch {
		case p.Lenient:
			m.required = "yes, but forgiven"
		case p.Required:
			m.required = "yes"
		}
		list[i] = m
	}
	return list
}

// place writes a path with [] for elements.
func place(path string) string { return strings.ReplaceAll(path, ".0", "[]") }

// kind says what a value is. Other schemas know more forms of text than JSON.
func (v values) kind(p schema.Property) string {
	switch {
	case len(p.Enum) > few && beginning(p.Enum) != "":
		return v.link(p.Enum)
	case p.Enum != nil:
		return "`" + strings.Join(p.Enum, "`, `") + "`"
	case p.OneOf != nil:
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(p.OneOf), " ", ", "), "[]")
	}
	switch p.Type {
	case "string":
		text := formats[p.Format] + limits(p, "character")
		if p.AllowEmpty {
			text += "; may be empty"
		}
		return text
	case "integer":
		return "integer" + limits(p, "")
	case "int64":
		return "string of digits" + limits(p, "")
	case "raw":
		if p.ObjectOnly {
			return "object"
		}
		return "any"
	default:
		return p.Type
	}
}

var formats = map[string]string{
	"": "string", "label": "string", "uuid": "UUID", "hex": "hex string", "email": "e-mail address", "e164": "phone number (E.164)",
}

func limits(p schema.Property, unit string) string {
	if unit != "" {
		unit = " " + unit + "s"
	}
	switch {
	case p.HasMin && p.HasMax && p.Min == p.Max:
		return fmt.Sprintf(", %d%s", p.Min, unit)
	case p.HasMin && p.HasMax:
		return fmt.Sprintf(", %d to %d%s", p.Min, p.Max, unit)
	case p.HasMin:
		return fmt.Sprintf(", at least %d%s", p.Min, unit)
	case p.HasMax:
		return fmt.Sprintf(", at most %d%s", p.Max, unit)
	}
	return ""
}

// link refers to a long enumeration, and remembers it. Its heading is what its
// values begin with.
func (v values) link(enum []string) string {
	name := beginning(enum)
	if known := v[name]; known != nil && !slices.Equal(known, enum) {
		panic(fmt.Sprintf("docgen: %s is the heading of two different enumerations", name))
	}
	v[name] = enum
	return fmt.Sprintf("one of [%d `%s_…`](README.md#%s)", len(enum), name, strings.ToLower(name))
}

// beginning is the words that all values begin with.
func beginning(enum []string) string {
	common := enum[0]
	for _, value := range enum {
		for !strings.HasPrefix(value, common) {
			common = common[:strings.LastIndexByte(strings.TrimSuffix(common, "_"), '_')+1]
		}
	}
	return strings.TrimSuffix(common, "_")
}

func (v values) String() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(v)) {
		fmt.Fprintf(&b, "### %s\n\n`%s`\n\n", name, strings.Join(v[name], "`, `"))
	}
	return b.String()
}

// table renders the members of a request, which are required or not, or those of
// a reply, which are always there or not.
func table(list []member, required string) string {
	if len(list) == 0 {
		return "None.\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| member | type | %s | |\n|---|---|---|---|\n", required)
	for _, m := range list {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.name, cell(m.kind), m.required, cell(m.doc))
	}
	return b.String()
}

const (
	ofRequest = "required"
	ofReply   = "always there"
)

func cell(s string) string { return strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ").Replace(s) }
