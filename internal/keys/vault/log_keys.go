package vault

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"sync"
	"time"

	"latchkey/internal/keys/vault/internal/secret"
	"latchkey/internal/keys/vault/internal/sign"
	"latchkey/internal/translog"
)

// LogKeys is the two keys that sign the checkpoints of the transparency log in one
// epoch of it: Ed25519 and ML-DSA-44. They sign checkpoints of that log alone, and
// none that contradicts what they signed before in this process. It is safe for
// concurrent use.
type LogKeys struct {
	vault *Vault
	seeds *secret.Bytes // Ed25519, then ML-DSA-44
	keys  translog.Keys // in the same order

	mu   sync.Mutex
	last translog.Head // the largest tree that was signed
}

const logSeedSize = 32 // of both algorithms

// LoadOrCreateLogKeys reads the keys of an epoch from the instance's ciphertexts,
// and makes them when there are none. The origin of the log is the name of both.
func (v *Vault) LoadOrCreateLogKeys(s CiphertextStore, epoch, origin string) (*LogKeys, error) {
	if err := v.enter(); err != nil {
		return nil, err
	}
	defer v.leave()
	d := &sealedStore{vault: v, org: Instance, ciphertexts: s}
	seeds, err := d.get(kindLogKeys, epoch)
	if err == nil && seeds == nil {
		seeds = v.pool.Random(2 * logSeedSize)
		err = d.put(kindLogKeys, epoch, seeds)
	}
	if err != nil {
		seeds.Wipe()
		return nil, err
	}
	k := &LogKeys{vault: v, seeds: seeds, last: translog.EmptyHead()}
	if k.keys, err = logVerifiers(seeds, origin); err != nil {
		seeds.Wipe()
		return nil, fmt.Errorf("vault: the keys of the log's epoch %q: %w", epoch, err)
	}
	v.ring.hold(seeds)
	return k, nil
}

// logVerifiers computes the public keys.
func logVerifiers(seeds *secret.Bytes, origin string) (translog.Keys, error) {
	raw := seeds.Raw()
	if len(raw) != 2*logSeedSize || slices.Equal(raw, make([]byte, len(raw))) {
		return nil, fmt.Errorf("they have an unknown form")
	}
	private := ed25519.NewKeyFromSeed(raw[:logSeedSize])
	defer clear(private)
	first, err := translog.NewKey(origin, translog.Ed25519, private.Public().(ed25519.PublicKey))
	if err != nil {
		return nil, err
	}
	public, err := sign.MLDSA44Public(raw[logSeedSize:])
	if err != nil {
		return nil, err
	}
	second, err := translog.NewKey(origin, translog.MLDSA44, public)
	return translog.Keys{first, second}, err
}

// VerifierKeys is the public keys.
func (k *LogKeys) VerifierKeys() translog.Keys { return slices.Clone(k.keys) }

// String keeps the fields out of logs.
func (*LogKeys) String() string { return "[log keys]" }

// GoString keeps the fields out of logs.
func (*LogKeys) GoString() string { return "[log keys]" }

// SignCheckpoint signs a checkpoint of the log with both keys, as of a time, and
// returns the note. It refuses a tree that is smaller than what was signed before, or
// of the same size with another root: a log that signs both is caught in a lie.
func (k *LogKeys) SignCheckpoint(head translog.Head, at time.Time) ([]byte, error) {
	if err := k.vault.enter(); err != nil {
		return nil, err
	}
	defer k.vault.leave()
	k.mu.Lock()
	defer k.mu.Unlock()
	if head.Size < k.last.Size || head.Size == k.last.Size && head.Root != k.last.Root {
		return nil, fmt.Errorf("vault: a log of %d entries (%s) was signed; one of %d entries (%s) contradicts it", k.last.Size, k.last.Root, head.Size, head.Root)
	}
	signed, err := translog.SignCheckpoint(translog.Checkpoint{Origin: k.keys[0].Name(), Head: head},
		translog.NewSigner(k.keys[0], at, k.signEd25519), translog.NewSigner(k.keys[1], at, k.signMLDSA44))
	if err == nil {
		k.last = head
	}
	return signed, err
}

func (k *LogKeys) signEd25519(message []byte) ([]byte, error) {
	sig, err := sign.Ed25519(k.seeds.Raw()[:logSeedSize], k.keys[0].Public(), message)
	return raw(sig, err)
}

func (k *LogKeys) signMLDSA44(message []byte) ([]byte, error) {
	return sign.MLDSA44(k.seeds.Raw()[logSeedSize:], k.keys[1].Public(), message)
}
