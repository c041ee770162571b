package ops

import (
	"encoding/hex"

	"latchkey/internal/domain"
	"latchkey/internal/keys/address"
	"latchkey/internal/keys/curve"
	"latchkey/internal/request/activity"
)

// This file holds what several operations say about private keys.

// newPrivateKey records a key that is in the vault already.
func newPrivateKey(e activity.Env, k *domain.PrivateKey, publicKey []byte, formats []address.Format) error {
	if err := checkRoom(e.Limits.PrivateKeys, "private keys", func(n int) (int, error) {
		list, err := e.Tx.PrivateKeys().List("", n)
		return len(list), err
	}); err != nil {
		return err
	}
	for _, tag := range k.TagIDs {
		if err := requireTag(e.Tx, tag, domain.TagPrivateKey); err != nil {
			return err
		}
	}
	full, err := curve.Uncompressed(k.Curve, publicKey)
	if err != nil {
		return err
	}
	k.PublicKey, k.FullKey = hex.EncodeToString(publicKey), hex.EncodeToString(full)
	for _, f := range formats {
		text, err := address.Of(f, k.Curve, publicKey)
		if err != nil {
			return err
		}
		k.Addresses = append(k.Addresses, domain.Address{Format: f, Address: text})
	}
	k.CreatedAt, k.UpdatedAt = e.Now, e.Now
	return e.Tx.PrivateKeys().Insert(k)
}
