package policy

import (
	"time"

	"latchkey/internal/policy/fact"
)

// op says what a node does. The parser makes those of the first group; the
// checker turns names, fields, calls and some indexes into the second.
type op uint8

const (
	opText op = iota
	opNumber
	opBool
	opList
	opName
	opField
	opCall
	opCount
	opContains
	opAny
	opAll
	opFilter
	opIndex
	opSlice
	opNot
	opAnd
	opOr
	opEqual
	opNotEqual
	opLess
	opGreater
	opLessEqual
	opGreaterEqual
	opIn

	opRoot        // a root of a condition
	opApprovers   // the roots of a consensus
	opCredentials //
	opNow         // the root of a time
	opVariable
	opKey       // x['key']
	opTimestamp // Timestamp('…')
	opCronSpan  // CronSpan('…', '…', '…')
	opLower     // CaseInsensitiveString(x)
	opControls  // the root of velocity controls
	opControl   // one of them, by its identifier
)

// node is one part of an expression. Which of its members count depends on op.
// What evaluation reads comes first: a hundred policies should stay in the
// processor's cache.
type node struct {
	op      op
	flag    bool  // of true and false; of a list: its elements are string literals
	slot    uint8 // of the variable that is read or bound
	depth   uint8 // of the tree below, itself included
	weight  int32 // nodes of the tree below, itself included
	x, y, z *node
	args    []*node // operands of && and ||, elements of a list, arguments
	typ     *typ
	as      *typ   // comparisons: the type of both sides; kindArgument: known only when evaluated
	root    *root  // of a root, and of a field of a root
	field   *field // of a field
	text    string // of a string literal; identifier of a velocity control
	number  number // of an integer literal
	cron    *cronSpan
	time    *time.Time

	name     string // field, method, function, variable; path of a root
	pos, end int    // of the source
}

// number is an integer: big, or small when big is nil. The pointer leads into
// a fact or a literal, so that reading an amount copies nothing.
type number struct {
	small int64
	big   *fact.Number
}

// literal reports whether the node is a constant that was written as such.
func (n *node) literal() bool { return n.op == opText || n.op == opNumber || n.op == opBool }

// quantifier reports whether the node binds a variable in y to the elements of x.
func (n *node) quantifier() bool { return n.op == opAny || n.op == opAll || n.op == opFilter }

// children calls f with every operand, from left to right.
func (n *node) children(f func(*node)) {
	for _, c := range [...]*node{n.x, n.y, n.z} {
		if c != nil {
			f(c)
		}
	}
	for _, c := range n.args {
		f(c)
	}
}

// visit calls f with n and all that is below.
func (n *node) visit(f func(*node)) {
	f(n)
	n.children(func(c *node) { c.visit(f) })
}
