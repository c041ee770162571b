package clientgen

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// render writes the declaration of a struct.
func (o *object) render(text *strings.Builder) {
	text.WriteString("\n" + comment(o.doc, ""))
	if len(o.fields) == 0 {
		fmt.Fprintf(text, "type %s struct{}\n", o.name)
		return
	}
	fmt.Fprintf(text, "type %s struct {\n", o.name)
	for _, f := range o.fields {
		text.WriteString(comment(f.doc, "\t"))
		fmt.Fprintf(text, "\t%s %s `json:%q`\n", f.name, f.typ, f.wire+f.options)
	}
	text.WriteString("}\n")
}

// records renders the structs that operations share.
func (m *model) records() string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m.shared)) {
		o := m.shared[name]
		o.doc = fmt.Sprintf("%s is a record that operations share.", name)
		if strings.HasSuffix(name, "Parameters") {
			o.doc = fmt.Sprintf("%s are a part of the parameters of operations.", name)
		}
		o.render(&text)
	}
	return text.String()
}

// enumerations renders the string types.
func (m *model) enumerations() string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m.enums)) {
		e := m.enums[name]
		fmt.Fprintf(&text, "\n// %s is one of the values below; a newer server may know more.\ntype %s string\n", name, name)
		fmt.Fprintf(&text, "\n// The values of %s.\nconst (\n", name)
		for _, v := range e.values {
			fmt.Fprintf(&text, "\t%s %s = %q\n", valueName(e, v), name, v)
		}
		text.WriteString(")\n")
	}
	return text.String()
}

// width is that of comments, without indentation.
const width = 88

// comment breaks a text into lines.
func comment(text, indent string) string {
	var out strings.Builder
	line := ""
	flush := func() { out.WriteString(indent + "//" + line + "\n") }
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			flush()
			line = ""
		}
		line += " " + word
	}
	flush()
	return out.String()
}
