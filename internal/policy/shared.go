package policy

import (
	"runtime"
	"sync"
	"weak"
)

// shared holds every expression that is in use, by what it was compiled from.
// The policies of sub-organizations mostly come from one template, and a
// compiled expression takes ten times the room of its text: so each is there
// once, for as long as somebody holds it.
var shared sync.Map // from sharedKey to weak.Pointer[Expr]

type sharedKey struct {
	place  Place
	source string
}

// share returns the expression that is in use for the same text, or this one.
func share(e *Expr) *Expr {
	key := sharedKey{e.place, e.source}
	mine := weak.Make(e)
	for {
		known, taken := shared.LoadOrStore(key, mine)
		if !taken {
			runtime.AddCleanup(e, func(key sharedKey) { shared.CompareAndDelete(key, mine) }, key)
			return e
		}
		if used := known.(weak.Pointer[Expr]).Value(); used != nil {
			return used
		}
		shared.CompareAndDelete(key, known) // nobody holds it any more
	}
}

// inUse returns the expression that somebody compiled from this text and still
// holds, or nil.
func inUse(p Place, source string) *Expr {
	known, ok := shared.Load(sharedKey{p, source})
	if !ok {
		return nil
	}
	return known.(weak.Pointer[Expr]).Value()
}
