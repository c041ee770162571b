package vault

import (
	"encoding/hex"
	"strconv"
	"strings"
	"testing"

	"latchkey/internal/fault"
	"latchkey/internal/keys/curve"
	"latchkey/internal/test/testkit"
	"latchkey/testvectors"
)

var unhex = testkit.Unhex

func parsePath(t testing.TB, text string) (path []uint32) {
	t.Helper()
	for _, part := range strings.Split(text, "/")[1:] {
		digits, hardened := strings.CutSuffix(part, "'")
		n, err := strconv.ParseUint(digits, 10, 31)
		if err != nil {
			t.Fatal(err)
		}
		if hardened {
			n |= 1 << 31
		}
		path = append(path, uint32(n))
	}
	return path
}

type derivationVector struct {
	Mnemonic   string         `json:"mnemonic"`
	Passphrase string         `json:"passphrase"`
	Curve      curve.KeyCurve `json:"curve"`
	Path       string         `json:"path"`
	PublicKey  string         `json:"publicKeyHex"`
	Hardened   struct {
		PublicKey string `json:"publicKeyHex"`
	} `json:"forceHardened"`
}

// Phrases are imported as a client would, then every path is derived.
func TestDerivationVectors(t *testing.T) {
	var all struct {
		HD          []derivationVector `json:"hd"`
		NonHardened []derivationVector `json:"ed25519NonHardened"`
	}
	testvectors.Read(t, "addresses", &all)
	if len(all.HD) < 2000 || len(all.NonHardened) < 100 {
		t.Fatalf("%d and %d vectors", len(all.HD), len(all.NonHardened))
	}
	for i := range all.NonHardened {
		all.NonHardened[i].PublicKey = all.NonHardened[i].Hardened.PublicKey
	}
	s, _ := begin(t)
	imported := map[string]bool{}
	derived := map[derivationVector]bool{}
	for _, v := range append(all.HD, all.NonHardened...) {
		if derived[v] { // formats share paths
			continue
		}
		derived[v] = true
		text := v.Mnemonic
		if v.Passphrase != "" {
			text += "\n" + v.Passphrase
		}
		if !imported[text] {
			imported[text] = true
			if err := importSeed(t, s, text, text); err != nil {
				t.Fatal(err)
			}
		}
		public, err := s.Derive(text, v.Curve, parsePath(t, v.Path))
		if got := hex.EncodeToString(public); err != nil || got != v.PublicKey {
			t.Errorf("%.30s %s %s: %s, %v, want %s", v.Mnemonic, v.Curve, v.Path, got, err, v.PublicKey)
		}
	}
}

func TestPrivateKeyVectors(t *testing.T) {
	type vector struct {
		PrivateKey string         `json:"privateKeyHex"`
		Label      string         `json:"label"`
		Curve      curve.KeyCurve `json:"curve"`
		PublicKey  string         `json:"publicKeyHex"`
	}
	var all struct {
		Valid   []vector `json:"privateKeys"`
		Invalid []vector `json:"invalidPrivateKeys"`
	}
	testvectors.Read(t, "addresses", &all)
	s, _ := begin(t)
	seen := map[vector]bool{}
	for i, v := range all.Valid {
		if seen[v] {
			continue
		}
		seen[v] = true
		public, err := importKey(t, s, strconv.Itoa(i), v.Curve, unhex(t, v.PrivateKey))
		if got := hex.EncodeToString(public); err != nil || got != v.PublicKey {
			t.Errorf("%s %s: %s, %v, want %s", v.Curve, v.Label, got, err, v.PublicKey)
		}
	}
	checked := 0
	for _, v := range all.Invalid {
		raw, err := hex.DecodeString(v.PrivateKey)
		if err != nil || v.Label == "upper-case hex" || strings.HasPrefix(v.Label, "0x prefix") {
			continue // about the text of a key, which never reaches us
		}
		checked++
		if len(raw) == 0 {
			raw = nil
		}
		_, err = importKey(t, s, "invalid", v.Curve, raw)
		if _, ok := fault.As(err); !ok {
			t.Errorf("%s %s: %v, want a fault", v.Curve, v.Label, err)
		}
	}
	if checked < 10 {
		t.Errorf("only %d invalid keys", checked)
	}
}

func importKey(t testing.TB, s *Session, id string, c curve.KeyCurve, raw []byte) ([]byte, error) {
	t.Helper()
	if err := s.DropImportTarget("target of " + id); err != nil {
		t.Fatal(err)
	}
	target, err := s.NewImportTarget("target of " + id)
	if err != nil {
		t.Fatal(err)
	}
	return s.ImportKey(id, "target of "+id, c, clientSeal(t, target, raw))
}

func TestSigningVectors(t *testing.T) {
	type vector struct {
		PrivateKey string `json:"privateKeyHex"`
		PublicKey  string `json:"publicKeyHex"`
		Digest     string `json:"digestHex"`
		Message    string `json:"messageHex"`
		R          string `json:"r"`
		S          string `json:"s"`
		V          *byte  `json:"v"`
		Signature  string `json:"signatureHex"`
	}
	var all struct {
		ECDSA     []vector `json:"ecdsa"`
		Published []vector `json:"ecdsaPublished"`
		Ed25519   []vector `json:"ed25519"`
		Taproot   []vector `json:"taproot"`
		Schnorr   []vector `json:"bip340"`
	}
	testvectors.Read(t, "signing", &all)
	s, _ := begin(t)
	keys := map[string]bool{}
	key := func(c curve.KeyCurve, v vector) string {
		id := string(c) + v.PrivateKey
		if !keys[id] {
			keys[id] = true
			public, err := importKey(t, s, id, c, unhex(t, v.PrivateKey))
			if err != nil || v.PublicKey != "" && hex.EncodeToString(public) != v.PublicKey {
				t.Fatalf("%s: %x, %v", id, public, err)
			}
		}
		return id
	}
	check := func(name string, v vector, sig Signature, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if v.Signature == "" {
			v.Signature = v.R + v.S
		}
		if got := hex.EncodeToString(append(sig.R[:], sig.S[:]...)); got != v.Signature || v.V != nil && sig.V != *v.V {
			t.Errorf("%s: %s %d, want %s", name, got, sig.V, v.Signature)
		}
	}
	for _, v := range append(all.ECDSA, all.Published...) {
		sig, err := s.SignDigest(key(curve.KeySecp256k1, v), curve.KeySecp256k1, [32]byte(unhex(t, v.Digest)))
		check("ecdsa", v, sig, err)
	}
	for _, v := range all.Ed25519 {
		sig, err := s.SignMessage(key(curve.KeyEd25519, v), unhex(t, v.Message))
		check("ed25519", v, sig, err)
	}
	for _, v := range all.Taproot {
		sig, err := s.SignTaproot(key(curve.KeySecp256k1, v), [32]byte(unhex(t, v.Digest)))
		check("taproot", v, sig, err)
	}
	for _, v := range all.Schnorr {
		sig, err := s.SignSchnorr(key(curve.KeySecp256k1, v), [32]byte(unhex(t, v.Digest)))
		check("bip340", v, sig, err)
	}
	if n := len(all.ECDSA) + len(all.Ed25519) + len(all.Taproot) + len(all.Schnorr) + len(all.Published); n < 200 {
		t.Errorf("only %d vectors", n)
	}
}
