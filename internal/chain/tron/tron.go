// Package tron reads unsigned Tron transactions: the protobuf raw_data. It says
// which digest must be signed and puts the signature in. It holds no secret and
// does not sign.
//
// Protobuf has many encodings of one message. Parse accepts one: known fields in
// ascending order, shortest varints, no default values; this is what java-tron
// and its clients write. It writes everything again to compare, so the fields
// are exactly what is signed. Every error is safe to show to the client.
package tron

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mr-tron/base58"
	"google.golang.org/protobuf/encoding/protowire"
)

// MaxSize is the largest transaction that nodes take.
const MaxSize = 500 << 10

// Address is an account or contract: 0x41 and the last 20 bytes of the hash of
// its key. Its text is Base58Check.
type Address [21]byte

const addressPrefix = 0x41

// String is the address in Base58Check, as users see it.
func (a Address) String() string {
	first := sha256.Sum256(a[:])
	second := sha256.Sum256(first[:])
	return base58.Encode(append(a[:], second[:4]...))
}

// Tx is the raw_data of a transaction. The fields are for reading only: [Tx.Digest]
// and [Tx.Signed] use the bytes that were parsed.
type Tx struct {
	RefBlockBytes []byte
	RefBlockNum   int64
	RefBlockHash  []byte
	Expiration    int64  // milliseconds
	Data          []byte // the memo
	Contract      Contract
	Scripts       []byte
	Timestamp     int64 // milliseconds
	FeeLimit      int64 // sun

	raw []byte
}

// Parse reads raw_data (core/Tron.proto, Transaction.raw).
func Parse(raw []byte) (*Tx, error) {
	switch {
	case len(raw) == 0:
		return nil, errors.New("the transaction is empty")
	case len(raw) > MaxSize:
		return nil, fmt.Errorf("the transaction has %d bytes; at most %d are accepted", len(raw), MaxSize)
	}
	tx := &Tx{raw: bytes.Clone(raw)}
	found := false
	m := tx.message(func(b []byte) error {
		if found {
			return errors.New("a transaction has exactly one contract") // java-tron refuses more
		}
		found = true
		return tx.Contract.read(b)
	})
	if err := m.read(raw); err != nil {
		return nil, err
	}
	if !found {
		return nil, errors.New("the transaction has no contract")
	}
	// The reader is strict already. This makes a mistake in it a refusal.
	if !bytes.Equal(tx.Encode(), raw) {
		return nil, errors.New("the transaction is not in its canonical encoding")
	}
	return tx, nil
}

// message binds the fields of raw_data to their numbers.
func (tx *Tx) message(readContract func([]byte) error) message {
	return message{
		{1, "ref_block_bytes", &tx.RefBlockBytes},
		{3, "ref_block_num", &tx.RefBlockNum},
		{4, "ref_block_hash", &tx.RefBlockHash},
		{8, "expiration", &tx.Expiration},
		// 9, auths, is not in use on the network and is refused.
		{10, "data", &tx.Data},
		{11, "contract", nested{readContract, func() [][]byte { return [][]byte{tx.Contract.encode()} }}},
		{12, "scripts", &tx.Scripts},
		{14, "timestamp", &tx.Timestamp},
		{18, "fee_limit", &tx.FeeLimit},
	}
}

// Encode writes raw_data from its fields.
func (tx *Tx) Encode() []byte { return tx.message(nil).append(nil) }

// Digest is what must be signed; it is also the id of the transaction.
func (tx *Tx) Digest() [32]byte { return sha256.Sum256(tx.raw) }

// Signed is the protobuf Transaction{1: raw_data, 2: signature}, ready to be
// sent. v is the recovery id, 0 or 1; the chain writes it as 27 or 28.
func (tx *Tx) Signed(r, s [32]byte, v byte) []byte {
	b := protowire.AppendTag(nil, 1, protowire.BytesType)
	b = protowire.AppendBytes(b, tx.raw)
	b = protowire.AppendTag(b, 2, protowire.BytesType)
	return protowire.AppendBytes(b, append(append(r[:], s[:]...), 27+v))
}
