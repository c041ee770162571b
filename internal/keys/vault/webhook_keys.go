package vault

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"latchkey/internal/keys/vault/internal/secret"
	"latchkey/internal/keys/vault/internal/sign"
)

// WebhookKeys is the Ed25519 keys that sign deliveries to webhook endpoints, and
// nothing else. The newest signs; those before it stay known, so that a receiver
// can verify what is still on its way. It is safe for concurrent use.
type WebhookKeys struct {
	vault *Vault
	seed  *secret.Bytes // of the newest
	keys  []WebhookKey  // the newest last
}

// WebhookKey is the public half of a key.
type WebhookKey struct {
	ID     string // follows from the key; has no dot
	Public ed25519.PublicKey
}

// maxWebhookKeys bounds how often the key is replaced.
const maxWebhookKeys = 1000

// LoadOrCreateWebhookKeys reads the keys up to a number, counted from 1, from the
// instance's ciphertexts, and makes those that are missing.
func (v *Vault) LoadOrCreateWebhookKeys(s CiphertextStore, number int) (*WebhookKeys, error) {
	if number < 1 || number > maxWebhookKeys {
		return nil, fmt.Errorf("vault: %d is not the number of a webhook key", number)
	}
	if err := v.enter(); err != nil {
		return nil, err
	}
	defer v.leave()
	d := &sealedStore{vault: v, org: Instance, ciphertexts: s}
	k := &WebhookKeys{vault: v}
	for n := 1; n <= number; n++ {
		seed, err := d.get(kindWebhookKey, strconv.Itoa(n))
		if err == nil && seed == nil {
			seed = v.pool.Random(ed25519.SeedSize)
			err = d.put(kindWebhookKey, strconv.Itoa(n), seed)
		}
		if err == nil && seed.Len() != ed25519.SeedSize {
			err = fmt.Errorf("vault: webhook key %d has an unknown form", n)
		}
		if err != nil {
			seed.Wipe()
			return nil, err
		}
		k.keys = append(k.keys, webhookKey(seed))
		if n < number {
			seed.Wipe()
			continue
		}
		k.seed = seed
		v.ring.hold(seed)
	}
	return k, nil
}

func webhookKey(seed *secret.Bytes) WebhookKey {
	private := ed25519.NewKeyFromSeed(seed.Raw())
	defer clear(private)
	public := private.Public().(ed25519.PublicKey)
	sum := sha256.Sum256(public)
	return WebhookKey{ID: hex.EncodeToString(sum[:8]), Public: public}
}

// Keys lists the public keys, the one that signs first.
func (k *WebhookKeys) Keys() []WebhookKey {
	all := make([]WebhookKey, len(k.keys))
	for i, key := range k.keys {
		all[len(all)-1-i] = key
	}
	return all
}

// String keeps the fields out of logs.
func (*WebhookKeys) String() string { return "[webhook keys]" }

// GoString keeps the fields out of logs.
func (*WebhookKeys) GoString() string { return "[webhook keys]" }

// SignDelivery signs a message with the newest key (Ed25519, RFC 8032), whose id it
// returns.
func (k *WebhookKeys) SignDelivery(message func(keyID string) []byte) (keyID string, signature []byte, err error) {
	if err := k.vault.enter(); err != nil {
		return "", nil, err
	}
	defer k.vault.leave()
	newest := k.keys[len(k.keys)-1]
	signature, err = raw(sign.Ed25519(k.seed.Raw(), newest.Public, message(newest.ID)))
	return newest.ID, signature, err
}
