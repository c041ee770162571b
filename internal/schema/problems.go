package schema

import (
	"fmt"

	"latchkey/internal/fault"
)

// maxProblems bounds the reply to a request with very many problems.
const maxProblems = 50

// Problems collects what is wrong with one object. The zero value is ready.
type Problems struct {
	prefix string
	root   *Problems // nil in the root itself
	list   []fault.Field
}

// Add reports a problem at path, relative to the object that is checked; ""
// is the object itself. The description must not repeat a value of the
// request, which may be a secret.
func (p *Problems) Add(path, format string, args ...any) {
	root := p
	if p.root != nil {
		root = p.root
	}
	if len(root.list) < maxProblems {
		root.list = append(root.list, fault.Field{Path: join(p.prefix, path), Description: fmt.Sprintf(format, args...)})
	}
}

// At returns a view of p whose paths start at path; what is added to the view
// is added to p.
func (p *Problems) At(path string) *Problems {
	root := p
	if p.root != nil {
		root = p.root
	}
	return &Problems{prefix: join(p.prefix, path), root: root}
}

// Fields returns the problems in the order in which they were added.
func (p *Problems) Fields() []fault.Field {
	if p.root != nil {
		return p.root.list
	}
	return p.list
}

// checker is implemented by structs with rules that tags cannot state. Check
// runs only on a struct whose members are all valid.
type checker interface{ Check(p *Problems) }

func join(prefix, path string) string {
	switch {
	case prefix == "":
		return path
	case path == "":
		return prefix
	}
	return prefix + "." + path
}
