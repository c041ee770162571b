package policy

// The caps on one expression. They bound what compiling and printing it costs,
// and how deep they recurse.
const (
	maxSource = 20_000
	maxNodes  = 4096
	maxDepth  = 64
)

// comparisons do not chain: a < b < c is refused.
var comparisons = map[string]op{
	"==": opEqual, "!=": opNotEqual, "<": opLess, ">": opGreater, "<=": opLessEqual, ">=": opGreaterEqual, "in": opIn,
}

type parser struct {
	tokens []token
	at     int
	nodes  int
	nested int // expressions that are open
}

// parse reads one whole expression.
func parse(source string) (*node, *Error) {
	tokens, err := lex(source)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens}
	if p.peek().kind == tokenEnd {
		return nil, &Error{Message: "the expression is empty", Fix: "write an expression, or leave it out"}
	}
	n, err := p.expression()
	if err != nil {
		return nil, err
	}
	if t := p.peek(); t.kind != tokenEnd {
		return nil, trailing(p.tokens[p.at-1], t)
	}
	return n, nil
}

// trailing says why an expression cannot go on with t.
func trailing(before, t token) *Error {
	fix := "join expressions with && or ||"
	switch {
	case before.kind == tokenText && before.end == t.pos:
		fix = "a string ends at the next single quote and cannot contain one"
	case t.kind == tokenNumber && t.text[0] == '-':
		return t.unexpected("there is no arithmetic", "write the result as a number")
	case t.text == ")" || t.text == "]":
		fix = "remove it, or open the bracket"
	case t.text == "..":
		fix = "write a part of a list or of a string as x[from..to]"
	}
	return t.unexpected("unexpected "+t.describe(), fix)
}

func (p *parser) peek() token { return p.tokens[p.at] }

// end is where the token before ends. A node reaches over the brackets around
// its operands, so its source is not simply from the first to the last of them.
func (p *parser) end() int { return p.tokens[p.at-1].end }

func (p *parser) take() token {
	t := p.tokens[p.at]
	if t.kind != tokenEnd && t.kind != tokenBad {
		p.at++
	}
	return t
}

// accept takes the sign if it is next.
func (p *parser) accept(sign string) bool {
	if t := p.peek(); t.kind == tokenSign && t.text == sign {
		p.at++
		return true
	}
	return false
}

// expect takes the sign, which must be next, and returns where it ends.
func (p *parser) expect(sign, fix string) (int, *Error) {
	t := p.peek()
	if !p.accept(sign) {
		return 0, t.unexpected("expected "+sign+" but found "+t.describe(), fix)
	}
	return t.end, nil
}

// add counts a node and measures its depth.
func (p *parser) add(n *node) (*node, *Error) {
	p.nodes++
	if p.nodes > maxNodes {
		return nil, &Error{Offset: n.pos, End: n.end, Message: "the expression has too many parts", Fix: "use at most 4096, or split the policy"}
	}
	n.children(func(c *node) {
		n.depth = max(n.depth, c.depth)
		n.weight += c.weight
	})
	n.depth++
	n.weight++
	if n.depth > maxDepth {
		return nil, tooDeep(n.pos, n.end)
	}
	return n, nil
}

func tooDeep(pos, end int) *Error {
	return &Error{Offset: pos, End: end, Message: "the expression is nested too deep", Fix: "nest at most 64 levels"}
}

func (p *parser) expression() (*node, *Error) {
	p.nested++
	defer func() { p.nested-- }()
	if t := p.peek(); p.nested > maxDepth {
		return nil, tooDeep(t.pos, t.end)
	}
	return p.chain("||", opOr, func() (*node, *Error) {
		return p.chain("&&", opAnd, p.comparison)
	})
}

// chain reads operands that sign joins, as one node however many they are, so
// that a long list of clauses is not deep.
func (p *parser) chain(sign string, o op, operand func() (*node, *Error)) (*node, *Error) {
	n := &node{op: o, pos: p.peek().pos}
	first, err := operand()
	if err != nil || p.peek().kind != tokenSign || p.peek().text != sign {
		return first, err
	}
	n.join(first)
	for p.accept(sign) {
		next, err := operand()
		if err != nil {
			return nil, err
		}
		n.join(next)
	}
	n.end = p.end()
	return p.add(n)
}

// join adds an operand of && or ||. Both are associative, so a bracketed chain
// of the same operator dissolves.
func (n *node) join(c *node) {
	if c.op == n.op {
		n.args = append(n.args, c.args...)
	} else {
		n.args = append(n.args, c)
	}
}

func (p *parser) comparison() (*node, *Error) {
	pos := p.peek().pos
	x, err := p.unary()
	if err != nil {
		return nil, err
	}
	o, found := comparisons[p.peek().text]
	if !found || p.peek().kind == tokenText {
		return x, nil
	}
	p.take()
	y, err := p.unary()
	if err != nil {
		return nil, err
	}
	if t := p.peek(); t.kind != tokenText && comparisons[t.text] != 0 {
		return nil, t.unexpected("comparisons do not chain", "join two comparisons with &&")
	}
	return p.add(&node{op: o, pos: pos, end: p.end(), x: x, y: y})
}

func (p *parser) unary() (*node, *Error) {
	t := p.peek()
	if !p.accept("!") {
		return p.postfix()
	}
	p.nested++
	defer func() { p.nested-- }()
	if p.nested > maxDepth {
		return nil, tooDeep(t.pos, t.end)
	}
	x, err := p.unary()
	if err != nil {
		return nil, err
	}
	return p.add(&node{op: opNot, pos: t.pos, end: p.end(), x: x})
}
