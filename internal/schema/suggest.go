package schema

import "latchkey/internal/suggest"

// nearest returns the known name that the client most likely meant, or "".
func (o *object) nearest(name string) string {
	const longest = 64 // what is longer is no slip of the pen
	if len(name) > longest {
		return ""
	}
	most := 2
	if len(name) < 5 {
		most = 1 // in a short name two changes make another word
	}
	known := make([]string, len(o.fields))
	for i := range o.fields {
		known[i] = o.fields[i].name
	}
	return suggest.Name(name, most, known)
}
