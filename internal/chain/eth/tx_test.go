package eth_test

import (
	"bytes"
	"strings"
	"testing"

	"latchkey/internal/chain/eth"
	"latchkey/internal/chain/rlp"
	"latchkey/testvectors"
)

// build writes a typed transaction, or a legacy one when kind is 0, from items
// that are already encoded.
func build(kind byte, items ...[]byte) []byte {
	var prefix []byte
	if kind != 0 {
		prefix = []byte{kind}
	}
	return rlp.AppendList(prefix, bytes.Join(items, nil))
}

func TestParseRefusals(t *testing.T) {
	var (
		zero    = []byte{0x80}
		one     = []byte{0x01}
		to      = rlp.AppendBytes(nil, bytes.Repeat([]byte{0x35}, 20))
		empty   = []byte{0xc0}
		short   = rlp.AppendBytes(nil, bytes.Repeat([]byte{0x35}, 19))
		padded  = []byte{0x82, 0x00, 0x01}
		long    = rlp.AppendBytes(nil, bytes.Repeat([]byte{0xff}, 33))
		nine    = rlp.AppendBytes(nil, bytes.Repeat([]byte{0xff}, 9))
		hash31  = rlp.AppendList(nil, rlp.AppendBytes(nil, make([]byte, 31)))
		auth5   = rlp.AppendList(nil, rlp.AppendList(nil, bytes.Join([][]byte{one, to, one, one, one}, nil)))
		authBig = rlp.AppendList(nil, rlp.AppendList(nil, bytes.Join([][]byte{one, to, one, {0x82, 0x01, 0x00}, one, one}, nil)))
	)
	good := build(2, one, one, one, one, one, to, one, zero, empty)
	if _, err := eth.Parse(good); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		raw  []byte
		want string
	}{
		{"empty", nil, "empty"},
		{"type 0x00", append([]byte{0}, good[1:]...), "unknown transaction type 0x00"},
		{"type 0x05", append([]byte{5}, good[1:]...), "unknown transaction type 0x05"},
		{"type 0x76", append([]byte{0x76}, good[1:]...), "unknown transaction type 0x76"},
		{"a string", []byte{0x80}, "unknown transaction type 0x80"},
		{"only a type", []byte{2}, "longer than the data"},
		{"truncated", good[:len(good)-1], "longer than the data"},
		{"trailing byte", append(bytes.Clone(good), 0), "trailing"},
		{"huge list length", []byte{2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, "longer than the data"},
		{"long form of a short length", append([]byte{2, 0xf8}, good[1:]...), ""},
		{"signed 1559", build(2, one, one, one, one, one, to, one, zero, empty, zero, one, one), "already carries a signature"},
		{"1559 with an empty signature", build(2, one, one, one, one, one, to, one, zero, empty, zero, zero, zero), "already carries a signature"},
		{"signed 2930", build(1, one, one, one, one, to, one, zero, empty, zero, one, one), "already carries a signature"},
		{"1559 with a field too few", build(2, one, one, one, one, one, to, one, zero), "has 9 fields, not 8"},
		{"1559 with a field too many", build(2, one, one, one, one, one, to, one, zero, empty, one), "has 9 fields, not 10"},
		{"signed legacy", build(0, one, one, one, to, one, zero, []byte{0x25}, one, one), "already carries a signature"},
		{"legacy with 7 fields", build(0, one, one, one, to, one, zero, one), "6 or 9 fields, not 7"},
		{"legacy with chain id 0", build(0, one, one, one, to, one, zero, zero, zero, zero), "chainId is 0"},
		{"legacy with a huge chain id", build(0, one, one, one, to, one, zero, rlp.AppendBytes(nil, bytes.Repeat([]byte{0xff}, 32)), zero, zero), "chainId is too large"},
		{"nonce with a leading zero", build(2, one, padded, one, one, one, to, one, zero, empty), "nonce: RLP length or integer"},
		{"zero as a byte", build(2, one, []byte{0}, one, one, one, to, one, zero, empty), "nonce: RLP length or integer"},
		{"nonce of 9 bytes", build(2, one, nine, one, one, one, to, one, zero, empty), "nonce: RLP integer is too large"},
		{"gas of 9 bytes", build(2, one, one, one, one, nine, to, one, zero, empty), "gas: RLP integer is too large"},
		{"value of 33 bytes", build(2, one, one, one, one, one, to, long, zero, empty), "value: RLP integer is too large"},
		{"value is a list", build(2, one, one, one, one, one, to, empty, zero, empty), "value: RLP item is a list"},
		{"data is a list", build(2, one, one, one, one, one, to, one, empty, empty), "data: RLP item is a list"},
		{"to is a list", build(2, one, one, one, one, one, empty, one, zero, empty), "to: RLP item is a list"},
		{"to of 19 bytes", build(2, one, one, one, one, one, short, one, zero, empty), "to: an address has 20 bytes, not 19"},
		{"access list is a string", build(2, one, one, one, one, one, to, one, zero, zero), "accessList: RLP item is a list"},
		{"access list entry of one field", build(2, one, one, one, one, one, to, one, zero, rlp.AppendList(nil, rlp.AppendList(nil, to))), "accessList: an entry has 2 fields, not 1"},
		{"storage key of 31 bytes", build(2, one, one, one, one, one, to, one, zero, rlp.AppendList(nil, rlp.AppendList(nil, append(bytes.Clone(to), hash31...)))), "accessList: storageKeys: an entry has 32 bytes"},
		{"blob without recipient", build(3, one, one, one, one, one, zero, one, zero, empty, one, empty), "needs a recipient"},
		{"blob hash of 31 bytes", build(3, one, one, one, one, one, to, one, zero, empty, one, hash31), "blobVersionedHashes: an entry has 32 bytes"},
		{"blob with its sidecar", build(3, build(0, one), empty, empty, empty), "without its blobs"},
		{"set code without recipient", build(4, one, one, one, one, one, zero, one, zero, empty, empty), "needs a recipient"},
		{"authorization of 5 fields", build(4, one, one, one, one, one, to, one, zero, empty, auth5), "authorizationList: an entry has 6 fields, not 5"},
		{"authorization with a large parity", build(4, one, one, one, one, one, to, one, zero, empty, authBig), "authorizationList: yParity"},
		{"too large", make([]byte, eth.MaxSize+1), "at most"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := eth.Parse(c.raw)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

// Every prefix of a good transaction is refused, and so is every extension.
func TestTruncations(t *testing.T) {
	for _, v := range testvectors.Section[txVector](t, "signing", "ethereum") {
		raw := testvectors.Hex(t, v.Unsigned)
		for n := range raw {
			if _, err := eth.Parse(raw[:n]); err == nil {
				t.Errorf("%s: the first %d bytes are accepted", v.Name, n)
			}
		}
		if _, err := eth.Parse(append(raw, 0)); err == nil {
			t.Errorf("%s: a trailing byte is accepted", v.Name)
		}
	}
}

// The caller may not change what will be signed.
func TestParseKeepsItsOwnCopy(t *testing.T) {
	v := testvectors.Section[txVector](t, "signing", "ethereum")[1]
	raw := testvectors.Hex(t, v.Unsigned)
	tx, err := eth.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	before := tx.Digest()
	clear(raw)
	clear(tx.Data)
	if tx.Digest() != before {
		t.Error("the digest follows the caller's bytes")
	}
}

// FuzzParse: never a panic; the signed form is the unsigned one with three
// fields more, so the fields say all that the bytes said.
func FuzzParse(f *testing.F) {
	for _, v := range testvectors.Section[txVector](f, "signing", "ethereum") {
		f.Add(testvectors.Hex(f, v.Unsigned))
		f.Add(testvectors.Hex(f, v.Signed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		tx, err := eth.Parse(raw)
		if err != nil {
			return
		}
		if got := tx.Encode(); !bytes.Equal(got, raw) {
			t.Fatalf("%x is written again as %x", raw, got)
		}
		signed := tx.Signed([32]byte{31: 1}, [32]byte{31: 2}, 1)
		if _, err := eth.Parse(signed); err == nil {
			t.Errorf("%x, which is signed, is accepted as unsigned", signed)
		}
	})
}
