package policytest

import (
	"regexp"
	"strings"

	"latchkey/internal/request/engine"
)

// stepNode is a part of an expression with its value and the parts inside it.
type stepNode struct {
	engine.ExplainedStep
	children []*stepNode
}

func (n *stepNode) end() int32 { return n.Offset + int32(len(n.Source)) }

// stepTree nests the steps of a trace, which come in the order of the
// expression.
func stepTree(steps []engine.ExplainedStep) []*stepNode {
	var tops []*stepNode
	var open []*stepNode // each inside the one before
	for _, s := range steps {
		n := &stepNode{ExplainedStep: s}
		for len(open) > 0 && !open[len(open)-1].contains(n) {
			open = open[:len(open)-1]
		}
		if len(open) == 0 {
			tops = append(tops, n)
		} else {
			outer := open[len(open)-1]
			outer.children = append(outer.children, n)
		}
		open = append(open, n)
	}
	return tops
}

// contains reports whether other is a part of n. The body of a quantifier comes
// once for each element, at the same place.
func (n *stepNode) contains(other *stepNode) bool {
	return n.Offset <= other.Offset && other.end() <= n.end() && len(n.Source) > len(other.Source) &&
		strings.HasPrefix(other.Bound, n.Bound)
}

// joint is what remains of a chain of && or || without its operands. Operands
// that are literals are not traced.
var joint = regexp.MustCompile(`^(?:[\s()]|true|false|&&|\|\|)*(?:&&|\|\|)(?:[\s()]|true|false|&&|\|\|)*$`)

// isChain reports whether n joins its children by && or ||.
func (n *stepNode) isChain() bool {
	var rest strings.Builder
	at := n.Offset
	for _, c := range n.children {
		if c.Bound != n.Bound || c.Offset < at {
			return false
		}
		rest.WriteString(n.Source[at-n.Offset : c.Offset-n.Offset])
		at = c.end()
	}
	rest.WriteString(n.Source[at-n.Offset:])
	return len(n.children) > 0 && joint.MatchString(rest.String())
}

// visit calls f with n and all that is inside it.
func (n *stepNode) visit(f func(*stepNode)) {
	f(n)
	for _, c := range n.children {
		c.visit(f)
	}
}
