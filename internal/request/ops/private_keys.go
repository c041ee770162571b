package ops

import (
	"encoding/hex"
	"fmt"

	"latchkey/internal/domain"
	"latchkey/internal/keys/address"
	"latchkey/internal/keys/curve"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
	"latchkey/internal/schema"
)

// This file holds what several operations say about private keys.

// PrivateKeyParams describes a key to create.
type PrivateKeyParams struct {
	PrivateKeyName string           `json:"privateKeyName" check:"required,label" doc:"Name, unique in the organization."`
	Curve          curve.KeyCurve   `json:"curve" check:"required" doc:"Curve of the key."`
	PrivateKeyTags []string         `json:"privateKeyTags" check:"required,max=100,unique,each=uuid" doc:"Ids of tags to put on the key; may be empty."`
	AddressFormats []address.Format `json:"addressFormats" check:"required,max=100" doc:"Addresses to make of the key; may be empty." example:"ADDRESS_FORMAT_ETHEREUM"`
}

// Check refuses a format that does not exist on the curve.
func (p *PrivateKeyParams) Check(problems *schema.Problems) {
	checkFormats(problems, p.AddressFormats, p.Curve)
}

func checkFormats(problems *schema.Problems, formats []address.Format, c curve.KeyCurve) {
	for i, f := range formats {
		checkFormat(problems, fmt.Sprintf("addressFormats.%d", i), f, c)
	}
}

// CreatedPrivateKey is a new key.
type CreatedPrivateKey struct {
	PrivateKeyID string           `json:"privateKeyId" check:"required,uuid" doc:"Id of the key."`
	Addresses    []record.Address `json:"addresses" check:"required" doc:"Addresses of the key."`
}

func createdPrivateKey(k *domain.PrivateKey) CreatedPrivateKey {
	return CreatedPrivateKey{PrivateKeyID: k.ID, Addresses: record.Each(k.Addresses, record.OfAddress)}
}

// newPrivateKey records a key that is in the vault already.
func newPrivateKey(e activity.Env, k *domain.PrivateKey, publicKey []byte, formats []address.Format) error {
	if err := checkLimit(e.Limits.PrivateKeys, "private keys", func(n int) (int, error) {
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
