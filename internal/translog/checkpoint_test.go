package translog

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"filippo.io/mldsa"
	"github.com/transparency-dev/formats/log"
	formats "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
)

var testTime = time.Unix(1789000000, 0)

// cosigner is a log or a witness with its private keys.
type cosigner struct {
	keys    Keys
	signers []note.Signer
}

// newCosigner makes an Ed25519 key of a type and an ML-DSA-44 key from seeds.
func newCosigner(t testing.TB, name string, kind KeyType, seed byte) cosigner {
	t.Helper()
	ed := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, 32))
	ml, err := mldsa.NewPrivateKey(mldsa.MLDSA44(), bytes.Repeat([]byte{seed + 1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	first, err := NewKey(name, kind, ed.Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	second, err := NewKey(name, MLDSA44, ml.PublicKey().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return cosigner{Keys{first, second}, []note.Signer{
		NewSigner(first, testTime, func(m []byte) ([]byte, error) { return ed25519.Sign(ed, m), nil }),
		NewSigner(second, testTime, func(m []byte) ([]byte, error) { return ml.SignDeterministic(m, nil) }),
	}}
}

const testOrigin = "latchkey/0198c0de"

func testLog(t testing.TB) cosigner { return newCosigner(t, testOrigin, Ed25519, 1) }

func witness(t testing.TB, n byte) cosigner {
	return newCosigner(t, fmt.Sprintf("witness.example/w%d", n), Ed25519Cosignature, 10*n)
}

// lines are the signature lines of a signed note.
func lines(signed []byte) []byte {
	return signed[bytes.LastIndex(signed, []byte("\n\n"))+2:]
}

func sign(t testing.TB, c Checkpoint, by ...cosigner) []byte {
	t.Helper()
	var signers []note.Signer
	for _, s := range by {
		signers = append(signers, s.signers...)
	}
	signed, err := SignCheckpoint(c, signers...)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func testCheckpoint() Checkpoint {
	return Checkpoint{Origin: testOrigin, Head: Head{Size: 20852163, Root: leafOf(1)}}
}

// TestSecondImplementation has transparency-dev/formats read our keys and verify
// our signatures, and the other way round.
func TestSecondImplementation(t *testing.T) {
	own, w := testLog(t), witness(t, 1)
	c := testCheckpoint()
	signed := sign(t, c, own, w)
	for _, keys := range []Keys{own.keys, w.keys} {
		for _, k := range keys {
			verifier, err := formats.NewVerifier(k.Text())
			if err != nil || verifier.KeyHash() != k.KeyHash() {
				t.Fatalf("%s: %v", k, err)
			}
			read, _, n, err := log.ParseCheckpoint(signed, testOrigin, verifier)
			if err != nil || len(n.Sigs) != 1 || read.Size != uint64(c.Size) || Hash(read.Hash) != c.Root {
				t.Fatalf("%s: %v", k, err)
			}
		}
	}
	_, edKey, err := note.GenerateKey(nil, testOrigin)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ParseKey(edKey); err != nil {
		t.Errorf("%s: %v", edKey, err)
	}
	skey, vkey, err := formats.GenerateMLDSAKey("foreign.example/w")
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := formats.NewMLDSASigner(skey)
	if err != nil {
		t.Fatal(err)
	}
	cosigned, err := note.Sign(&note.Note{Text: c.Text()}, append(own.signers, foreign)...)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := ParseWitnessKeys(vkey)
	if err != nil {
		t.Fatal(err)
	}
	if opened, err := OpenCheckpoint(cosigned, own.keys, keys); err != nil || len(opened.CosignedBy(keys)) != 1 {
		t.Errorf("a foreign cosignature: %v", err)
	}
}

// The example of C2SP signed-note.
func TestPublishedKey(t *testing.T) {
	k, err := ParseKey("example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k")
	if err != nil || k.Name() != "example.com/foo" || k.Type() != Ed25519 || k.Text() != "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k" {
		t.Errorf("%v, %v", k, err)
	}
}

func TestParseKeyRefuses(t *testing.T) {
	good := testLog(t).keys[0].Text()
	at := strings.LastIndex(good, "+")
	for name, text := range map[string]string{
		"nothing": "", "no base64": good[:at], "a changed name": "x" + good, "a changed id": strings.Replace(good, "+", "+0", 1),
		"a changed key": good[:at+5] + "AAAA" + good[at+9:], "a short key": good[:len(good)-4], "white space": strings.Replace(good, "/", " ", 1),
		"an unknown type": "a+00000000+" + base64.StdEncoding.EncodeToString([]byte{2, 3, 4}),
		"upper case":      good[:at-8] + strings.ToUpper(good[at-8:at]) + good[at:],
		"a long name":     strings.Repeat("n", 300) + good[len(testOrigin):],
	} {
		if k, err := ParseKey(text); err == nil && text != good {
			t.Errorf("%s: %v", name, k)
		}
	}
	if _, err := ParseWitnessKeys(good); err == nil || !strings.Contains(err.Error(), "0x04") {
		t.Errorf("a log's key as a witness's: %v", err)
	}
}

func TestOpenCheckpoint(t *testing.T) {
	own, w1, w2 := testLog(t), witness(t, 1), witness(t, 2)
	both := append(append(Keys{}, w1.keys...), w2.keys...)
	signed := sign(t, testCheckpoint(), own)
	opened, err := OpenCheckpoint(signed, own.keys, both)
	if err != nil || opened.Checkpoint != testCheckpoint() || len(opened.CosignedBy(both)) != 0 {
		t.Fatalf("%+v, %v", opened, err)
	}
	if !bytes.Equal(opened.Note(), signed) {
		t.Errorf("written again it is\n%s", opened.Note())
	}
	cosignatures := lines(sign(t, testCheckpoint(), w2, w1))
	opened, err = opened.Cosigned(cosignatures, w2.keys)
	if err != nil || fmt.Sprint(opened.CosignedBy(both)) != "[witness.example/w2]" {
		t.Fatalf("%+v, %v", opened, err)
	}
	if opened, err = opened.Cosigned(cosignatures, both); err != nil || len(opened.CosignedBy(both)) != 2 {
		t.Fatalf("%+v, %v", opened, err)
	}
	if again, err := OpenCheckpoint(opened.Note(), own.keys, both); err != nil || len(again.CosignedBy(both)) != 2 || len(again.note.Sigs) != 6 {
		t.Fatalf("%+v, %v", again, err)
	}
	wrong := lines(sign(t, Checkpoint{Origin: testOrigin, Head: Head{Size: 1}}, w1))
	if _, err := opened.Cosigned(wrong, both); err == nil || !strings.Contains(err.Error(), "witness.example/w1") {
		t.Errorf("a cosignature of another checkpoint: %v", err)
	}
}

func TestOpenCheckpointRefuses(t *testing.T) {
	own, other, w := testLog(t), newCosigner(t, "latchkey/other", Ed25519, 5), witness(t, 1)
	good := string(sign(t, testCheckpoint(), own, w))
	body := testCheckpoint().Text()
	onlyEd := string(sign(t, testCheckpoint(), cosigner{signers: own.signers[:1]}))
	var unknown *UnknownLogError
	if _, err := OpenCheckpoint([]byte(good), other.keys, w.keys); !errors.As(err, &unknown) || unknown.Origin != testOrigin {
		t.Errorf("another log's keys: %v", err)
	}
	if _, err := OpenCheckpoint([]byte(good), other.keys, nil); !errors.As(err, &unknown) {
		t.Errorf("another log's keys, no witness: %v", err)
	}
	for _, own := range []Keys{own.keys, own.keys[:1]} {
		if _, err := OpenCheckpoint([]byte(good), own, testLog(t).keys[1:]); err == nil || !strings.Contains(err.Error(), "both as a log and as a witness") {
			t.Errorf("a log as its own witness: %v", err)
		}
	}
	for name, tc := range map[string]struct{ text, want string }{
		"a larger size":     {strings.Replace(good, "20852163", "20852164", 1), "was changed"},
		"another origin":    {strings.Replace(good, testOrigin, testOrigin+"x", 1), "was changed"},
		"no signature":      {body, "not a signed note"},
		"no ML-DSA":         {onlyEd, "not signed by latchkey/0198c0de+"},
		"no Ed25519":        {string(sign(t, testCheckpoint(), cosigner{signers: own.signers[1:]})), "(Ed25519)"},
		"only the witness":  {string(sign(t, testCheckpoint(), w)), "not signed by"},
		"a foreign signer":  {string(sign(t, testCheckpoint(), other)), "none of its signatures"},
		"a changed witness": {strings.Replace(good, "— witness.example/w1 ", "— witness.example/w1 A", 1), "not a signed note"},
		"a line of nothing": {"\n" + good, "was changed"},
		"an end too early":  {good[:len(good)-1], "not a signed note"},
		"too long":          {good + strings.Repeat(" ", maxCheckpoint), "more than"},
	} {
		if c, err := OpenCheckpoint([]byte(tc.text), own.keys, w.keys); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %+v, %v; want an error with %q", name, c, err, tc.want)
		}
	}
}

// The time of a cosignature is signed too.
func TestTimeIsSigned(t *testing.T) {
	w := witness(t, 1)
	text := []byte(testCheckpoint().Text())
	for i, k := range w.keys {
		sig, err := w.signers[i].Sign(text)
		if err != nil || !k.Verify(text, sig) {
			t.Fatalf("%s: %v", k, err)
		}
		for bit := range 64 + 64 {
			sig[bit/8] ^= 1 << (bit % 8)
			if k.Verify(text, sig) {
				t.Errorf("%s: bit %d is wrong, and it passes", k, bit)
			}
			sig[bit/8] ^= 1 << (bit % 8)
		}
		if k.Verify(text, sig[:7]) || k.Verify(text, nil) {
			t.Errorf("%s: a short signature passes", k)
		}
	}
	if _, err := NewSigner(w.keys[0], time.Time{}, nil).Sign(text); err == nil {
		t.Error("signed without a time")
	}
}

func TestParseCheckpointRefuses(t *testing.T) {
	root := base64.StdEncoding.EncodeToString(make([]byte, 32))
	for name, text := range map[string]string{
		"nothing": "", "two lines": "o\n1\n", "no end": "o\n1\n" + root, "an empty origin": "\n1\n" + root + "\n",
		"a leading zero": "o\n01\n" + root + "\n", "a sign": "o\n+1\n" + root + "\n", "a huge size": "o\n4611686018427387905\n" + root + "\n",
		"a short root": "o\n1\nAAAA\n", "loose base64": "o\n1\n" + root[:42] + "B=\n", "an empty extension": "o\n1\n" + root + "\n\n",
		"a long origin": strings.Repeat("o", 256) + "\n1\n" + root + "\n",
	} {
		if c, err := ParseCheckpoint(text); err == nil {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if _, err := ParseCheckpoint("o\n1\n" + root + "\nextension\n"); err != nil {
		t.Errorf("an extension line: %v", err)
	}
	if _, err := SignCheckpoint(Checkpoint{Origin: "two\nlines", Head: Head{Size: 1}}); err == nil {
		t.Error("an origin of two lines is signed")
	}
}

// short leaves ML-DSA-44 out: the fuzzer is slow on its long texts.
func (c cosigner) short() cosigner { return cosigner{c.keys[:1], c.signers[:1]} }

func FuzzOpenCheckpoint(f *testing.F) {
	own, w := testLog(f).short(), witness(f, 1).short()
	f.Add(sign(f, testCheckpoint(), own, w))
	f.Add(sign(f, testCheckpoint(), own))
	f.Add([]byte(testCheckpoint().Text()))
	f.Fuzz(func(t *testing.T, signed []byte) {
		opened, err := OpenCheckpoint(signed, own.keys, w.keys)
		if err != nil {
			return
		}
		if opened.Head != testCheckpoint().Head || opened.Origin != testOrigin {
			t.Fatalf("a checkpoint that was never signed: %q", signed)
		}
		if _, err := OpenCheckpoint(opened.Note(), own.keys, w.keys); err != nil {
			t.Fatalf("written again it cannot be read: %v", err)
		}
	})
}
