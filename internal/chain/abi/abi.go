// Package abi reads the interface of an Ethereum contract, the JSON that
// compilers write, and calls of the contract by it, so that policies can read
// the arguments.
//
// An interface is refused if it leaves anything open: a parameter without a
// name key, an unknown type, two functions that a call cannot tell apart.
// Events, errors, constructors and the like are ignored.
//
// A call is decoded only in the one encoding that the ABI specification calls
// strict: values that fit their type, padding that is zero, and every byte after
// the selector used exactly once and in order. So no two decoders can disagree on
// an argument, nothing hides in gaps or behind the end, and decoding costs no
// more than the length of the call. Any other call is no match.
//
// An [Interface] does not change after [Parse] and may be used by many
// goroutines at once.
package abi

import (
	"encoding/hex"

	"latchkey/internal/policy/fact"
)

// MaxCharacters is the length of the longest interface.
const MaxCharacters = 400_000

// Interface is a contract's functions.
type Interface struct {
	functions map[[4]byte]*function
}

// Call is a call of one of the functions.
type Call struct {
	Name     string
	Selector string // 0x and eight digits
	// Args holds the arguments by name, in order; one without a name has its
	// position as name, beginning with 0.
	Args fact.Map
}

// Call reads the data of a transaction to the contract; false if it is not a
// well-formed call of a function of the interface.
func (i *Interface) Call(data []byte) (*Call, bool) {
	if len(data) < 4 {
		return nil, false
	}
	f := i.functions[[4]byte(data)]
	if f == nil {
		return nil, false
	}
	d := decoder{data: data[4:]}
	values, end, ok := d.sequence(f.inputs, 0)
	if !ok || end != len(d.data) {
		return nil, false
	}
	call := &Call{Name: f.name, Selector: "0x" + hex.EncodeToString(data[:4])}
	for i, v := range values {
		call.Args = append(call.Args, fact.Entry{Name: f.names[i], Value: v})
	}
	return call, true
}
