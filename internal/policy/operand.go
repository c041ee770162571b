package policy

import (
	"math/big"

	"latchkey/internal/policy/fact"
)

func (p *parser) postfix() (*node, *Error) {
	pos := p.peek().pos
	x, err := p.primary()
	for err == nil {
		switch {
		case p.accept("."):
			x, err = p.member(pos, x)
		case p.accept("["):
			x, err = p.index(pos, x)
		default:
			return x, nil
		}
	}
	return nil, err
}

// member reads what follows x and a dot: a field or a method.
func (p *parser) member(pos int, x *node) (*node, *Error) {
	name := p.take()
	if name.kind != tokenName {
		return nil, name.unexpected("expected a field or a method but found "+name.describe(), "write its name after the dot")
	}
	n := &node{op: opField, pos: pos, end: name.end, x: x, name: name.text}
	if !p.accept("(") {
		return p.add(n)
	}
	switch name.text {
	case "any", "all", "filter":
		return p.quantifier(n)
	}
	args, end, err := p.arguments(")")
	if err != nil {
		return nil, err
	}
	n.end = end
	wanted := map[string]int{"count": 0, "contains": 1}
	count, known := wanted[name.text]
	switch {
	case !known:
		return nil, &Error{
			Offset: name.pos, End: name.end, Message: "there is no method " + name.text,
			Fix: "the methods are all, any, contains, count and filter, of lists",
		}
	case len(args) != count && count == 0:
		return nil, &Error{Offset: name.pos, End: end, Message: "count takes no argument", Fix: "write count(), after filter(v, …) if need be"}
	case len(args) != count:
		return nil, &Error{Offset: name.pos, End: end, Message: "contains takes one argument", Fix: "write contains(x)"}
	case count == 0:
		n.op = opCount
	default:
		n.op, n.y = opContains, args[0]
	}
	return p.add(n)
}

// quantifier reads the rest of x.any(v, …), from behind the bracket.
func (p *parser) quantifier(n *node) (*node, *Error) {
	n.op = map[string]op{"any": opAny, "all": opAll, "filter": opFilter}[n.name]
	fix := "write " + n.name + "(v, condition on v)"
	v := p.take()
	if v.kind != tokenName || reserved(v.text) {
		return nil, v.unexpected("expected the name of a variable but found "+v.describe(), fix)
	}
	n.name = v.text
	if _, err := p.expect(",", fix); err != nil {
		return nil, err
	}
	y, err := p.expression()
	if err != nil {
		return nil, err
	}
	n.y = y
	if n.end, err = p.expect(")", "close the bracket of "+fix[len("write "):]); err != nil {
		return nil, err
	}
	return p.add(n)
}

func reserved(name string) bool { return name == "true" || name == "false" || name == "in" }

// index reads what follows x and [: an index, a key or two bounds.
func (p *parser) index(pos int, x *node) (*node, *Error) {
	y, err := p.expression()
	if err != nil {
		return nil, err
	}
	n := &node{op: opIndex, pos: pos, x: x, y: y}
	if p.accept("..") {
		n.op = opSlice
		if n.z, err = p.expression(); err != nil {
			return nil, err
		}
	}
	if n.end, err = p.expect("]", "close the bracket"); err != nil {
		return nil, err
	}
	return p.add(n)
}

// arguments reads a list of expressions up to the closing bracket, and says
// where that ends.
func (p *parser) arguments(closing string) ([]*node, int, *Error) {
	var args []*node
	for {
		if t := p.peek(); t.kind == tokenSign && t.text == closing {
			if len(args) > 0 {
				return nil, 0, t.unexpected("nothing follows the last comma", "remove the comma")
			}
			p.take()
			return nil, t.end, nil
		}
		n, err := p.expression()
		if err != nil {
			return nil, 0, err
		}
		args = append(args, n)
		if p.accept(",") {
			continue
		}
		end, err := p.expect(closing, "separate with commas and close the bracket")
		return args, end, err
	}
}

func (p *parser) primary() (*node, *Error) {
	t := p.take()
	switch {
	case t.kind == tokenText:
		return p.add(&node{op: opText, pos: t.pos, end: t.end, text: t.text})
	case t.kind == tokenNumber:
		n, err := integer(t)
		if err != nil {
			return nil, err
		}
		return p.add(&node{op: opNumber, pos: t.pos, end: t.end, number: n})
	case t.kind == tokenName && (t.text == "true" || t.text == "false"):
		return p.add(&node{op: opBool, pos: t.pos, end: t.end, flag: t.text == "true"})
	case t.kind == tokenName && !reserved(t.text):
		if !p.accept("(") {
			return p.add(&node{op: opName, pos: t.pos, end: t.end, name: t.text})
		}
		args, end, err := p.arguments(")")
		if err != nil {
			return nil, err
		}
		return p.add(&node{op: opCall, pos: t.pos, end: end, name: t.text, args: args})
	case t.kind == tokenSign && t.text == "[":
		args, end, err := p.arguments("]")
		if err != nil {
			return nil, err
		}
		return p.add(&node{op: opList, pos: t.pos, end: end, args: args})
	case t.kind == tokenSign && t.text == "(":
		n, err := p.expression()
		if err != nil {
			return nil, err
		}
		_, err = p.expect(")", "close the bracket")
		return n, err
	}
	return nil, t.unexpected("expected a value but found "+t.describe(), "write a field, a literal or an expression in brackets")
}

// minInteger is the least integer that can be written: -2^127.
var minInteger = new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), 127))

// integer reads an integer literal: from -2^127 to 2^256-1.
func integer(t token) (number, *Error) {
	v, _ := new(big.Int).SetString(t.text, 10)
	if v.IsInt64() {
		return number{small: v.Int64()}, nil
	}
	if v.Cmp(minInteger) < 0 {
		return number{}, t.unexpected("the number is too small", "the least integer is -2^127")
	}
	n, err := fact.Big(v)
	if err != nil {
		return number{}, t.unexpected("the number is too large", "the greatest integer is 2^256-1")
	}
	return number{big: &n}, nil
}
