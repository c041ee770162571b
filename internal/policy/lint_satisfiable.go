package policy

import (
	"math/big"
	"slices"
	"strings"
)

// constant reports whether the node reads nothing, so that it has one value.
func constant(n *node) bool {
	reads := false
	n.visit(func(c *node) {
		switch c.op {
		case opRoot, opApprovers, opCredentials, opNow, opVariable, opCronSpan, opField, opControl:
			reads = true
		}
	})
	return !reads
}

// constantValue is the value of a constant predicate.
func constantValue(n *node) (value, known bool) {
	if !constant(n) || n.typ.kind != kindBool {
		return false, false
	}
	var m machine
	return m.boolean(n)
}

// unsatisfiablePart returns the part of n because of which n can never be true,
// or nil. It finds the obvious cases, not all.
func unsatisfiablePart(n *node) *node {
	if value, known := constantValue(n); known {
		if value {
			return nil
		}
		return n
	}
	switch n.op {
	case opAnd:
		for _, c := range n.args {
			if bad := unsatisfiablePart(c); bad != nil {
				return bad
			}
		}
		return contradiction(n, false)
	case opOr:
		for _, c := range n.args {
			if unsatisfiablePart(c) == nil {
				return nil
			}
		}
		return n
	case opNot:
		if alwaysTrue(n.x) {
			return n
		}
	case opAny:
		return unsatisfiablePart(n.y)
	case opIn, opContains:
		list := n.y
		if n.op == opContains {
			list = n.x
		}
		if list.op == opList && len(list.args) == 0 {
			return n
		}
	default:
		if r, ok := rangeOf(n); ok && !r.satisfiable() {
			return n
		}
		if badBounds(n) {
			return n
		}
	}
	return nil
}

// alwaysTrue reports whether n is obviously true for every request and voter.
func alwaysTrue(n *node) bool {
	if value, known := constantValue(n); known {
		return value
	}
	switch n.op {
	case opAnd:
		return !slices.ContainsFunc(n.args, func(c *node) bool { return !alwaysTrue(c) })
	case opOr:
		return slices.ContainsFunc(n.args, alwaysTrue)
	case opNot:
		return unsatisfiablePart(n.x) != nil
	case opAll:
		return alwaysTrue(n.y)
	}
	_, least, ok := minimumCount(n)
	return ok && least <= 0
}

// minimumCount reads a comparison that requires a number of elements of a list.
func minimumCount(n *node) (list *node, least int64, ok bool) {
	x, y, o := n.x, n.y, n.op
	if y != nil && y.op == opCount {
		x, y, o = y, x, mirrored(o)
	}
	if x == nil || x.op != opCount || y == nil || y.op != opNumber {
		return nil, 0, false
	}
	least = int64(y.number.position()) // of any negative number -1
	switch o {
	case opGreaterEqual:
		return x.x, least, true
	case opGreater:
		return x.x, least + 1, true
	case opEqual:
		return x.x, least, least > 0 // == 0 requires none
	default:
		return nil, 0, false
	}
}

// badBounds reports whether n reads x[a] or x[a..b] with literals that no x has. What
// is inside of a quantifier is not counted: its list may be empty.
func badBounds(n *node) bool {
	switch {
	case n.quantifier():
		return badBounds(n.x)
	case n.op == opIndex && n.y.op == opNumber && n.y.number.position() < 0:
		return true
	case n.op == opSlice && n.y.op == opNumber && n.z.op == opNumber && n.y.number.compare(n.z.number) > 0:
		return true
	case n.op == opSlice && n.y.op == opNumber && n.y.number.position() < 0:
		return true
	}
	bad := false
	n.children(func(c *node) { bad = bad || badBounds(c) })
	return bad
}

// valueRange is what one comparison, or several, leave possible for a subject.
type valueRange struct {
	subject       string   // in its canonical form
	aliased       bool     // it may be equal to several texts at once
	only          []string // the texts that it can be; nil: any
	not           []string
	min, max      *big.Int // of a number, or of a timestamp in nanoseconds, inclusive; nil: no bound
	flag          *bool
	contradictory bool
}

func (r *valueRange) satisfiable() bool {
	left := 0
	for _, text := range r.only {
		if !slices.Contains(r.not, text) {
			left++
		}
	}
	return !r.contradictory && (r.only == nil || left > 0) && (r.min == nil || r.max == nil || r.min.Cmp(r.max) <= 0)
}

