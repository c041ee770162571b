package transfer_test

import (
	"encoding/hex"
	"errors"
	"slices"
	"testing"

	"latchkey/internal/chain/btc"
	"latchkey/internal/chain/describe"
	"latchkey/internal/chain/eth"
	"latchkey/internal/chain/sol"
	"latchkey/internal/chain/transfer"
	"latchkey/internal/chain/tron"
	"latchkey/internal/domain"
	"latchkey/internal/keys/address"
	"latchkey/internal/policy/fact"
	"latchkey/internal/velocity"
	"latchkey/testvectors"
)

// vector is a transaction that public libraries made, and what they say it moves;
// tools/transfers writes them.
type vector struct {
	Name, Chain, Payload, Digest string
	Signer                       address.Format
	Own                          []string
	Moves                        map[string]string // by asset; untold: it must not be told
}

// read is what the transaction moves, read as for a signature.
func (v *vector) read(t *testing.T) *fact.Transfers {
	t.Helper()
	check := func(err error) {
		if err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
	}
	switch v.Chain {
	case "evm":
		tx, err := eth.Parse(testvectors.Hex(t, v.Payload))
		check(err)
		return transfer.Ethereum(tx)
	case "typed":
		digest, data, err := eth.TypedDataDigest([]byte(v.Payload))
		check(err)
		if got := hex.EncodeToString(digest[:]); got != v.Digest {
			t.Errorf("%s: the digest is %s, want %s", v.Name, got, v.Digest)
		}
		return transfer.TypedData(data)
	case "solana":
		tx, err := sol.Parse(testvectors.Hex(t, v.Payload))
		check(err)
		return transfer.Solana(describe.Solana(tx, nil))
	case "tron":
		tx, err := tron.Parse(testvectors.Hex(t, v.Payload))
		check(err)
		return transfer.Tron(tx)
	case "bitcoin":
		tx, err := btc.Parse(testvectors.Hex(t, v.Payload))
		check(err)
		told, err := describe.Bitcoin(tx, v.Signer)
		check(err)
		moved, err := transfer.Bitcoin(tx, told.FeeUntold, func(o *btc.Output) (bool, error) {
			return slices.Contains(v.Own, hex.EncodeToString(o.Script)), nil
		})
		check(err)
		return moved
	}
	t.Fatalf("%s: the chain %q is not known", v.Name, v.Chain)
	return nil
}

// TestVectors compares with what public libraries find in transactions of every
// kind that docs/limits.md lists. What cannot be told is not told.
func TestVectors(t *testing.T) {
	chains := map[string]int{}
	for _, v := range testvectors.Section[vector](t, "transfers", "transfers") {
		chains[v.Chain]++
		moved := v.read(t)
		for name, want := range v.Moves {
			asset, err := transfer.ParseAsset(name)
			if err != nil {
				t.Fatalf("%s: %s: %v", v.Name, name, err)
			}
			got := "untold"
			if sums, err := transfer.Sum(moved, []fact.Asset{asset}); err == nil {
				got = sums[0].String()
			}
			if counted := countedBy(t, name, moved); got != want || counted != want {
				t.Errorf("%s %q moves %s of %s and counts %s, want %s", v.Chain, v.Name, got, name, counted, want)
			}
		}
	}
	if len(chains) != 5 {
		t.Errorf("there are vectors of %v", chains)
	}
}

// countedBy is with how much a limit on an asset counts what is moved. A policy
// that reads one which cannot be told does not allow.
func countedBy(t *testing.T, asset string, moved *fact.Transfers) string {
	t.Helper()
	control, err := velocity.Compile(&domain.VelocityControl{
		DataSource: domain.VelocityDataSource{ChainAssetTransfer: &domain.VelocityTransfers{Definition: []domain.VelocityAsset{{CAIP19: asset, Decimals: "0"}}}},
		Aggregate: domain.VelocityAggregation{
			Method: domain.VelocitySum, Operator: domain.VelocityLessOrEqual, Threshold: "1",
			Window: domain.VelocityWindow{Infinite: &domain.Nothing{}}, GroupBy: domain.VelocityGroupBy{Organization: &domain.Nothing{}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	amount, err := control.Amount(&fact.Request{Transfers: func() (*fact.Transfers, error) { return moved, nil }})
	if _, unreadable := errors.AsType[*velocity.Unreadable](err); unreadable {
		return "untold"
	}
	if err != nil {
		t.Fatal(err)
	}
	return control.Text(amount)
}
