// Package old has been replaced.
package old

// Do does it.
//
// Deprecated: Do it otherwise.
func Do() {}
