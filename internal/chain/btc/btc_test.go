package btc_test

import (
	"bytes"
	"encoding/hex"
	"strconv"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/txscript"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

	"latchkey/internal/chain/btc"
	"latchkey/testvectors"
)

type vector struct {
	Name, PrivateKeyHex, PublicKeyHex, UnsignedPsbtHex, SignedPsbtHex, FinalTxHex, TxID string

	Inputs    []struct{ Kind, Address, ScriptPubKeyHex, ValueSats string }
	Sighashes []struct{ Hash string }
}

var kinds = map[string]btc.Kind{"p2pkh": btc.P2PKH, "p2wpkh": btc.P2WPKH, "p2tr": btc.P2TR}

// supported is whether every input of the vector is of a kind that we sign.
func (v vector) supported() bool {
	for _, in := range v.Inputs {
		if kinds[in.Kind] == 0 {
			return false
		}
	}
	return true
}

func load(tb testing.TB) []vector { return testvectors.Section[vector](tb, "signing", "bitcoin") }

func TestVectors(t *testing.T) {
	signed := 0
	for _, v := range load(t) {
		if !v.supported() {
			continue
		}
		signed++
		t.Run(v.Name, func(t *testing.T) {
			public := [33]byte(testvectors.Hex(t, v.PublicKeyHex))
			raw := testvectors.Hex(t, v.UnsignedPsbtHex)
			// One request for each kind of address, as a client would send them.
			for _, kind := range []btc.Kind{btc.P2TR, btc.P2PKH, btc.P2WPKH} {
				tx, err := btc.Parse(raw)
				if err != nil {
					t.Fatal(err)
				}
				checkFields(t, tx, v)
				all, err := tx.ToSign(public, kind)
				if want := v.count(kind); want == 0 && err == nil || want != len(all) {
					t.Fatalf("%d inputs of kind %d to sign, want %d: %v", len(all), kind, want, err)
				}
				for _, one := range all {
					if got := hex.EncodeToString(one.Digest[:]); got != v.Sighashes[one.Input].Hash || one.Kind != kind {
						t.Fatalf("digest of input %d is %s, want %s", one.Input, got, v.Sighashes[one.Input].Hash)
					}
					r, s := sign(t, v.PrivateKeyHex, one)
					if err := tx.AddSignature(one.Input, r, s, public); err != nil {
						t.Fatal(err)
					}
				}
				raw = tx.Encode()
			}
			if got := hex.EncodeToString(raw); got != v.SignedPsbtHex {
				t.Errorf("signed\n %s, want\n %s", got, v.SignedPsbtHex)
			}
			if got := finalise(t, raw); got != v.FinalTxHex {
				t.Errorf("final\n %s, want\n %s", got, v.FinalTxHex)
			}
		})
	}
	if signed != 7 {
		t.Errorf("%d vectors were signed, want 7", signed)
	}
}

func (v vector) count(kind btc.Kind) (n int) {
	for _, in := range v.Inputs {
		if kinds[in.Kind] == kind {
			n++
		}
	}
	return n
}

func checkFields(t *testing.T, tx *btc.Tx, v vector) {
	t.Helper()
	var fee int64
	for i, want := range v.Inputs {
		got := tx.Inputs[i]
		if !got.Known || strconv.FormatInt(got.Amount, 10) != want.ValueSats || hex.EncodeToString(got.Script) != want.ScriptPubKeyHex || got.Vout != 0 || got.Sequence != 0xfffffffd {
			t.Errorf("input %d: %+v, want %+v", i, got, want)
		}
		fee += got.Amount
	}
	for _, out := range tx.Outputs {
		fee -= out.Value
	}
	if got, ok := tx.Fee(); !ok || got != fee || fee <= 0 {
		t.Errorf("fee %d %v, want %d", got, ok, fee)
	}
	if tx.Version != 2 || tx.LockTime != 0 {
		t.Errorf("version %d, lock time %d", tx.Version, tx.LockTime)
	}
}

