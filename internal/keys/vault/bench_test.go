package vault

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	secp "github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

	"latchkey/internal/keys/curve"
	"latchkey/internal/keys/vault/internal/hd"
	"latchkey/internal/keys/vault/internal/mnemonic"
	"latchkey/internal/keys/vault/internal/secret"
)

// floor is what the vault is measured against.
type floor struct {
	name string
	run  func() error
}

// against runs the vault and the floors in turns, so that a busy neighbour
// slows all of them, and reports how many times as long the vault takes. It
// compares medians: one call in a hundred is interrupted by something else.
func against(b *testing.B, vault func() error, floors ...floor) {
	b.Helper()
	sides := append([]floor{{"vault", vault}}, floors...)
	took := make([][]time.Duration, len(sides))
	for b.Loop() {
		for i, side := range sides {
			start := time.Now()
			if err := side.run(); err != nil {
				b.Fatal(err)
			}
			took[i] = append(took[i], time.Since(start))
		}
	}
	median := make([]float64, len(sides))
	for i, side := range sides {
		slices.Sort(took[i])
		median[i] = float64(took[i][len(took[i])/2])
		b.ReportMetric(median[i], "ns/"+side.name)
		if i > 0 {
			b.ReportMetric(median[0]/median[i], "times-"+side.name)
		}
	}
}

// BenchmarkSign signs with a private key. A stored secret is 32 bytes, so the
// floor makes the key pair from them and signs, with the library alone:
// nothing is sealed, warranted or checked. The aim is to be within 1.5 times
// of it. The bare floor is the signature alone, with a key pair at hand.
func BenchmarkSign(b *testing.B) {
	digest := [32]byte{1, 2, 3}
	v, c := openVault(b, masterOf(1))
	ciphertexts := newMemory()
	s := session(b, v, c, testOrg, ciphertexts)
	for _, kc := range []curve.KeyCurve{curve.KeySecp256k1, curve.KeyP256, curve.KeyEd25519} {
		if _, err := s.CreateKey(string(kc), kc); err != nil {
			b.Fatal(err)
		}
	}
	secret := make([]byte, 32)
	rand.Read(secret)
	secret[0] &= 0x7f // below both orders
	k256 := secp256k1.PrivKeyFromBytes(secret)
	p256, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), secret)
	if err != nil {
		b.Fatal(err)
	}
	edwards := ed25519.NewKeyFromSeed(secret)
	digestWith := func(kc curve.KeyCurve) func() error {
		return func() error {
			_, err := session(b, v, c, testOrg, ciphertexts).SignDigest(string(kc), kc, digest)
			return err
		}
	}
	for _, bm := range []struct {
		name                string
		vault, derive, sign func() error
	}{
		{
			"secp256k1",
			digestWith(curve.KeySecp256k1),
			func() error {
				k := secp256k1.PrivKeyFromBytes(secret)
				k.PubKey()
				secp.SignCompact(k, digest[:], true)
				return nil
			},
			func() error { secp.SignCompact(k256, digest[:], true); return nil },
		},
		{
			"P-256",
			digestWith(curve.KeyP256),
			func() error {
				k, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), secret)
				if err != nil {
					return err
				}
				_, err = k.Sign(nil, digest[:], crypto.SHA256)
				return err
			},
			func() error { _, err := p256.Sign(nil, digest[:], crypto.SHA256); return err },
		},
		{
			"Ed25519",
			func() error {
				_, err := session(b, v, c, testOrg, ciphertexts).SignMessage(string(curve.KeyEd25519), digest[:])
				return err
			},
			func() error { ed25519.Sign(ed25519.NewKeyFromSeed(secret), digest[:]); return nil },
			func() error { ed25519.Sign(edwards, digest[:]); return nil },
		},
		{
			"taproot",
			func() error {
				_, err := session(b, v, c, testOrg, ciphertexts).SignTaproot(string(curve.KeySecp256k1), digest)
				return err
			},
			func() error {
				k := secp256k1.PrivKeyFromBytes(secret)
				k.PubKey()
				_, err := schnorr.Sign(k, digest[:], schnorr.FastSign())
				return err
			},
			func() error { _, err := schnorr.Sign(k256, digest[:], schnorr.FastSign()); return err },
		},
	} {
		b.Run(bm.name, func(b *testing.B) {
			against(b, bm.vault, floor{"floor", bm.derive}, floor{"bare", bm.sign})
		})
	}
}

