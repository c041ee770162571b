package policy

import (
	"strconv"
	"strings"
)

// How tightly operators bind; an operand that binds less needs brackets.
const (
	bindOr = iota
	bindAnd
	bindComparison
	bindNot
	bindPostfix
)

var signOf = map[op]string{
	opEqual: "==", opNotEqual: "!=", opLess: "<", opGreater: ">", opLessEqual: "<=", opGreaterEqual: ">=", opIn: "in",
}

// String is the expression in its canonical form: one spelling for whatever
// differs only in spaces, brackets, leading zeros and count without brackets.
// Compiling it gives an expression that means the same (its length aside, which
// spaces may bring above the cap).
func (e *Expr) String() string { return e.top.String() }

func (n *node) String() string {
	var b strings.Builder
	n.print(&b, bindOr)
	return b.String()
}

// print writes n where an operand must bind at least as tightly as least.
func (n *node) print(b *strings.Builder, least int) {
	own := bindPostfix
	switch n.op {
	case opOr:
		own = bindOr
	case opAnd:
		own = bindAnd
	case opNot:
		own = bindNot
	default:
		if signOf[n.op] != "" {
			own = bindComparison
		}
	}
	if own < least {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	switch n.op {
	case opOr:
		join(b, n.args, " || ", bindAnd)
	case opAnd:
		join(b, n.args, " && ", bindComparison)
	case opNot:
		b.WriteByte('!')
		n.x.print(b, bindNot)
	case opText:
		b.WriteString("'" + n.text + "'")
	case opNumber:
		b.WriteString(n.number.String())
	case opBool:
		b.WriteString(strconv.FormatBool(n.flag))
	case opList:
		b.WriteByte('[')
		join(b, n.args, ", ", bindOr)
		b.WriteByte(']')
	case opLower, opTimestamp, opCronSpan, opCall:
		b.WriteString(n.name + "(")
		if n.x != nil {
			n.x.print(b, bindOr)
		}
		join(b, n.args, ", ", bindOr)
		b.WriteByte(')')
	case opIndex, opSlice, opKey:
		n.x.print(b, bindPostfix)
		b.WriteByte('[')
		n.y.print(b, bindOr)
		if n.z != nil {
			b.WriteString("..")
			n.z.print(b, bindOr)
		}
		b.WriteByte(']')
	case opField, opCount, opContains, opAny, opAll, opFilter:
		n.x.print(b, bindPostfix)
		n.printMember(b)
	default:
		if sign := signOf[n.op]; sign != "" {
			n.x.print(b, bindNot)
			b.WriteString(" " + sign + " ")
			n.y.print(b, bindNot)
			return
		}
		b.WriteString(n.name) // roots and variables
	}
}

func (n *node) printMember(b *strings.Builder) {
	switch n.op {
	case opField:
		b.WriteString("." + n.name)
	case opCount:
		b.WriteString(".count()")
	case opContains:
		b.WriteString(".contains(")
		n.y.print(b, bindOr)
		b.WriteByte(')')
	default:
		b.WriteString("." + map[op]string{opAny: "any", opAll: "all", opFilter: "filter"}[n.op] + "(" + n.name + ", ")
		n.y.print(b, bindOr)
		b.WriteByte(')')
	}
}

func join(b *strings.Builder, args []*node, between string, least int) {
	for i, a := range args {
		if i > 0 {
			b.WriteString(between)
		}
		a.print(b, least)
	}
}

func (a number) String() string {
	w := a.wide()
	return w.String()
}
