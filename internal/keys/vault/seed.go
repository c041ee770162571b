package vault

import (
	"fmt"

	"latchkey/internal/fault"
	"latchkey/internal/keys/curve"
	"latchkey/internal/keys/derivation"
	"latchkey/internal/keys/vault/internal/hd"
	"latchkey/internal/keys/vault/internal/mnemonic"
	"latchkey/internal/keys/vault/internal/secret"
)

// seedRecord is what a wallet is made of, as it is sealed:
//
//	language (1) | entropy length (1) | entropy | seed (64) | passphrase
//
// The seed is kept beside the entropy because computing it takes longer than
// everything else together (PBKDF2).
type seedRecord struct {
	whole *secret.Bytes
}

const seedHead = 2

func newSeedRecord(pool *secret.Pool, p *mnemonic.Phrase, passphrase *secret.Bytes) (seedRecord, error) {
	seed, err := mnemonic.Seed(pool, p.Words, passphrase)
	if err != nil {
		return seedRecord{}, err
	}
	defer seed.Wipe()
	n := p.Entropy.Len()
	r := seedRecord{pool.New(seedHead + n + mnemonic.SeedSize + passphrase.Len())}
	b := r.whole.Raw()
	b[0], b[1] = byte(p.Language), byte(n)
	copy(b[seedHead:], p.Entropy.Raw())
	copy(b[seedHead+n:], seed.Raw())
	copy(b[seedHead+n+mnemonic.SeedSize:], passphrase.Raw())
	return r, nil
}

func (r seedRecord) language() mnemonic.Language { return mnemonic.Language(r.whole.Raw()[0]) }

func (r seedRecord) entropy() []byte { return r.whole.Raw()[seedHead:][:r.whole.Raw()[1]] }

func (r seedRecord) rest() []byte { return r.whole.Raw()[seedHead+int(r.whole.Raw()[1]):] }

func (r seedRecord) seed() []byte { return r.rest()[:mnemonic.SeedSize] }

func (r seedRecord) passphrase() []byte { return r.rest()[mnemonic.SeedSize:] }

// seedRecord opens a wallet's seed.
func (s *sealedStore) seedRecord(id string) (seedRecord, error) {
	whole, err := s.must(kindSeed, id)
	if err != nil {
		return seedRecord{}, err
	}
	b := whole.Raw()
	if len(b) < seedHead || len(b) < seedHead+int(b[1])+mnemonic.SeedSize {
		whole.Wipe()
		return seedRecord{}, fmt.Errorf("vault: seed %q has an unknown form", id)
	}
	return seedRecord{whole}, nil
}

// CreateSeed makes a seed of so many English words (12, 15, 18, 21 or 24).
func (s *Session) CreateSeed(id string, words int) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	size := mnemonic.EntropySize(words)
	if size == 0 {
		return fault.Invalid("a mnemonic has 12, 15, 18, 21 or 24 words, not %d", words)
	}
	pool := s.vault.pool
	p := mnemonic.Phrase{Entropy: pool.Random(size)}
	defer p.Wipe()
	var err error
	if p.Words, err = s.vault.books().Encode(pool, p.Entropy.Raw(), mnemonic.English); err != nil {
		return err
	}
	return s.keepSeed(id, &p, &secret.Bytes{})
}

func (s *Session) keepSeed(id string, p *mnemonic.Phrase, passphrase *secret.Bytes) error {
	record, err := newSeedRecord(s.vault.pool, p, passphrase)
	if err != nil {
		return err
	}
	defer record.whole.Wipe()
	return s.put(kindSeed, id, record.whole)
}

// Derive returns the public key at a path below a seed: BIP-32 on secp256k1,
// SLIP-0010 on P-256 and Ed25519. Parts with the top bit set are hardened; on
// Ed25519 all are, set or not. It stores nothing.
func (s *Session) Derive(seedID string, c curve.KeyCurve, path []uint32) (publicKey []byte, err error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	private, public, err := s.derive(seedID, c, path)
	private.Wipe()
	return public, err
}

// StoreDerived derives as Derive does, and seals the private key under keyID,
// so that signing with it needs no derivation.
func (s *Session) StoreDerived(keyID, seedID string, c curve.KeyCurve, path []uint32) (publicKey []byte, err error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	private, public, err := s.derive(seedID, c, path)
	if err != nil {
		return nil, err
	}
	defer private.Wipe()
	return public, s.keepKey(keyID, c, private, public)
}

func (s *Session) derive(seedID string, c curve.KeyCurve, path []uint32) (private *secret.Bytes, public []byte, err error) {
	private, err = hd.Derive(s.vault.pool, s.nodes(seedID, c), c, path)
	if err != nil {
		return nil, nil, err
	}
	public, err = hd.Public(c, private.Raw())
	if err != nil {
		private.Wipe()
		return nil, nil, err
	}
	return private, public, nil
}

// nodes are the nodes below a seed. Most keys of a wallet are below the same one, and
// what leads there takes longer than the last step: so nodes are remembered, sealed
// as the seed itself is.
func (s *Session) nodes(seedID string, c curve.KeyCurve) hd.Nodes {
	return func(path []uint32) (*secret.Bytes, error) {
		at := s.context(kindNode, seedID+" "+string(c)+" "+derivation.Path(path).String())
		sealed, err := s.ciphertexts.Derived(at.Kind+"/"+at.ID, func() ([]byte, error) {
			record, err := s.seedRecord(seedID)
			if err != nil {
				return nil, err
			}
			defer record.whole.Wipe()
			node, err := hd.Below(s.vault.pool, record.seed(), c)(path)
			if err != nil {
				return nil, err
			}
			defer node.Wipe()
			s.mu.Lock()
			defer s.mu.Unlock()
			key, err := s.sealing()
			if err != nil {
				return nil, err
			}
			return key.Seal(at, node), nil
		})
		if err != nil {
			return nil, err
		}
		return s.open(at, sealed)
	}
}
