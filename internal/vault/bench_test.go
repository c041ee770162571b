package vault

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"strconv"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	secp "github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

	"latchkey/internal/curve"
	"latchkey/internal/vault/internal/hd"
	"latchkey/internal/vault/internal/mnemonic"
	"latchkey/internal/vault/internal/secret"
)

// against runs one and other in turns, so that a busy neighbour slows both, and
// reports how many times as long one takes.
func against(b *testing.B, one, other func() error) {
	b.Helper()
	var took [2]time.Duration
	for b.Loop() {
		for i, f := range []func() error{one, other} {
			start := time.Now()
			if err := f(); err != nil {
				b.Fatal(err)
			}
			took[i] += time.Since(start)
		}
	}
	n := float64(b.N)
	b.ReportMetric(float64(took[0])/n, "ns/vault")
	b.ReportMetric(float64(took[1])/n, "ns/floor")
	b.ReportMetric(float64(took[0])/float64(took[1]), "times-floor")
}

// BenchmarkSign: the floor is the library alone, without sealing, warrant or
// check. On secp256k1 the aim is to be within 1.5 times of it.
func BenchmarkSign(b *testing.B) {
	digest := [32]byte{1, 2, 3}
	v, c := openVault(b, masterOf(1))
	shelf := newMemory()
	s := session(b, v, c, testOrg, shelf)
	for _, kc := range []curve.KeyCurve{curve.KeySecp256k1, curve.KeyP256, curve.KeyEd25519} {
		if _, err := s.CreateKey(string(kc), kc); err != nil {
			b.Fatal(err)
		}
	}
	k256, err := secp256k1.GeneratePrivateKey()
	if err != nil {
		b.Fatal(err)
	}
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	for _, bm := range []struct {
		name         string
		vault, floor func() error
	}{
		{
			"secp256k1",
			func() error {
				_, err := session(b, v, c, testOrg, shelf).SignDigest(string(curve.KeySecp256k1), curve.KeySecp256k1, digest)
				return err
			},
			func() error { secp.SignCompact(k256, digest[:], true); return nil },
		},
		{
			"P-256",
			func() error {
				_, err := session(b, v, c, testOrg, shelf).SignDigest(string(curve.KeyP256), curve.KeyP256, digest)
				return err
			},
			func() error { _, err := p256.Sign(nil, digest[:], crypto.SHA256); return err },
		},
		{
			"Ed25519",
			func() error {
				_, err := session(b, v, c, testOrg, shelf).SignMessage(string(curve.KeyEd25519), digest[:])
				return err
			},
			func() error { ed25519.Sign(edwards, digest[:]); return nil },
		},
		{
			"taproot",
			func() error {
				_, err := session(b, v, c, testOrg, shelf).SignTaproot(string(curve.KeySecp256k1), digest)
				return err
			},
			func() error { _, err := schnorr.Sign(k256, digest[:], schnorr.FastSign()); return err },
		},
	} {
		b.Run(bm.name, func(b *testing.B) { against(b, bm.vault, bm.floor) })
	}
}

// BenchmarkSignAccount signs with an account of a wallet, whose derived key is
// kept. The floor does what the request asks for with the libraries alone: it
// derives the account's key from the seed and signs with it, and checks
// nothing. The aim is to be within 1.5 times of it.
func BenchmarkSignAccount(b *testing.B) {
	digest := [32]byte{1, 2, 3}
	v, c := openVault(b, masterOf(1))
	shelf := newMemory()
	s := session(b, v, c, testOrg, shelf)
	if err := s.CreateSeed("seed", 12); err != nil {
		b.Fatal(err)
	}
	// The paths that clients use: on Ed25519 every part is hardened.
	usual := []uint32{44 | 1<<31, 60 | 1<<31, 1 << 31, 0, 0}
	hardened := []uint32{44 | 1<<31, 501 | 1<<31, 1 << 31, 1 << 31}
	var pool secret.Pool
	seed := make([]byte, 64)
	for _, bm := range []struct {
		curve curve.KeyCurve
		path  []uint32
		sign  func(key []byte) error
	}{
		{curve.KeySecp256k1, usual, func(key []byte) error {
			secp.SignCompact(secp256k1.PrivKeyFromBytes(key), digest[:], true)
			return nil
		}},
		{curve.KeyP256, usual, func(key []byte) error {
			private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), key)
			if err != nil {
				return err
			}
			_, err = private.Sign(nil, digest[:], crypto.SHA256)
			return err
		}},
		{curve.KeyEd25519, hardened, func(key []byte) error {
			ed25519.Sign(ed25519.NewKeyFromSeed(key), digest[:])
			return nil
		}},
	} {
		if _, err := s.StoreDerived(string(bm.curve), "seed", bm.curve, bm.path); err != nil {
			b.Fatal(err)
		}
		b.Run(string(bm.curve), func(b *testing.B) {
			against(b, func() error {
				var err error
				if s := session(b, v, c, testOrg, shelf); bm.curve == curve.KeyEd25519 {
					_, err = s.SignMessage(string(bm.curve), digest[:])
				} else {
					_, err = s.SignDigest(string(bm.curve), bm.curve, digest)
				}
				return err
			}, func() error {
				key, err := hd.Derive(&pool, seed, bm.curve, bm.path)
				if err != nil {
					return err
				}
				defer key.Wipe()
				return bm.sign(key.Raw())
			})
		})
	}
}

// BenchmarkWallet makes a seed of twelve words and five Ethereum accounts. The
// floor does the same with the same arithmetic, and keeps nothing. The aim is
// to be within 1.3 times of it.
func BenchmarkWallet(b *testing.B) {
	path := func(i int) []uint32 { return []uint32{44 | 1<<31, 60 | 1<<31, 1 << 31, 0, uint32(i)} }
	var pool secret.Pool
	books := mnemonic.Load()
	floor := func() error {
		entropy := pool.Random(16)
		defer entropy.Wipe()
		words, err := books.Encode(&pool, entropy.Raw(), mnemonic.English)
		if err != nil {
			return err
		}
		defer words.Wipe()
		seed, err := mnemonic.Seed(&pool, words, &secret.Bytes{})
		if err != nil {
			return err
		}
		defer seed.Wipe()
		for i := range 5 {
			key, err := hd.Derive(&pool, seed.Raw(), curve.KeySecp256k1, path(i))
			if err != nil {
				return err
			}
			if _, err := hd.Public(curve.KeySecp256k1, key.Raw()); err != nil {
				return err
			}
			key.Wipe()
		}
		return nil
	}
	v, c := openVault(b, masterOf(1))
	v.books()
	against(b, func() error {
		s := session(b, v, c, testOrg, newMemory())
		if err := s.CreateSeed("s", 12); err != nil {
			return err
		}
		for i := range 5 {
			if _, err := s.StoreDerived(strconv.Itoa(i), "s", curve.KeySecp256k1, path(i)); err != nil {
				return err
			}
		}
		return nil
	}, floor)
}

func BenchmarkDerive(b *testing.B) {
	var pool secret.Pool
	seed := make([]byte, 64)
	for _, kc := range []curve.KeyCurve{curve.KeySecp256k1, curve.KeyP256, curve.KeyEd25519} {
		b.Run(string(kc), func(b *testing.B) {
			for b.Loop() {
				key, err := hd.Derive(&pool, seed, kc, []uint32{44 | 1<<31, 60 | 1<<31, 1 << 31, 0, 0})
				if err != nil {
					b.Fatal(err)
				}
				key.Wipe()
			}
		})
	}
}
