package translog

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	tlogproof "github.com/transparency-dev/formats/proof"
)

// issue makes a log of some entries with the sample record among them, and the
// receipt of that.
func issue(t testing.TB, size, index int, by ...cosigner) Receipt {
	t.Helper()
	text, salt := sample.AppendText(nil), [32]byte{7}
	var leaves []Hash
	for n := range size {
		leaves = append(leaves, leafOf(n))
	}
	leaves[index] = LeafHash(EntryHash(salt, text))
	tiles := memory{}
	tree, changed := new(Tree).Append(leaves...)
	tiles.store(changed)
	path, err := ProveInclusion(tiles, tree.Head(), int64(index))
	if err != nil {
		t.Fatal(err)
	}
	return NewReceipt(text, salt, int64(index), path, sign(t, Checkpoint{Origin: testOrigin, Head: tree.Head()}, by...))
}

func TestReceipt(t *testing.T) {
	own, w1, w2 := testLog(t), witness(t, 1), witness(t, 2)
	witnesses := append(append(Keys{}, w1.keys...), w2.keys...)
	for _, size := range []int{1, 2, 300, 70_000} {
		r := issue(t, size, size/3, own, w1)
		inner, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{string(inner), `{"receipt": ` + string(inner) + "}\n"} {
			read, err := ParseReceipt([]byte(text))
			if err != nil || read != r {
				t.Fatalf("%s: %v", text, err)
			}
		}
		proven, err := VerifyReceipt(r, own.keys, witnesses, 1)
		if err != nil || proven.Record != sample || proven.Index != int64(size/3) || proven.Checkpoint.Size != int64(size) {
			t.Fatalf("%+v, %v", proven, err)
		}
		if _, err := VerifyReceipt(r, own.keys, witnesses, 2); err == nil || !strings.Contains(err.Error(), "1 of the given witnesses have cosigned it (witness.example/w1), and 2 are needed") {
			t.Errorf("too few witnesses: %v", err)
		}
		var foreign tlogproof.TLogProof
		if err := foreign.Unmarshal([]byte(r.Proof)); err != nil || foreign.Index != uint64(size/3) || string(foreign.Marshal()) != r.Proof {
			t.Errorf("the second implementation: %v", err)
		}
	}
}

// Every byte of a receipt counts.
func TestDamagedReceipt(t *testing.T) {
	own, w := testLog(t), witness(t, 1)
	good := issue(t, 300, 150, own, w)
	random := rand.New(rand.NewPCG(5, 6))
	changed := func(text string, at int) string {
		b := []byte(text)
		b[at] ^= 1 << random.IntN(7)
		return string(b)
	}
	for at := range len(good.Record) {
		bad := good
		bad.Record = changed(good.Record, at)
		refused(t, "record", bad, own, w)
	}
	for at := range len(good.Salt) {
		bad := good
		bad.Salt = changed(good.Salt, at)
		refused(t, "salt", bad, own, w)
	}
	for at := range len(good.Proof) {
		if at > 700 && random.IntN(20) > 0 {
			continue // of the long signatures some are enough
		}
		bad := good
		bad.Proof = changed(good.Proof, at)
		refused(t, "proof", bad, own, w)
	}
}

func refused(t *testing.T, part string, bad Receipt, own, w cosigner) {
	t.Helper()
	if _, err := VerifyReceipt(bad, own.keys, w.keys, 1); err == nil {
		t.Errorf("a changed %s is accepted: %+v", part, bad)
	}
}

func TestReceiptRefused(t *testing.T) {
	own := testLog(t)
	good := issue(t, 300, 150, own)
	other := issue(t, 301, 150, own)
	with := func(change func(*Receipt)) Receipt {
		r := good
		change(&r)
		return r
	}
	for name, tc := range map[string]struct {
		receipt Receipt
		want    string
	}{
		"another record": {with(func(r *Receipt) { r.Record = strings.Replace(r.Record, "COMPLETED", "FAILED", 1) }), "does not lead from entry 150"},
		"another salt":   {with(func(r *Receipt) { r.Salt = strings.Repeat("00", 32) }), "does not lead from entry 150"},
		"no salt":        {with(func(r *Receipt) { r.Salt = "" }), "the salt is not 32 bytes"},
		"another index":  {with(func(r *Receipt) { r.Proof = strings.Replace(r.Proof, "index 150", "index 151", 1) }), "does not lead from entry 151"},
		"index beyond":   {with(func(r *Receipt) { r.Proof = strings.Replace(r.Proof, "index 150", "index 300", 1) }), "has none of index 300"},
		"a log's other checkpoint": {with(func(r *Receipt) {
			_, note, _ := strings.Cut(other.Proof, "\n\n")
			path, _, _ := strings.Cut(r.Proof, "\n\n")
			r.Proof = path + "\n\n" + note
		}), "does not lead from"},
		"extra data":     {with(func(r *Receipt) { r.Proof = strings.Replace(r.Proof, "index", "extra AAAA\nindex", 1) }), "extra data"},
		"no header":      {with(func(r *Receipt) { r.Proof = strings.TrimPrefix(r.Proof, "c2sp") }), "first line"},
		"no index":       {with(func(r *Receipt) { r.Proof = strings.Replace(r.Proof, "index 150\n", "", 1) }), "second line"},
		"no checkpoint":  {with(func(r *Receipt) { r.Proof, _, _ = strings.Cut(r.Proof, "\n\n") }), "no checkpoint"},
		"a hash of less": {with(func(r *Receipt) { r.Proof = strings.Replace(r.Proof, "150\n", "150\nAAAA\n", 1) }), "hash 1"},
		"many hashes": {with(func(r *Receipt) {
			r.Proof = strings.Replace(r.Proof, "150\n", "150\n"+strings.Repeat(Hash{}.String()+"\n", 60), 1)
		}), "more than 63"},
	} {
		if _, err := VerifyReceipt(tc.receipt, own.keys, nil, 0); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v; want an error with %q", name, err, tc.want)
		}
	}
}

func TestParseReceiptRefuses(t *testing.T) {
	for text, want := range map[string]string{
		``: "not a JSON object", `[]`: "not a JSON object", `{`: "no end", `{"record":1}`: "", `{"receipt":3}`: "not a JSON object",
		`{"record":"","salt":"","proof":""} x`:                                      "more after",
		`{"record":"","salt":"","proof":"","salt":""}`:                              `"salt" is there twice`,
		`{"record":"","salt":"","proof":"","other":""}`:                             `"other" is not known`,
		`{"record":"","Salt":"","proof":""}`:                                        `"salt" is missing`,
		`{"record":"","salt":null,"proof":""}`:                                      `"salt" is missing or is not a string`,
		`{"code":10,"message":"the entry is not published yet"}`:                    "a receipt has record, salt and proof",
		`{"record":"","salt":"","proof":"` + strings.Repeat("x", maxReceipt) + `"}`: "more than",
	} {
		if r, err := ParseReceipt([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, %v; want an error with %q", text, r, err, want)
		}
	}
}

func FuzzReceipt(f *testing.F) {
	own, w := testLog(f).short(), witness(f, 1).short()
	for _, r := range []Receipt{issue(f, 1, 0, own), issue(f, 300, 17, own, w)} {
		text, err := json.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		f.Add([]byte(`{"receipt":` + string(text) + `}`))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := ParseReceipt(text)
		if err != nil {
			return
		}
		if proven, err := VerifyReceipt(r, own.keys, w.keys, 0); err == nil && proven.Record != sample {
			t.Fatalf("a record that was never logged is proven: %+v", proven.Record)
		}
	})
}
