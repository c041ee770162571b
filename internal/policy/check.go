package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// maxVariables bounds how many variables are in scope at once: evaluating n
// nested quantifiers takes time to the power of n.
const maxVariables = 8

// checker gives every node its type, and finds what names stand for.
type checker struct {
	place     Place
	roots     []root
	variables []variable // in scope; the index is the slot
}

type variable struct {
	name string
	typ  *typ
}

func refuse(n *node, fix, format string, args ...any) *Error {
	return &Error{Offset: n.pos, End: n.end, Message: fmt.Sprintf(format, args...), Fix: fix}
}

// predicate checks a node that must be true or false. An argument value may
// turn out to be that.
func (c *checker) predicate(n *node) *Error {
	if err := c.check(n); err != nil {
		return err
	}
	if n.typ.kind != kindBool && n.typ.kind != kindArgument {
		return refuse(n, "compare it with something", "expected true or false, but this is %s", withArticle(n.typ))
	}
	return nil
}

// requireInt refuses a node that is not an integer.
func requireInt(n *node) *Error {
	if n.typ.kind != kindInt && n.typ.kind != kindArgument {
		return refuse(n, "write a number", "expected a number, but this is %s", withArticle(n.typ))
	}
	return nil
}

// list checks a node that must be a list, and returns the type of its elements.
func (c *checker) list(n *node) (*typ, *Error) {
	if err := c.check(n); err != nil {
		return nil, err
	}
	switch n.typ.kind {
	case kindList:
		return n.typ.elem, nil
	case kindArgument:
		return argumentType, nil
	default:
		return nil, refuse(n, "only lists have methods", "expected a list, but this is %s", withArticle(n.typ))
	}
}

// check visits a node once: what it finds replaces what the parser wrote.
func (c *checker) check(n *node) *Error {
	switch n.op {
	case opText:
		n.typ = textType
	case opNumber:
		n.typ = intType
	case opBool:
		n.typ = boolType
	case opList:
		return c.literalList(n)
	case opName:
		return c.nameOf(n)
	case opField:
		return c.fieldOf(n)
	case opCall:
		return c.call(n)
	case opCount:
		n.typ = intType
		_, err := c.list(n.x)
		return err
	case opContains:
		elem, err := c.list(n.x)
		if err != nil {
			return err
		}
		return c.member(n, n.y, elem)
	case opIn:
		elem, err := c.list(n.y)
		if err != nil {
			return err
		}
		return c.member(n, n.x, elem)
	case opAny, opAll, opFilter:
		return c.quantifier(n)
	case opIndex, opSlice:
		return c.index(n)
	case opNot:
		n.typ = boolType
		return c.predicate(n.x)
	case opAnd, opOr:
		n.typ = boolType
		for _, operand := range n.args {
			if err := c.predicate(operand); err != nil {
				return err
			}
		}
	default:
		return c.comparison(n)
	}
	return nil
}

func (c *checker) literalList(n *node) *Error {
	elem := argumentType // of [], of which nothing is ever read
	n.flag = true
	for i, e := range n.args {
		if err := c.check(e); err != nil {
			return err
		}
		n.flag = n.flag && e.op == opText
		switch {
		case !scalar(e.typ) || e.typ.kind == kindTime:
			return refuse(e, "list strings, numbers or booleans", "a list cannot hold %s", withArticle(e.typ))
		case i == 0:
			elem = e.typ
		case elem.kind == kindArgument || e.typ.kind == kindArgument:
			elem = argumentType
		case elem.kind != e.typ.kind:
			return refuse(e, "list elements of one type", "the list begins with %s, but this is %s", withArticle(elem), withArticle(e.typ))
		}
	}
	n.typ = listOf(elem)
	return nil
}

// scalar reports whether values of the type can be compared.
func scalar(t *typ) bool {
	switch t.kind {
	case kindBool, kindInt, kindText, kindTime, kindArgument:
		return true
	default:
		return false
	}
}

// call checks a function. Its arguments are constants, except those of
// CaseInsensitiveString.
func (c *checker) call(n *node) *Error {
	known := map[string]struct {
		inTime bool
		usage  string
		count  int
	}{
		"CaseInsensitiveString": {false, "CaseInsensitiveString(string)", 1},
		"Timestamp":             {true, "Timestamp('2026-01-31T12:00:00Z')", 1},
		"CronSpan":              {true, "CronSpan('0 9 * * 1-5', '8h', 'Europe/Berlin')", 3},
	}
	f, found := known[n.name]
	switch {
	case !found:
		return refuse(n, suggestedFix(n.name, []string{"CaseInsensitiveString", "Timestamp", "CronSpan"}), "there is no function %s", n.name)
	case f.inTime != (c.place == Time):
		return refuse(n, "", "%s cannot be used in the %s of a policy", n.name, c.place)
	case len(n.args) != f.count:
		return refuse(n, "write "+f.usage, "%s takes %d argument(s), not %d", n.name, f.count, len(n.args))
	}
	for _, a := range n.args {
		if err := c.check(a); err != nil {
			return err
		}
		switch {
		case f.inTime && a.op != opText:
			return refuse(a, "write "+f.usage, "the arguments of %s are strings", n.name)
		case a.typ.kind != kindText && a.typ.kind != kindArgument:
			return refuse(a, "write "+f.usage, "expected a string, but this is %s", withArticle(a.typ))
		}
	}
	var err *Error
	switch n.name {
	case "CaseInsensitiveString":
		n.op, n.typ, n.x = opLower, textType, n.args[0]
		n.args = nil
	case "Timestamp":
		n.op, n.typ = opTimestamp, timeType
		var t time.Time
		t, err = timestamp(n.args[0])
		n.time = &t
	default:
		n.op, n.typ = opCronSpan, boolType
		n.cron, err = newCronSpan(n.args[0], n.args[1], n.args[2])
	}
	return err
}

