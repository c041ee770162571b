package policy

import (
	"fmt"
	"strings"
)

// Place is which expression of a policy is meant; it settles the roots that
// may be read. The conditions of MFA policies and the scopes of session
// profiles are conditions too.
type Place uint8

// The places.
const (
	Condition Place = iota // what is asked for
	Consensus              // who asks for it
	Time                   // when
)

func (p Place) String() string { return [...]string{"condition", "consensus", "time"}[p] }

// Error says why an expression was refused.
type Error struct {
	Offset, End int    // bytes of the source, from 0
	Piece       string // that part of the source, shortened
	Message     string
	Fix         string // what would be right
}

func (e *Error) Error() string {
	where := fmt.Sprintf("at offset %d", e.Offset)
	if e.Piece != "" {
		where += ": " + e.Piece
	}
	if e.Fix == "" {
		return fmt.Sprintf("%s (%s)", e.Message, where)
	}
	return fmt.Sprintf("%s (%s); %s", e.Message, where, e.Fix)
}

// Expr is a compiled expression.
type Expr struct {
	place  Place
	source string
	top    *node
}

// Compile reads and checks an expression. The error is an [*Error]. The same text
// gives the same [Expr] for as long as it is referenced.
func Compile(p Place, source string) (*Expr, error) {
	if e := interned(p, source); e != nil {
		return e, nil
	}
	top, err := parse(source)
	if err == nil {
		c := checker{place: p, roots: rootsOf(p)}
		err = c.predicate(top)
	}
	if err != nil {
		err.End = max(err.Offset, err.End)
		err.Piece = piece(source, err.Offset, err.End)
		return nil, err
	}
	return intern(&Expr{place: p, source: source, top: top}), nil
}

// maxPiece bounds how much of a source an error repeats.
const maxPiece = 60

func piece(source string, from, to int) string {
	if to-from <= maxPiece {
		return source[from:to]
	}
	return strings.ToValidUTF8(source[from:from+maxPiece], "") + "…"
}

// Place is where the expression belongs.
func (e *Expr) Place() Place { return e.place }

// Source is the text that was compiled.
func (e *Expr) Source() string { return e.source }