// BenchmarkSignAccount signs with an account of a wallet, whose derived key is
// kept. The floor does what the request asks for with the libraries alone: it
// derives the account's key from the seed and signs with it, and checks
// nothing. The aim is to be within 1.5 times of it.
func BenchmarkSignAccount(b *testing.B) {
	digest := [32]byte{1, 2, 3}
	v, c := openVault(b, masterOf(1))
	ciphertexts := newMemory()
	s := session(b, v, c, testOrg, ciphertexts)
	if err := s.CreateSeed("seed", 12); err != nil {
		b.Fatal(err)
	}
	// The paths that clients use: on Ed25519 every part is hardened.
	usual := []uint32{44 | 1<<31, 60 | 1<<31, 1 << 31, 0, 0}
	hardened := []uint32{44 | 1<<31, 501 | 1<<31, 1 << 31, 1 << 31}
	var pool secret.Pool
	seed := make([]byte, 64)
	signSecp256k1 := func(key []byte) error {
		secp.SignCompact(secp256k1.PrivKeyFromBytes(key), digest[:], true)
		return nil
	}
	signP256 := func(key []byte) error {
		private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), key)
		if err != nil {
			return err
		}
		_, err = private.Sign(nil, digest[:], crypto.SHA256)
		return err
	}
	signEd25519 := func(key []byte) error {
		ed25519.Sign(ed25519.NewKeyFromSeed(key), digest[:])
		return nil
	}
	for _, bm := range []struct {
		name  string
		curve curve.KeyCurve
		path  []uint32
		sign  func(key []byte) error
	}{
		{"secp256k1", curve.KeySecp256k1, usual, signSecp256k1},
		{"secp256k1 all hardened", curve.KeySecp256k1, hardened, signSecp256k1},
		{"P-256", curve.KeyP256, usual, signP256},
		{"P-256 all hardened", curve.KeyP256, hardened, signP256},
		{"Ed25519", curve.KeyEd25519, hardened, signEd25519},
	} {
		if _, err := s.StoreDerived(bm.name, "seed", bm.curve, bm.path); err != nil {
			b.Fatal(err)
		}
		b.Run(bm.name, func(b *testing.B) {
			against(b, func() error {
				var err error
				if s := session(b, v, c, testOrg, ciphertexts); bm.curve == curve.KeyEd25519 {
					_, err = s.SignMessage(bm.name, digest[:])
				} else {
					_, err = s.SignDigest(bm.name, bm.curve, digest)
				}
				return err
			}, floor{"floor", func() error {
				key, err := hd.Derive(&pool, hd.Below(&pool, seed, bm.curve), bm.curve, bm.path)
				if err != nil {
					return err
				}
				defer key.Wipe()
				return bm.sign(key.Raw())
			}})
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
	bare := func() error {
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
			key, err := hd.Derive(&pool, hd.Below(&pool, seed.Raw(), curve.KeySecp256k1), curve.KeySecp256k1, path(i))
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
	}, floor{"floor", bare})
}

func BenchmarkDerive(b *testing.B) {
	var pool secret.Pool
	seed := make([]byte, 64)
	for _, kc := range []curve.KeyCurve{curve.KeySecp256k1, curve.KeyP256, curve.KeyEd25519} {
		b.Run(string(kc), func(b *testing.B) {
			for b.Loop() {
				key, err := hd.Derive(&pool, hd.Below(&pool, seed, kc), kc, []uint32{44 | 1<<31, 60 | 1<<31, 1 << 31, 0, 0})
				if err != nil {
					b.Fatal(err)
				}
				key.Wipe()
			}
		})
	}
}
