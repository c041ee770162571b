package policy

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"latchkey/internal/policy/fact"
)

// Step is the value of one part of an expression.
type Step struct {
	Offset, End int
	Source      string
	Bound       string // inside a quantifier: the elements that it is about
	Value       string
	Err         *EvalError // instead of a value
}

// The caps on what is shown. An expression for which the budget does not suffice
// has fewer steps.
const (
	maxSteps    = 2000
	maxElements = 20  // of one list
	maxText     = 200 // bytes of one string
	maxLevels   = 3   // of an argument value
)

// Trace evaluates the expression and every part of it that is not a literal,
// the whole first. Parts inside quantifiers appear once for each element.
func (e *Expr) Trace(env *Env) []Step {
	t := tracer{expr: e}
	t.machine.load(env)
	if t.machine.budget == nil {
		t.machine.budget = NewBudget(context.Background())
	}
	t.trace(e.top)
	t.machine.end(e.top)
	return t.steps
}

type tracer struct {
	expr    *Expr
	machine machine
	bound   []string
	steps   []Step
}

func (t *tracer) trace(n *node) {
	m := &t.machine
	if n.literal() || len(t.steps) == maxSteps || !m.begin(n) {
		return
	}
	s := Step{Offset: n.pos, End: n.end, Source: t.expr.source[n.pos:n.end], Bound: strings.Join(t.bound, ", ")}
	var text string
	if n == t.expr.top { // it must be true or false, even if it is an argument value
		b, _ := m.boolean(n)
		text = strconv.FormatBool(b)
	} else {
		text = m.render(n)
	}
	if m.failed.node != nil {
		s.Err = t.expr.explain(&m.failed)
	} else {
		s.Value = text
	}
	m.end(n)
	m.budget.take(len(s.Source) + len(s.Bound) + len(s.Value))
	t.steps = append(t.steps, s)
	if !n.quantifier() {
		n.children(t.trace)
		return
	}
	t.trace(n.x)
	index := 0
	m.each(n.x, n.slot, func() bool {
		if index < maxElements {
			saved := m.variables
			t.bound = append(t.bound, fmt.Sprintf("%s = %s[%d]", n.name, t.expr.source[n.x.pos:n.x.end], index))
			t.trace(n.y)
			t.bound = t.bound[:len(t.bound)-1]
			m.variables = saved
		}
		index++
		return true
	})
}

// render evaluates n and writes its value down.
func (m *machine) render(n *node) string {
	switch n.typ.kind {
	case kindBool:
		b, _ := m.boolean(n)
		return strconv.FormatBool(b)
	case kindTime:
		t, _ := m.instant(n)
		return t.UTC().Format(time.RFC3339Nano)
	case kindList:
		var all []string
		count := 0
		m.each(n, scratch, func() bool {
			if count++; count <= maxElements {
				all = append(all, m.variables[scratch].render(n.typ.elem, 1))
			}
			return true
		})
		return brackets(all, count)
	default:
		v, _ := m.value(n)
		return v.render(n.typ, 0)
	}
}

// brackets shows the first elements of a list of count.
func brackets(all []string, count int) string {
	if more := count - len(all); more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func (v *value) render(t *typ, level int) string {
	if level == maxLevels {
		return "…"
	}
	switch v.kind {
	case fact.Bool:
		return strconv.FormatBool(v.flag)
	case fact.Num:
		return v.number.String()
	case fact.Text:
		s := v.text.s
		cut := len(s) > maxText
		if cut {
			s = strings.ToValidUTF8(s[:maxText], "")
		}
		if v.text.lower {
			s = strings.Map(func(r rune) rune {
				if r < 0x80 {
					return rune(lower(byte(r)))
				}
				return r
			}, s)
		}
		if cut {
			s += "…"
		}
		return "'" + s + "'"
	case fact.List:
		var all []string
		count := 0
		if list, ok := v.ref.(*[]fact.Value); ok {
			count = int(v.to - v.from)
			for i := range min(count, maxElements) {
				e := argumentOf(&(*list)[int(v.from)+i])
				all = append(all, e.render(argumentType, level+1))
			}
		}
		return brackets(all, count)
	case fact.Struct:
		fields, ok := v.ref.(*fact.Map)
		if !ok {
			return t.name
		}
		var all []string
		for i := range min(len(*fields), maxElements) {
			e := argumentOf(&(*fields)[i].Value)
			all = append(all, (*fields)[i].Name+": "+e.render(argumentType, level+1))
		}
		text := brackets(all, len(*fields))
		return "{" + text[1:len(text)-1] + "}"
	case fact.Unreadable:
		return "(" + v.text.s + ")"
	default:
		return "(absent)"
	}
}