// sign is RFC 6979 with low S, or BIP-340 with the tweak of BIP-341 and zero
// auxiliary randomness.
func sign(t *testing.T, key string, one btc.ToSign) (r, s [32]byte) {
	t.Helper()
	private, _ := btcec.PrivKeyFromBytes(testvectors.Hex(t, key))
	if one.Kind == btc.P2TR {
		tweaked := txscript.TweakTaprootPrivKey(*private, nil)
		sig, err := schnorr.Sign(tweaked, one.Digest[:], schnorr.CustomNonce([32]byte{}))
		if err != nil {
			t.Fatal(err)
		}
		b := sig.Serialize()
		return [32]byte(b[:32]), [32]byte(b[32:])
	}
	compact := ecdsa.SignCompact(secp256k1.PrivKeyFromBytes(private.Serialize()), one.Digest[:], true)
	return [32]byte(compact[1:33]), [32]byte(compact[33:])
}

// finalise is the other party: btcutil reads our PSBT and makes the
// transaction.
func finalise(t *testing.T, raw []byte) string {
	t.Helper()
	packet, err := psbt.NewFromRawBytes(bytes.NewReader(raw), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := psbt.MaybeFinalizeAll(packet); err != nil {
		t.Fatal(err)
	}
	final, err := psbt.Extract(packet)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := final.Serialize(&b); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(b.Bytes())
}

func TestUnsupportedVectors(t *testing.T) {
	refused := 0
	for _, v := range load(t) {
		if v.supported() {
			continue
		}
		refused++
		tx, err := btc.Parse(testvectors.Hex(t, v.UnsignedPsbtHex))
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []btc.Kind{btc.P2PKH, btc.P2WPKH, btc.P2TR} {
			if _, err := tx.ToSign([33]byte(testvectors.Hex(t, v.PublicKeyHex)), kind); err == nil || !strings.Contains(err.Error(), "not supported") {
				t.Errorf("%s: %v", v.Name, err)
			}
		}
		if err := tx.AddSignature(0, [32]byte{1}, [32]byte{1}, [33]byte(testvectors.Hex(t, v.PublicKeyHex))); err == nil {
			t.Errorf("%s: a signature is accepted", v.Name)
		}
	}
	if refused != 3 {
		t.Errorf("%d vectors were refused, want 3", refused)
	}
}

// named finds a vector, parsed into its maps.
func named(t *testing.T, name string) (maps [][][2]string, public [33]byte) {
	t.Helper()
	for _, v := range load(t) {
		if v.Name == name {
			return splitMaps(t, testvectors.Hex(t, v.UnsignedPsbtHex)), [33]byte(testvectors.Hex(t, v.PublicKeyHex))
		}
	}
	t.Fatalf("no vector %q", name)
	return nil, public
}

// splitMaps and joinMaps know only lengths below 253, enough for the vectors.
func splitMaps(t *testing.T, raw []byte) (maps [][][2]string) {
	t.Helper()
	var current [][2]string
	for b := raw[5:]; len(b) > 0; {
		n := int(b[0])
		key := string(b[1 : 1+n])
		b = b[1+n:]
		if n == 0 {
			maps, current = append(maps, current), nil
			continue
		}
		if b[0] >= 253 {
			t.Fatal("the value is too long for this test")
		}
		n = int(b[0])
		current = append(current, [2]string{key, string(b[1 : 1+n])})
		b = b[1+n:]
	}
	return maps
}

func joinMaps(maps [][][2]string) []byte {
	b := []byte("psbt\xff")
	for _, m := range maps {
		for _, p := range m {
			b = append(append(b, byte(len(p[0]))), p[0]...)
			b = append(append(b, byte(len(p[1]))), p[1]...)
		}
		b = append(b, 0)
	}
	return b
}

// get finds a pair to change.
func get(maps [][][2]string, section int, key string) *[2]string {
	for i := range maps[section] {
		if maps[section][i][0] == key {
			return &maps[section][i]
		}
	}
	panic("the vector has no such pair")
}

func TestRefusals(t *testing.T) {
	const segwit, legacy, taproot = "P2WPKH one input", "P2PKH one input", "P2TR key path one input"
	add := func(section int, key, value string) func([][][2]string) [][][2]string {
		return func(m [][][2]string) [][][2]string {
			m[section] = append(m[section], [2]string{key, value})
			return m
		}
	}
	change := func(section int, key string, f func(string) string) func([][][2]string) [][][2]string {
		return func(m [][][2]string) [][][2]string {
			p := get(m, section, key)
			p[1] = f(p[1])
			return m
		}
	}
	flip := func(at int) func(string) string {
		return func(s string) string {
			b := []byte(s)
			b[(len(b)+at)%len(b)] ^= 1
			return string(b)
		}
	}
	for _, c := range []struct {
		name, vector string
		kind         btc.Kind
		change       func([][][2]string) [][][2]string
		want         string
	}{
		{"version 2", segwit, btc.P2WPKH, add(0, "\xfb", "\x02\x00\x00\x00"), "only version 0"},
		{"no unsigned transaction", segwit, btc.P2WPKH, func(m [][][2]string) [][][2]string { m[0] = nil; return m }, "no unsigned transaction"},
		{"key with data", segwit, btc.P2WPKH, add(1, "\x01x", "y"), "key of type 0x01 has data"},
		{"global key with data", segwit, btc.P2WPKH, add(0, "\x00x", "y"), "key of type 0x00 has data"},
		{"repeated key", segwit, btc.P2WPKH, add(1, "\x01", "y"), "repeated"},
		{"a map too many", segwit, btc.P2WPKH, func(m [][][2]string) [][][2]string { return append(m, nil) }, "has 5 maps"},
		{"a map too few", segwit, btc.P2WPKH, func(m [][][2]string) [][][2]string { return m[:len(m)-1] }, "has 3 maps"},
		{"trailing byte in the transaction", segwit, btc.P2WPKH, change(0, "\x00", func(s string) string { return s + "\x00" }), "unsigned transaction"},
		{"truncated transaction", segwit, btc.P2WPKH, change(0, "\x00", func(s string) string { return s[:len(s)-1] }), "unsigned transaction"},
		{"input count too large", segwit, btc.P2WPKH, change(0, "\x00", func(s string) string { return s[:4] + "\xfe\xff\xff\xff\x7f" + s[5:] }), "unsigned transaction"},
		{"output value negative", segwit, btc.P2WPKH, change(0, "\x00", func(s string) string { return s[:54] + "\xff" + s[55:] }), "out of range"},
		{"outputs above the inputs", segwit, btc.P2WPKH, change(1, "\x01", func(s string) string { return "\x01\x00\x00\x00\x00\x00\x00\x00" + s[8:] }), "more than the inputs"},
		{"input amount negative", segwit, btc.P2WPKH, change(1, "\x01", func(s string) string { return "\xff\xff\xff\xff\xff\xff\xff\xff" + s[8:] }), "out of range"},
		{"witness_utxo cut short", segwit, btc.P2WPKH, change(1, "\x01", func(s string) string { return s[:len(s)-1] }), "witness_utxo"},
		{"witness_utxo too long", segwit, btc.P2WPKH, change(1, "\x01", func(s string) string { return s + "x" }), "witness_utxo"},
		{"another script", segwit, btc.P2WPKH, change(1, "\x01", flip(-1)), "no input belongs"},
		{"no utxo", segwit, btc.P2WPKH, func(m [][][2]string) [][][2]string { m[1] = nil; return m }, "neither non_witness_utxo nor witness_utxo"},
		{"another kind", segwit, btc.P2PKH, func(m [][][2]string) [][][2]string { return m }, "no input belongs"},
		{"unknown kind", segwit, btc.Kind(9), func(m [][][2]string) [][][2]string { return m }, "cannot sign a PSBT"},
		{"SIGHASH_NONE", segwit, btc.P2WPKH, add(1, "\x03", "\x02\x00\x00\x00"), "another sighash type than SIGHASH_ALL"},
		{"SIGHASH_DEFAULT for segwit", segwit, btc.P2WPKH, add(1, "\x03", "\x00\x00\x00\x00"), "another sighash type than SIGHASH_ALL"},
		{"sighash type of one byte", segwit, btc.P2WPKH, add(1, "\x03", "\x01"), "another sighash type"},
		{"finalised", segwit, btc.P2WPKH, add(1, "\x08", "\x00"), "already finalised"},
		{"previous transaction changed", legacy, btc.P2PKH, change(1, "\x00", flip(-1)), "another transaction"},
		{"previous transaction cut short", legacy, btc.P2PKH, change(1, "\x00", func(s string) string { return s[:len(s)-1] }), "non_witness_utxo"},
		{"no such output", legacy, btc.P2PKH, change(0, "\x00", func(s string) string { return s[:37] + "\x02" + s[38:] }), "no such output"},
		{"legacy with witness_utxo only", legacy, btc.P2PKH, func(m [][][2]string) [][][2]string {
			whole := get(m, 1, "\x00")[1]
			at := strings.Index(whole, "\xa0\x86\x01")
			m[1] = [][2]string{{"\x01", whole[at : at+8+26]}}
			return m
		}, "needs non_witness_utxo"},
		{"utxos disagree", legacy, btc.P2PKH, func(m [][][2]string) [][][2]string {
			whole := get(m, 1, "\x00")[1]
			at := strings.Index(whole, "\xa0\x86\x01")
			return add(1, "\x01", "\xa1"+whole[at+1:at+8+26])(m)
		}, "disagree"},
		{"SIGHASH_ALL for taproot", taproot, btc.P2TR, add(1, "\x03", "\x01\x00\x00\x00"), "another sighash type than SIGHASH_DEFAULT"},
		{"script tree", taproot, btc.P2TR, add(1, "\x18", strings.Repeat("r", 32)), "has scripts"},
		{"another output key", taproot, btc.P2TR, change(1, "\x01", flip(-1)), "P2TR output with scripts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			maps, public := named(t, c.vector)
			tx, err := btc.Parse(joinMaps(c.change(maps)))
			if err == nil {
				_, err = tx.ToSign(public, c.kind)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestTaprootNeedsEveryOutput(t *testing.T) {
	maps, public := named(t, "P2TR key path two inputs")
	maps[2] = nil
	tx, err := btc.Parse(joinMaps(maps))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := tx.Fee(); ok {
		t.Error("the fee is known without the amount of an input")
	}
	if _, err := tx.ToSign(public, btc.P2TR); err == nil || !strings.Contains(err.Error(), "of every input") {
		t.Error(err)
	}
	// A segwit signature covers only its own input.
	maps, public = named(t, "P2WPKH two inputs")
	maps[2] = nil
	if tx, err = btc.Parse(joinMaps(maps)); err != nil {
		t.Fatal(err)
	}
	if all, err := tx.ToSign(public, btc.P2WPKH); err != nil || len(all) != 1 {
		t.Errorf("%v %v", all, err)
	}
}

// What others put in is kept byte for byte, in any order.
func TestForeignFieldsAreKept(t *testing.T) {
	maps, public := named(t, "P2WPKH one input")
	maps[0] = append([][2]string{{"\xfcowner", "value"}}, maps[0]...)
	maps[1] = append([][2]string{{"\x7funknown", "kept"}, {"\x03", "\x01\x00\x00\x00"}}, maps[1]...)
	maps[1] = append(maps[1], [2]string{"\x06" + string(public[:]), ""}) // btcutil/psbt panics on this one
	maps[2] = append(maps[2], [2]string{"\x7fout", ""})
	raw := joinMaps(maps)
	tx, err := btc.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	if got := tx.Encode(); !bytes.Equal(got, raw) {
		t.Fatalf("%x is written again as %x", raw, got)
	}
	for _, s := range []byte{5, 6} { // the second replaces the first
		if err := tx.AddSignature(0, [32]byte{31: 5}, [32]byte{31: s}, public); err != nil {
			t.Fatal(err)
		}
	}
	after := splitMaps(t, tx.Encode())
	if len(after[1]) != len(maps[1])+1 || get(after, 1, "\x02"+string(public[:]))[1] != "\x30\x06\x02\x01\x05\x02\x01\x06\x01" {
		t.Errorf("%x", tx.Encode())
	}
	for i := range maps {
		for _, p := range maps[i] {
			if *get(after, i, p[0]) != p {
				t.Errorf("pair %x of map %d changed", p[0], i)
			}
		}
	}
}

func TestAddSignatureRefusals(t *testing.T) {
	maps, public := named(t, "P2WPKH one input")
	tx, err := btc.Parse(joinMaps(maps))
	if err != nil {
		t.Fatal(err)
	}
	one, n := [32]byte{31: 1}, [32]byte(bytes.Repeat([]byte{0xff}, 32))
	other := [33]byte(testvectors.Hex(t, "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"))
	for name, err := range map[string]error{
		"input -1":        tx.AddSignature(-1, one, one, public),
		"input 1":         tx.AddSignature(1, one, one, public),
		"r out of range":  tx.AddSignature(0, n, one, public),
		"s is zero":       tx.AddSignature(0, one, [32]byte{}, public),
		"another key":     tx.AddSignature(0, one, one, other),
		"not a key":       tx.AddSignature(0, one, one, [33]byte{}),
		"uncompressed":    tx.AddSignature(0, one, one, [33]byte{4}),
		"not on the line": tx.AddSignature(0, one, one, [33]byte{0: 2, 32: 5}),
	} {
		if err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestLengths(t *testing.T) {
	for _, v := range load(t) {
		raw := testvectors.Hex(t, v.UnsignedPsbtHex)
		for n := range raw {
			if _, err := btc.Parse(raw[:n]); err == nil {
				t.Errorf("%s: the first %d bytes are accepted", v.Name, n)
			}
		}
		if _, err := btc.Parse(append(raw, 0)); err == nil {
			t.Errorf("%s: a trailing byte is accepted", v.Name)
		}
		if _, err := btc.Parse(bytes.Replace(raw, []byte("psbt\xff\x01"), []byte("psbt\xff\xfd\x01\x00"), 1)); err == nil {
			t.Errorf("%s: a long form of a length is accepted", v.Name)
		}
		if _, err := btc.Parse(bytes.Replace(raw, []byte("psbt\xff\x01\x00"), []byte("psbt\xff\x01\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff"), 1)); err == nil {
			t.Errorf("%s: a huge length is accepted", v.Name)
		}
	}
	if _, err := btc.Parse(make([]byte, btc.MaxSize+1)); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Error(err)
	}
}

// FuzzParse: never a panic; what parses is written again byte for byte, and
// what is signed still parses.
func FuzzParse(f *testing.F) {
	var public [33]byte
	for _, v := range load(f) {
		f.Add(testvectors.Hex(f, v.UnsignedPsbtHex))
		f.Add(testvectors.Hex(f, v.SignedPsbtHex))
		public = [33]byte(testvectors.Hex(f, v.PublicKeyHex))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		tx, err := btc.Parse(raw)
		if err != nil {
			return
		}
		if got := tx.Encode(); !bytes.Equal(got, raw) {
			t.Fatalf("%x is written again as %x", raw, got)
		}
		for _, kind := range []btc.Kind{btc.P2PKH, btc.P2WPKH, btc.P2TR} {
			all, err := tx.ToSign(public, kind)
			if err != nil {
				continue
			}
			for _, one := range all {
				if err := tx.AddSignature(one.Input, [32]byte{31: 1}, [32]byte{31: 2}, public); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := btc.Parse(tx.Encode()); err != nil {
				t.Fatalf("%x is refused after signing: %v", raw, err)
			}
		}
	})
}
