// Package describe says what a transaction or a payload does, in the records
// that policies read (package [fact]). It takes what the chain packages parsed,
// and so it describes exactly what will be signed.
//
// It decides nothing and keeps nothing. What a record lists it lists completely,
// or it says why it cannot: reading that is an error of the policy then. Its
// errors are safe to show to the client.
package describe

import (
	"math/big"

	"github.com/holiman/uint256"

	"latchkey/internal/chain/abi"
	"latchkey/internal/chain/idl"
	"latchkey/internal/keys/derivation"
	"latchkey/internal/policy/fact"
)

// Interfaces is what is known about contracts and programs. Parsing an
// interface costs more than all the rest, so an implementation keeps what
// it parsed.
type Interfaces interface {
	// Contract finds the interface of an Ethereum contract by its address, 0x
	// and lower-case hex; nil if there is none.
	Contract(address string) *abi.Interface
	// Program finds the interface of a Solana program by its base58 address;
	// nil if there is none.
	Program(address string) *idl.Interface
}

// Path says which parts a derivation path has: the index of each without the
// bit for hardening, and whether it is hardened.
func Path(p derivation.Path) (indexes []fact.Number, hardened []bool) {
	for _, part := range p {
		indexes = append(indexes, fact.Uint(uint64(part&^derivation.Hardened)))
		hardened = append(hardened, part&derivation.Hardened != 0)
	}
	return indexes, hardened
}

// number is an unsigned integer that a parser has read; a field that is absent
// is zero. Parsers let 256 bits through, and one that let more through must not
// make an amount look small.
func number(n *big.Int) fact.Number {
	if n == nil {
		return fact.Number{}
	}
	v, err := fact.Big(n)
	if err != nil {
		v.Magnitude = *new(uint256.Int).SetAllOne()
	}
	return v
}