// member checks whether an element can be in a list of elem.
func (c *checker) member(n, element *node, elem *typ) *Error {
	if err := c.check(element); err != nil {
		return err
	}
	n.typ = boolType
	return c.equal(n, element, element.typ, elem)
}

func (c *checker) quantifier(n *node) *Error {
	elem, err := c.list(n.x)
	if err != nil {
		return err
	}
	if slices.Contains(c.firstNames(), n.name) {
		return refuse(n, "choose another name for the variable", "%s is taken: a variable cannot hide a root or another variable", n.name)
	}
	if len(c.variables) == maxVariables {
		return refuse(n, "nest at most 8", "too many nested quantifiers")
	}
	n.slot, n.typ = uint8(len(c.variables)), boolType
	if n.op == opFilter {
		n.typ = listOf(elem)
	}
	c.variables = append(c.variables, variable{n.name, elem})
	err = c.predicate(n.y)
	c.variables = c.variables[:n.slot]
	return err
}

func (c *checker) index(n *node) *Error {
	if err := c.check(n.x); err != nil {
		return err
	}
	if err := c.check(n.y); err != nil {
		return err
	}
	if n.op == opSlice {
		if err := c.check(n.z); err != nil {
			return err
		}
	}
	byKey := n.x.typ.kind == kindMap || n.x.typ.kind == kindArgument && n.y.typ.kind == kindText
	switch {
	case n.op == opSlice && n.x.typ.kind == kindMap:
		return refuse(n, "write ['name']", "a map has no order")
	case n.op == opIndex && byKey:
		if n.y.op != opText {
			return refuse(n.y, "write ['name']", "names of values are written as strings")
		}
		n.op, n.typ = opKey, argumentType
		if n.x.typ.kind == kindMap {
			n.typ = n.x.typ.elem
		}
		return nil
	}
	for _, bound := range []*node{n.y, n.z} {
		if bound != nil {
			if err := requireInt(bound); err != nil {
				return err
			}
		}
	}
	switch n.x.typ.kind {
	case kindText, kindArgument:
		n.typ = n.x.typ
	case kindList:
		n.typ = n.x.typ
		if n.op == opIndex {
			n.typ = n.x.typ.elem
		}
	default:
		return refuse(n, "", "%s has no index", withArticle(n.x.typ))
	}
	return nil
}

func (c *checker) comparison(n *node) *Error {
	if err := c.check(n.x); err != nil {
		return err
	}
	if err := c.check(n.y); err != nil {
		return err
	}
	n.typ = boolType
	if err := c.equal(n, n.y, n.x.typ, n.y.typ); err != nil {
		return err
	}
	if n.op == opEqual || n.op == opNotEqual {
		return nil
	}
	switch n.as.kind {
	case kindInt, kindTime:
	case kindArgument:
		n.as = intType // nothing else that an argument can be has an order
	default:
		return refuse(n, "use == or !=", "%s has no order", withArticle(n.as))
	}
	return nil
}

// equal finds the type in which x and y are compared. Of an argument value and
// another type it is the other.
func (c *checker) equal(n, at *node, x, y *typ) *Error {
	for _, t := range []*typ{x, y} {
		if !scalar(t) {
			return refuse(at, "compare strings, numbers or booleans", "%s cannot be compared", withArticle(t))
		}
	}
	switch {
	case x.kind == kindArgument:
		n.as = y
	case y.kind == kindArgument, x.kind == y.kind:
		n.as = x
	default:
		return refuse(n, unquoted(n, x, y), "%s cannot be compared with %s", withArticle(x), withArticle(y))
	}
	return nil
}

// unquoted shows the fix when a number was compared with a quoted one.
func unquoted(n *node, x, y *typ) string {
	if x.kind != kindInt && y.kind != kindInt {
		return "compare values of one type"
	}
	for _, operand := range []*node{n.x, n.y} {
		for _, c := range append([]*node{operand}, operand.args...) {
			if c.op == opText && c.text != "" && strings.Trim(c.text, "0123456789") == "" {
				return "write " + c.text + " without quotes"
			}
		}
	}
	return "compare it with a number, without quotes"
}

// withArticle is the name of a type in a sentence.
func withArticle(t *typ) string {
	switch t.kind {
	case kindNamespace:
		return "only the beginning of a name: " + t.name
	case kindInt, kindArgument:
		return "an " + t.name
	default:
		return "a " + t.name
	}
}
