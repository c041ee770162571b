package ops

import (
	"encoding/hex"

	"latchkey/internal/activity"
	"latchkey/internal/address"
	"latchkey/internal/curve"
	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/store"
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

// requireTag refuses an id that is not a tag of the type.
func requireTag(tx *store.Tx, id string, t domain.TagType) error {
	tag, err := tx.Tags().Get(id)
	if err == nil && tag.Type != t {
		err = fault.Missing("no tag with id %s in this organization that fits", id)
	}
	return err
}

// newTag makes a tag.
func newTag(e activity.Env, t domain.TagType, name string) (*domain.Tag, error) {
	tags, err := e.Tx.Tags().List("", 0)
	if err != nil {
		return nil, err
	}
	if e.Limits.Tags > 0 && len(tags) >= e.Limits.Tags {
		return nil, fault.Exhausted("the organization has reached its maximum of %d tags", e.Limits.Tags)
	}
	tag := &domain.Tag{ID: e.NewID(), Name: name, Type: t, CreatedAt: e.Now, UpdatedAt: e.Now}
	return tag, e.Tx.Tags().Insert(tag)
}

// renameTag gives a tag a new name, if there is one.
func renameTag(e activity.Env, id string, t domain.TagType, name string) error {
	if err := requireTag(e.Tx, id, t); err != nil {
		return err
	}
	return e.Tx.Tags().Edit(id, func(tag *domain.Tag) error {
		if name != "" {
			tag.Name = name
		}
		tag.UpdatedAt = e.Now
		return nil
	})
}
