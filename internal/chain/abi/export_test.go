package abi

import "encoding/hex"

// Selectors lists the selectors of an interface.
func Selectors(i *Interface) (all []string) {
	for s := range i.functions {
		all = append(all, hex.EncodeToString(s[:]))
	}
	return all
}
