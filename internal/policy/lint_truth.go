package policy

import (
	"math/big"
	"slices"
	"strings"
)

// constant says that the node reads nothing, so that it has one value.
func constant(n *node) bool {
	reads := false
	n.every(func(c *node) {
		switch c.op {
		case opRoot, opApprovers, opCredentials, opNow, opVariable, opCronSpan, opField:
			reads = true
		}
	})
	return !reads
}

// fixed is the value of a constant predicate.
func fixed(n *node) (value, known bool) {
	if !constant(n) || n.typ.kind != kindBool {
		return false, false
	}
	var m machine
	return m.boolean(n)
}

// never returns the part of n because of which n can never be true, or nil. It
// finds what is plain to see, not all there is.
func never(n *node) *node {
	if value, known := fixed(n); known {
		if value {
			return nil
		}
		return n
	}
	switch n.op {
	case opAnd:
		for _, c := range n.args {
			if bad := never(c); bad != nil {
				return bad
			}
		}
		return contradiction(n)
	case opOr:
		for _, c := range n.args {
			if never(c) == nil {
				return nil
			}
		}
		return n
	case opNot:
		if always(n.x) {
			return n
		}
	case opAny:
		return never(n.y)
	case opIn, opContains:
		list := n.y
		if n.op == opContains {
			list = n.x
		}
		if list.op == opList && len(list.args) == 0 {
			return n
		}
	default:
		if r, ok := rangeOf(n); ok && !r.possible() {
			return n
		}
		if badBounds(n) {
			return n
		}
	}
	return nil
}

// always says that n is plainly true, whatever is asked for and whoever asks.
func always(n *node) bool {
	if value, known := fixed(n); known {
		return value
	}
	switch n.op {
	case opAnd:
		return !slices.ContainsFunc(n.args, func(c *node) bool { return !always(c) })
	case opOr:
		return slices.ContainsFunc(n.args, always)
	case opNot:
		return never(n.x) != nil
	case opAll:
		return always(n.y)
	}
	_, least, ok := atLeast(n)
	return ok && least <= 0
}

// atLeast reads a comparison that asks a list for a number of elements.
func atLeast(n *node) (list *node, least int64, ok bool) {
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
		return x.x, least, least > 0 // == 0 asks for none
	default:
		return nil, 0, false
	}
}

// badBounds says that n reads x[a] or x[a..b] with literals that no x has. What
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

// limits is what one comparison, or several, say about one subject.
type limits struct {
	subject  string   // in its canonical form
	only     []string // the texts that it can be; nil: any
	not      []string
	min, max *big.Int // of a number, or of a timestamp in nanoseconds, inclusive; nil: no bound
	flag     *bool
	nothing  bool
}

func (r *limits) possible() bool {
	left := 0
	for _, text := range r.only {
		if !slices.Contains(r.not, text) {
			left++
		}
	}
	return !r.nothing && (r.only == nil || left > 0) && (r.min == nil || r.max == nil || r.min.Cmp(r.max) <= 0)
}

// rangeOf reads a comparison with literals.
func rangeOf(n *node) (limits, bool) {
	x, y, o := n.x, n.y, n.op
	if x != nil && written(x) && y != nil && o != opIn && o != opContains {
		x, y, o = y, x, mirrored(o)
	}
	switch {
	case n.typ.kind != kindBool:
		return limits{}, false
	case n.op == opField || n.op == opVariable:
		yes := true
		return limits{subject: n.String(), flag: &yes}, true
	case n.op == opNot && (n.x.op == opField || n.x.op == opVariable):
		no := false
		return limits{subject: n.x.String(), flag: &no}, true
	case x == nil || y == nil || n.as == nil || written(x):
		return limits{}, false
	}
	r := limits{subject: x.String()}
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
			r.merge(limits{min: new(big.Int)})
		}
	default:
		return limits{}, false
	}
	return r, true
}

// written says that the node is a constant that was written as such.
func written(n *node) bool { return n.literal() || n.op == opTimestamp }

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
func (r *limits) bound(o op, y *node) {
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
func (r *limits) merge(s limits) {
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
	r.nothing = r.nothing || r.flag != nil && s.flag != nil && *r.flag != *s.flag
	if r.flag == nil {
		r.flag = s.flag
	}
}

// contradiction returns the operand of && that the operands before it exclude.
func contradiction(n *node) *node {
	seen := map[string]*limits{}
	for _, c := range n.args {
		r, ok := rangeOf(c)
		if !ok {
			continue
		}
		if before := seen[r.subject]; before != nil {
			before.merge(r)
			if !before.possible() {
				return c
			}
			continue
		}
		seen[r.subject] = &r
	}
	return nil
}