// rangeOf reads a comparison with literals.
func rangeOf(n *node) (valueRange, bool) {
	x, y, o := n.x, n.y, n.op
	if x != nil && isWrittenConstant(x) && y != nil && o != opIn && o != opContains {
		x, y, o = y, x, mirrored(o)
	}
	switch {
	case n.typ.kind != kindBool:
		return valueRange{}, false
	case n.op == opField || n.op == opVariable || n.op == opControl:
		yes := true
		return valueRange{subject: n.String(), flag: &yes}, true
	case n.op == opNot && (n.x.op == opField || n.x.op == opVariable || n.x.op == opControl):
		no := false
		return valueRange{subject: n.x.String(), flag: &no}, true
	case x == nil || y == nil || n.as == nil || isWrittenConstant(x):
		return valueRange{}, false
	}
	r := valueRange{subject: x.String(), aliased: x.op == opField && x.field.others != nil}
	argued := x.typ.kind == kindArgument // whether its case counts is not known
	spell := func(c *node) string {
		if argued || x.typ.fold || x.op == opLower {
			return strings.ToLower(c.text)
		}
		return c.text
	}
	switch {
	case o == opIn && y.op == opList && y.flag:
		r.only = []string{}
		for _, c := range y.args {
			r.only = append(r.only, spell(c))
		}
	case o == opEqual && y.op == opText:
		r.only = []string{spell(y)}
	case o == opNotEqual && y.op == opText && !argued:
		r.not = []string{spell(y)}
	case (o == opEqual || o == opNotEqual) && y.op == opBool:
		flag := y.flag == (o == opEqual)
		r.flag = &flag
	case y.op == opNumber || y.op == opTimestamp:
		r.bound(o, y)
		if x.op == opCount {
			r.merge(valueRange{min: new(big.Int)})
		}
	default:
		return valueRange{}, false
	}
	return r, true
}

// isWrittenConstant is literal for timestamps too.
func isWrittenConstant(n *node) bool { return n.literal() || n.op == opTimestamp }

// mirrored is the comparison with its sides exchanged.
func mirrored(o op) op {
	switch o {
	case opLess:
		return opGreater
	case opLessEqual:
		return opGreaterEqual
	case opGreater:
		return opLess
	case opGreaterEqual:
		return opLessEqual
	default:
		return o
	}
}

// bound sets the range that a comparison with y leaves.
func (r *valueRange) bound(o op, y *node) {
	wide := y.number.wide()
	n := wide.Magnitude.ToBig()
	if wide.Negative {
		n.Neg(n)
	}
	if y.op == opTimestamp {
		n.Mul(big.NewInt(y.time.Unix()), big.NewInt(1e9))
		n.Add(n, big.NewInt(int64(y.time.Nanosecond())))
	}
	one := big.NewInt(1)
	switch o {
	case opEqual:
		r.min, r.max = n, n
	case opLess:
		r.max = n.Sub(n, one)
	case opLessEqual:
		r.max = n
	case opGreater:
		r.min = n.Add(n, one)
	case opGreaterEqual:
		r.min = n
	}
}

// merge adds what s says about the same subject.
func (r *valueRange) merge(s valueRange) {
	switch {
	case r.only == nil:
		r.only = s.only
	case s.only != nil:
		r.only = slices.DeleteFunc(slices.Clone(r.only), func(text string) bool { return !slices.Contains(s.only, text) })
	}
	r.not = append(slices.Clone(r.not), s.not...)
	if r.min == nil || s.min != nil && s.min.Cmp(r.min) > 0 {
		r.min = s.min
	}
	if r.max == nil || s.max != nil && s.max.Cmp(r.max) < 0 {
		r.max = s.max
	}
	r.contradictory = r.contradictory || r.flag != nil && s.flag != nil && *r.flag != *s.flag
	if r.flag == nil {
		r.flag = s.flag
	}
}

// contradiction returns the operand of && that the operands before it exclude.
// What may have several names at once is left out, or taken to have one.
func contradiction(n *node, oneName bool) *node {
	seen := map[string]*valueRange{}
	for _, c := range n.args {
		r, ok := rangeOf(c)
		if !ok || r.aliased && !oneName {
			continue
		}
		if before := seen[r.subject]; before != nil {
			before.merge(r)
			if !before.satisfiable() {
				return c
			}
			continue
		}
		seen[r.subject] = &r
	}
	return nil
}
