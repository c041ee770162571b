// Package transfer says which assets a signature moves, and how much of each, for
// limits over time. It takes what the chain packages parsed and what package
// describe made of that, so that it reads exactly what will be signed.
//
// It names assets by CAIP-19. What it cannot read it does not guess: it says for
// which assets the amount is untold, and why. An allowance counts in full, since
// its holder may use all of it without a further signature.
package transfer

import (
	"fmt"
	"math/big"

	"latchkey/internal/policy/fact"
)

// Nothing is what a signature moves that moves no asset at all.
func Nothing() *fact.Transfers { return &fact.Transfers{} }

// Unreadable is what can be told of a payload that is not read: nothing.
func Unreadable(why string) *fact.Transfers {
	return &fact.Transfers{Untold: []fact.Untold{{Native: true, Tokens: true, Why: why}}}
}

// Sum is how much of each listed asset is moved, in its smallest unit. The error
// says why that cannot be told, and is safe to show.
func Sum(t *fact.Transfers, listed []fact.Asset) ([]*big.Int, error) {
	sums := make([]*big.Int, len(listed))
	for i, asset := range listed {
		sums[i] = new(big.Int)
		for k := range t.Untold {
			if t.Untold[k].Covers(asset) {
				return nil, fmt.Errorf("%s", t.Untold[k].Why)
			}
		}
		for k := range t.Moved {
			if m := &t.Moved[k]; moves(m.Asset, asset) {
				sums[i].Add(sums[i], m.Amount.Magnitude.ToBig())
			}
		}
	}
	return sums, addTokenAccounts(t.TokenAccounts, listed, sums)
}

// moves reports whether what a transaction moves is a listed asset. One that
// names no network is on every listed one.
func moves(moved, listed fact.Asset) bool {
	return moved.Namespace == listed.Namespace && moved.Token == listed.Token && (moved.Network == "" || moved.Network == listed.Network)
}

func add(t *fact.Transfers, asset fact.Asset, amount fact.Number) {
	t.Moved = append(t.Moved, fact.Moved{Asset: asset, Amount: amount})
}
