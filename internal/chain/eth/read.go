package eth

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"

	"latchkey/internal/chain/rlp"
)

// fields of each type before its signature.
var fieldCount = map[Type]int{AccessList: 8, DynamicFee: 9, Blob: 11, SetCode: 10}

// maxLegacyChainIDBits keeps 2*chainID+36 inside 256 bits (EIP-155).
const maxLegacyChainIDBits = 254

func (tx *Tx) readLegacy() error {
	items, err := rlp.Only(tx.raw)
	if err != nil {
		return err
	}
	if n := len(items); n != 6 && n != 9 {
		return fmt.Errorf("a legacy transaction has 6 or 9 fields, not %d", n)
	}
	r := reader{items: items}
	r.uint64("nonce", &tx.Nonce)
	r.big("gasPrice", &tx.GasPrice)
	tx.readCall(&r)
	if len(items) == 9 {
		r.big("chainId", &tx.ChainID)
		var zero [2]*big.Int
		r.big("r", &zero[0])
		r.big("s", &zero[1])
		switch {
		case r.err != nil:
		case zero[0].Sign() != 0 || zero[1].Sign() != 0:
			return errSigned
		case tx.ChainID.Sign() == 0:
			return errors.New("chainId is 0; leave out the last three fields for a transaction without a chain id")
		case tx.ChainID.BitLen() > maxLegacyChainIDBits:
			return errors.New("chainId is too large")
		}
	}
	return r.err
}

func (tx *Tx) readTyped() error {
	items, err := rlp.Only(tx.raw[1:])
	if err != nil {
		return err
	}
	want := fieldCount[tx.Type]
	switch n := len(items); {
	case n == want+3:
		return errSigned
	case tx.Type == Blob && n > 0 && items[0].List:
		return errors.New("send the body of the blob transaction without its blobs, commitments and proofs")
	case n != want:
		return fmt.Errorf("a transaction of type %d has %d fields, not %d", tx.Type, want, n)
	}
	r := reader{items: items}
	r.big("chainId", &tx.ChainID)
	r.uint64("nonce", &tx.Nonce)
	if tx.Type == AccessList {
		r.big("gasPrice", &tx.GasPrice)
	} else {
		r.big("maxPriorityFeePerGas", &tx.MaxPriorityFeePerGas)
		r.big("maxFeePerGas", &tx.MaxFeePerGas)
	}
	tx.readCall(&r)
	tx.AccessList = r.accessList()
	switch tx.Type {
	case Blob:
		r.big("maxFeePerBlobGas", &tx.MaxFeePerBlobGas)
		tx.BlobVersionedHashes = r.hashes("blobVersionedHashes", r.next())
	case SetCode:
		tx.AuthorizationList = r.authorizations()
	case Legacy, AccessList, DynamicFee:
	}
	if r.err == nil && tx.To == nil && tx.Type >= Blob {
		// EIP-4844 and EIP-7702: neither can create a contract.
		return fmt.Errorf("a transaction of type %d needs a recipient", tx.Type)
	}
	return r.err
}

// readCall reads the four fields that all types share in this order.
func (tx *Tx) readCall(r *reader) {
	r.uint64("gas", &tx.Gas)
	tx.To = r.to()
	r.big("value", &tx.Value)
	data, err := r.next().Bytes()
	r.note("data", err)
	tx.Data = bytes.Clone(data)
}

// reader takes fields in order and keeps the first error.
type reader struct {
	items []rlp.Item
	err   error
}

func (r *reader) next() rlp.Item {
	if len(r.items) == 0 {
		r.note("transaction", errors.New("a field is missing"))
		return rlp.Item{}
	}
	item := r.items[0]
	r.items = r.items[1:]
	return item
}

func (r *reader) note(field string, err error) {
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("%s: %w", field, err)
	}
}

func (r *reader) uint64(field string, dst *uint64) {
	n, err := r.next().Uint64()
	r.note(field, err)
	*dst = n
}

func (r *reader) big(field string, dst **big.Int) {
	n, err := r.next().Big()
	r.note(field, err)
	*dst = n
}

func (r *reader) to() *Address {
	b, err := r.next().Bytes()
	if err == nil && len(b) == 0 {
		return nil
	}
	if err == nil && len(b) != len(Address{}) {
		err = fmt.Errorf("an address has 20 bytes, not %d", len(b))
	}
	r.note("to", err)
	var to Address
	copy(to[:], b)
	return &to
}

func (r *reader) address(field string) (a Address) {
	b, err := r.next().Bytes()
	if err == nil && len(b) != len(a) {
		err = fmt.Errorf("an address has 20 bytes, not %d", len(b))
	}
	r.note(field, err)
	copy(a[:], b)
	return a
}

func (r *reader) hashes(field string, list rlp.Item) [][32]byte {
	items, err := list.Items()
	r.note(field, err)
	var hashes [][32]byte
	for _, item := range items {
		var h [32]byte
		b, err := item.Bytes()
		if err == nil && len(b) != len(h) {
			err = fmt.Errorf("an entry has 32 bytes, not %d", len(b))
		}
		r.note(field, err)
		copy(h[:], b)
		hashes = append(hashes, h)
	}
	return hashes
}

// nested opens a list of exactly n fields.
func (r *reader) nested(field string, item rlp.Item, n int) *reader {
	items, err := item.Items()
	if err == nil && len(items) != n {
		err = fmt.Errorf("an entry has %d fields, not %d", n, len(items))
	}
	r.note(field, err)
	if err != nil {
		items = make([]rlp.Item, n)
	}
	return &reader{items: items}
}

func (r *reader) accessList() []AccessTuple {
	const field = "accessList"
	items, err := r.next().Items()
	r.note(field, err)
	var tuples []AccessTuple
	for _, item := range items {
		if r.err != nil {
			return nil
		}
		entry := r.nested(field, item, 2)
		t := AccessTuple{Address: entry.address("address")}
		t.StorageKeys = entry.hashes("storageKeys", entry.next())
		r.note(field, entry.err)
		tuples = append(tuples, t)
	}
	return tuples
}

func (r *reader) authorizations() []SignedAuthorization {
	const field = "authorizationList"
	items, err := r.next().Items()
	r.note(field, err)
	var all []SignedAuthorization
	for _, item := range items {
		if r.err != nil {
			return nil
		}
		entry := r.nested(field, item, 6)
		var a SignedAuthorization
		entry.big("chainId", &a.ChainID)
		a.Address = entry.address("address")
		entry.uint64("nonce", &a.Nonce)
		var parity uint64
		entry.uint64("yParity", &parity)
		entry.big("r", &a.R)
		entry.big("s", &a.S)
		if parity > 255 { // EIP-7702: any 8 bits are valid in the list
			entry.note("yParity", rlp.ErrTooLarge)
		}
		a.YParity = byte(parity)
		r.note(field, entry.err)
		all = append(all, a)
	}
	return all
}
