package policy

import (
	"fmt"

	"latchkey/internal/policy/fact"
)

// EvalError says why an expression has no value.
type EvalError struct {
	Place       Place
	Absent      bool // it reads what the request does not have
	Offset, End int
	Source      string // that part of the expression
	Reason      string
}

func (e *EvalError) Error() string {
	return fmt.Sprintf("%s, at offset %d: %s: %s", e.Place, e.Offset, e.Source, e.Reason)
}

// reason is why a node has no value; those up to lastAbsent mean that the
// request does not have what is read.
type reason uint8

const (
	absentRoot reason = iota
	absentField
	absentKey
	absentValue
	lastAbsent = absentValue

	badIndex reason = iota
	badSlice
	wrongKind
	unreadable
	untold
	noControl
	tooMuch
	noClock
)

// failure is a reason with the node that has no value.
type failure struct {
	node      *node // nil: there is none
	why       reason
	want, got fact.Kind // wrongKind
	more      string    // unreadable, untold
}

func (f *failure) absent() bool { return f.node != nil && f.why <= lastAbsent }

func (f *failure) text() string {
	switch f.why {
	case absentRoot:
		return "the request has none"
	case absentField:
		return "the request does not have it"
	case absentKey:
		return "there is no value of that name"
	case absentValue:
		return "the value is absent"
	case badIndex:
		return "the index is out of range"
	case badSlice:
		return "the bounds are negative or in the wrong order"
	case wrongKind:
		return fmt.Sprintf("expected %s, but the value is %s", kindName(f.want), kindName(f.got))
	case unreadable:
		return "the value cannot be compared: " + f.more
	case untold:
		return "it cannot be told: " + f.more
	case noControl:
		return "the organization has no velocity control with this identifier, or it cannot be read here"
	case noClock:
		return "the time is not known"
	default:
		return "evaluation takes too long"
	}
}

func kindName(k fact.Kind) string {
	names := [...]string{fact.Bool: "a bool", fact.Num: "a number", fact.Text: "a string", fact.List: "a list", fact.Struct: "a struct"}
	if int(k) < len(names) && names[k] != "" {
		return names[k]
	}
	return "something else"
}

func (e *Expr) explain(f *failure) *EvalError {
	return &EvalError{
		Place: e.place, Absent: f.absent(), Offset: f.node.pos, End: f.node.end,
		Source: piece(e.source, f.node.pos, f.node.end), Reason: f.text(),
	}
}

// fail records a failure. The first counts, but one of absence before any other:
// a policy that reads what is not there does not apply, whatever else is wrong.
func (m *machine) fail(n *node, why reason) bool {
	return m.record(failure{node: n, why: why})
}

// lacks records that the field n has no value in ref: the request does not have
// it, or does not tell it.
func (m *machine) lacks(n *node, ref any) bool {
	if n.field.untold != nil {
		if why := n.field.untold(ref); why != "" {
			return m.record(failure{node: n, why: untold, more: why})
		}
	}
	return m.fail(n, absentField)
}

func (m *machine) record(f failure) bool {
	if m.failed.node == nil || f.absent() && !m.failed.absent() {
		m.failed = f
	}
	return false
}

// requireKind reports whether the value is of the kind, and records a failure
// if not.
func (m *machine) requireKind(n *node, v *value, want fact.Kind) bool {
	switch v.kind {
	case want:
		return true
	case fact.Null:
		return m.fail(n, absentValue)
	case fact.Unreadable:
		return m.record(failure{node: n, why: unreadable, more: v.text.s})
	default:
		return m.record(failure{node: n, why: wrongKind, want: want, got: v.kind})
	}
}
