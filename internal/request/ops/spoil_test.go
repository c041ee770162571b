package ops_test

import (
	"reflect"
	"strconv"
	"strings"

	"latchkey/internal/schema"
)

// This file makes bad values of declarations.

func newValue(s *schema.Schema) any { return reflect.New(s.Type()).Interface() }

func wrongType(p schema.Property) any {
	if p.Type == "boolean" {
		return "true"
	}
	return true
}

// badValues are values of the right type that the declaration forbids.
func badValues(p schema.Property) map[string]any {
	bad := map[string]any{}
	switch p.Type {
	case "string":
		bad["U+0000"] = "a\x00b"
		if p.Required && !p.AllowEmpty {
			bad["empty"] = ""
		}
		if p.HasMax {
			bad["too long"] = strings.Repeat("a", p.Max+1)
		}
		if len(p.Enum) > 0 {
			bad["not in the enumeration"] = "NO_SUCH_VALUE"
			bad["other case"] = strings.ToLower(p.Enum[0]) + "_"
		}
		switch p.Format {
		case "label":
			bad["too long"] = strings.Repeat("a", 257)
			bad["control character"] = "a\x07b"
			bad["outer space"] = " a "
		case "uuid":
			bad["no UUID"] = "0192aaaa"
		case "hex":
			bad["no hex"] = "xyz0"
		case "email":
			bad["no address"] = "nobody"
			bad["with a name"] = "Some One <someone@example.com>"
		case "e164":
			bad["no number"] = "0171"
		}
	case "integer":
		if p.HasMax {
			bad["too large"] = p.Max + 1
		}
		if p.HasMin {
			bad["too small"] = p.Min - 1
		}
		bad["fraction"] = 1.5
	case "int64":
		if p.HasMax {
			bad["too large"] = strconv.Itoa(p.Max + 1)
		}
		if p.HasMin {
			bad["too small"] = strconv.Itoa(p.Min - 1)
		}
		bad["negative"] = "-1"
		bad["no number"] = "many"
		bad["overflow"] = "18446744073709551616"
	case "array":
		if p.HasMin && p.Min > 0 {
			bad["too few"] = []any{}
		}
	}
	return bad
}

// reachable reports whether the document has a value at path.
func reachable(root any, path string) bool {
	at := root
	for _, step := range strings.Split(path, ".") {
		switch v := at.(type) {
		case map[string]any:
			next, ok := v[step]
			if !ok {
				return false
			}
			at = next
		case []any:
			i, _ := strconv.Atoi(step)
			if i >= len(v) {
				return false
			}
			at = v[i]
		default:
			return false
		}
	}
	return true
}

// assign sets the value at path, whose parent exists.
func assign(root any, path string, v any) {
	edit(root, path, func(m map[string]any, name string) { m[name] = v }, v)
}

// remove deletes the member at path.
func remove(root any, path string) {
	edit(root, path, func(m map[string]any, name string) { delete(m, name) }, nil)
}

func edit(root any, path string, member func(map[string]any, string), element any) {
	steps := strings.Split(path, ".")
	at := root
	for _, step := range steps[:len(steps)-1] {
		switch v := at.(type) {
		case map[string]any:
			at = v[step]
		case []any:
			i, _ := strconv.Atoi(step)
			at = v[i]
		}
	}
	last := steps[len(steps)-1]
	switch v := at.(type) {
	case map[string]any:
		member(v, last)
	case []any:
		i, _ := strconv.Atoi(last)
		v[i] = element
	}
}
