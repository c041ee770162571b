package address

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"latchkey/internal/keys/curve"
	"latchkey/internal/test/testkit"
	"latchkey/testvectors"
)

// record is a public key and its address, wherever the vectors have one.
type record struct {
	Path             string         `json:"path"`
	Label            string         `json:"label"`
	Curve            curve.KeyCurve `json:"curve"`
	AddressFormat    Format         `json:"addressFormat"`
	PublicKeyHex     string         `json:"publicKeyHex"`
	UncompressedHex  string         `json:"publicKeyUncompressedHex"`
	Address          string         `json:"address"`
	ForceHardened    *record        `json:"forceHardened"`
	Allowed          bool           `json:"allowed"`
	CandidateAnswers map[string]any `json:"candidates"`
}

type vectors struct {
	HD                 []record `json:"hd"`
	Ed25519NonHardened []record `json:"ed25519NonHardened"`
	SeiOnEd25519       []record `json:"seiOnEd25519"`
	PrivateKeys        []record `json:"privateKeys"`
	CurveFormatMatrix  []record `json:"curveFormatMatrix"`
}

func load(tb testing.TB) vectors {
	tb.Helper()
	var v vectors
	testvectors.Read(tb, "addresses", &v)
	return v
}

func (r record) check(t *testing.T) {
	t.Helper()
	got, err := Of(r.AddressFormat, r.Curve, unhex(t, r.PublicKeyHex))
	if err != nil {
		t.Errorf("%s %s%s %s: %v", r.AddressFormat, r.Path, r.Label, r.PublicKeyHex, err)
		return
	}
	if got != r.Address {
		t.Errorf("%s %s%s %s: got %s, want %s", r.AddressFormat, r.Path, r.Label, r.PublicKeyHex, got, r.Address)
	}
}

func TestVectors(t *testing.T) {
	v := load(t)
	perFormat := map[Format]int{}
	t.Run("hd", func(t *testing.T) {
		for _, r := range v.HD {
			r.check(t)
			perFormat[r.AddressFormat]++
		}
	})
	t.Run("private keys", func(t *testing.T) {
		for _, r := range v.PrivateKeys {
			r.check(t)
			if r.UncompressedHex == "" {
				continue
			}
			got, full, err := WithFull(Uncompressed, r.Curve, unhex(t, r.PublicKeyHex))
			if err != nil || got != r.UncompressedHex || hex.EncodeToString(full) != got {
				t.Errorf("%s: got %s, %x and %v, want %s", r.Label, got, full, err, r.UncompressedHex)
			}
		}
	})
	t.Run("non-hardened", func(t *testing.T) {
		for _, r := range v.Ed25519NonHardened {
			h := *r.ForceHardened
			h.Curve, h.AddressFormat, h.Path = r.Curve, r.AddressFormat, r.Path
			h.check(t)
		}
	})
	// Of the three readings, decisions.md chose to refuse.
	t.Run("sei on ed25519", func(t *testing.T) {
		for _, r := range v.SeiOnEd25519 {
			if got, err := Of(r.AddressFormat, r.Curve, unhex(t, r.PublicKeyHex)); err == nil {
				t.Errorf("got %s", got)
			}
			if refused, listed := r.CandidateAnswers["rejected_wrong_curve"]; !listed || refused != nil {
				t.Errorf("the vectors no longer list a refusal: %v", r.CandidateAnswers)
			}
		}
	})
	// A reader that finds nothing would pass all of the above.
	want := map[string]int{"hd": 2706, "privateKeys": 593, "ed25519NonHardened": 198, "seiOnEd25519": 4, "matrix": 76}
	got := map[string]int{
		"hd": len(v.HD), "privateKeys": len(v.PrivateKeys), "ed25519NonHardened": len(v.Ed25519NonHardened),
		"seiOnEd25519": len(v.SeiOnEd25519), "matrix": len(v.CurveFormatMatrix),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, f := range Formats() {
		if perFormat[f] < 64 {
			t.Errorf("%s has only %d records", f, perFormat[f])
		}
	}
}

func TestCurveFormatMatrix(t *testing.T) {
	keys := map[curve.KeyCurve][]byte{
		curve.KeySecp256k1: unhex(t, k256Key),
		curve.KeyEd25519:   unhex(t, edwardsKey),
	}
	var order []Format // the matrix has the formats in the order of the interface
	for _, r := range load(t).CurveFormatMatrix {
		if !slices.Contains(order, r.AddressFormat) {
			order = append(order, r.AddressFormat)
		}
		if got := slices.Contains(r.AddressFormat.Curves(), r.Curve); got != r.Allowed {
			t.Errorf("%s on %s is listed: %t, want %t", r.AddressFormat, r.Curve, got, r.Allowed)
		}
		_, err := Of(r.AddressFormat, r.Curve, keys[r.Curve])
		if got := err == nil; got != r.Allowed {
			t.Errorf("%s on %s: %v, want allowed %t", r.AddressFormat, r.Curve, err, r.Allowed)
		}
		if err == nil {
			continue
		}
		for _, c := range r.AddressFormat.Curves() {
			if !strings.Contains(err.Error(), string(c)) {
				t.Errorf("%q does not name %s", err, c)
			}
		}
	}
	if diff := cmp.Diff(order, Formats()); diff != "" {
		t.Error(diff)
	}
}

var unhex = testkit.Unhex
