package policy

import (
	"runtime"
	"sync"
	"weak"
)

// inUse holds every expression that is in use, by what it was compiled from.
// The policies of sub-organizations mostly come from one template, and a
// compiled expression takes ten times the room of its text: so each exists once,
// for as long as it is referenced.
var inUse sync.Map // from sharedKey to weak.Pointer[Expr]

type internKey struct {
	place  Place
	source string
}

// intern returns the expression that is in use for the same text, or this one.
func intern(e *Expr) *Expr {
	key := internKey{e.place, e.source}
	mine := weak.Make(e)
	for {
		known, taken := inUse.LoadOrStore(key, mine)
		if !taken {
			runtime.AddCleanup(e, func(key internKey) { inUse.CompareAndDelete(key, mine) }, key)
			return e
		}
		if used := known.(weak.Pointer[Expr]).Value(); used != nil {
			return used
		}
		inUse.CompareAndDelete(key, known) // no longer referenced
	}
}

// interned returns the expression that was compiled from this text and is still
// referenced, or nil.
func interned(p Place, source string) *Expr {
	known, ok := inUse.Load(internKey{p, source})
	if !ok {
		return nil
	}
	return known.(weak.Pointer[Expr]).Value()
}
