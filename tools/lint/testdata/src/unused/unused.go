// Package unused has what it uses, and what nothing uses.
package unused

// Used is exported: others may call it.
func Used() { helper() }

func helper() {}

func forgotten() {} // want `func forgotten is unused`
