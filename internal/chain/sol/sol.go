// Package sol reads unsigned Solana transactions: it finds the slot of a signer,
// says which bytes it must sign, and puts the signature in. It holds no secret
// and does not sign.
//
// The wire format, for the legacy and the v0 message:
//
//	transaction = count, 64-byte signatures, message
//	message     = [0x80 for v0], header, count, 32-byte account keys,
//	              32-byte recent blockhash, count, instructions,
//	              [for v0: count, address table lookups]
//	instruction = program index, count, account indexes, count, data
//	lookup      = 32-byte table key, count, writable indexes, count, readonly indexes
//
// A count is a compact-u16: 7 bits a byte, low bits first. Parse accepts only
// the shortest form and writes everything again to compare, so the fields are
// exactly what is signed. Every error is safe to show to the client.
package sol

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/mr-tron/base58"
)

// MaxSize is what fits one packet of the network, and so the largest legacy or
// v0 transaction.
const MaxSize = 1232

// Legacy is the version of a message without a version byte.
const Legacy = -1

const versionFlag = 0x80 // set in the first byte of a versioned message

// Key is an account: an Ed25519 public key or an address derived from one.
type Key [32]byte

// String is the key in base58, as users see it.
func (k Key) String() string { return base58.Encode(k[:]) }

// Header says which account keys sign and which are written to. The keys come
// in four runs: writable signers, readonly signers, writable others, readonly
// others.
type Header struct {
	RequiredSignatures, ReadonlySigned, ReadonlyUnsigned byte
}

// Instruction is a call to a program. An account index counts through the
// account keys, then the writable, then the readonly entries of the lookups.
type Instruction struct {
	ProgramIndex byte // always an account key, never from a lookup
	Accounts     []byte
	Data         []byte
}

// Lookup names accounts by their place in a table on chain (v0 only).
type Lookup struct {
	Table              Key
	Writable, Readonly []byte
}

// Tx is a transaction with none or some of its signatures. The fields are for
// reading only: [Tx.Message] and [Tx.Signed] use the bytes that were parsed.
type Tx struct {
	Version         int // Legacy or 0
	Signatures      [][64]byte
	Header          Header
	AccountKeys     []Key
	RecentBlockhash Key
	Instructions    []Instruction
	Lookups         []Lookup

	raw   []byte
	slots int // where the signatures begin in raw
}

// Parse reads a whole transaction: signature slots, which are zero where a
// signature is missing, and message.
func Parse(raw []byte) (*Tx, error) {
	if len(raw) > MaxSize {
		return nil, fmt.Errorf("the transaction has %d bytes; a packet holds at most %d", len(raw), MaxSize)
	}
	tx := &Tx{raw: bytes.Clone(raw)}
	r := reader{rest: tx.raw}
	count := r.count("signatures", 64)
	tx.slots = len(raw) - len(r.rest)
	for range count {
		tx.Signatures = append(tx.Signatures, [64]byte(r.take("signature", 64)))
	}
	tx.readMessage(&r)
	if r.err == nil && len(r.rest) > 0 {
		r.err = fmt.Errorf("there are %d bytes after the transaction", len(r.rest))
	}
	if r.err != nil {
		return nil, r.err
	}
	if err := tx.check(); err != nil {
		return nil, err
	}
	// The reader is strict already. This makes a mistake in it a refusal.
	if !bytes.Equal(tx.Encode(), raw) {
		return nil, errors.New("the transaction is not in its canonical encoding")
	}
	return tx, nil
}

func (tx *Tx) readMessage(r *reader) {
	tx.Version = Legacy
	if len(r.rest) > 0 && r.rest[0]&versionFlag != 0 {
		if tx.Version = int(r.byte("version") &^ versionFlag); tx.Version != 0 {
			r.note(fmt.Errorf("message version %d is not supported", tx.Version))
		}
	}
	tx.Header = Header{r.byte("header"), r.byte("header"), r.byte("header")}
	for range r.count("account keys", 32) {
		tx.AccountKeys = append(tx.AccountKeys, Key(r.take("account key", 32)))
	}
	tx.RecentBlockhash = Key(r.take("recent blockhash", 32))
	for range r.count("instructions", 3) {
		tx.Instructions = append(tx.Instructions, Instruction{
			ProgramIndex: r.byte("program index"),
			Accounts:     r.vector("instruction accounts"),
			Data:         r.vector("instruction data"),
		})
	}
	if tx.Version == Legacy {
		return
	}
	for range r.count("address table lookups", 34) {
		tx.Lookups = append(tx.Lookups, Lookup{
			Table:    Key(r.take("address table", 32)),
			Writable: r.vector("writable indexes"),
			Readonly: r.vector("readonly indexes"),
		})
	}
}

// check holds a transaction to the rules that validators apply before they look
// at any account.
func (tx *Tx) check() error {
	h, static := tx.Header, len(tx.AccountKeys)
	switch {
	case h.RequiredSignatures == 0:
		return errors.New("the header requires no signature")
	case h.ReadonlySigned >= h.RequiredSignatures:
		return errors.New("the header leaves no writable signer to pay the fee")
	case int(h.RequiredSignatures)+int(h.ReadonlyUnsigned) > static:
		return errors.New("the header counts more accounts than there are account keys")
	case len(tx.Signatures) != int(h.RequiredSignatures):
		return fmt.Errorf("there are %d signature slots for %d required signatures", len(tx.Signatures), h.RequiredSignatures)
	}
	seen := map[Key]bool{}
	for _, key := range tx.AccountKeys {
		if seen[key] {
			return errors.New("an account key is listed twice")
		}
		seen[key] = true
	}
	total := static
	for i, l := range tx.Lookups {
		if len(l.Writable)+len(l.Readonly) == 0 {
			return fmt.Errorf("address table lookup %d loads no account", i)
		}
		total += len(l.Writable) + len(l.Readonly)
	}
	if total > 256 {
		return errors.New("there are more than 256 accounts")
	}
	for i, in := range tx.Instructions {
		if in.ProgramIndex == 0 { // the fee payer cannot be a program
			return fmt.Errorf("instruction %d calls the fee payer", i)
		}
		if int(in.ProgramIndex) >= static {
			return fmt.Errorf("instruction %d calls a program that is not among the account keys", i)
		}
		for _, account := range in.Accounts {
			if int(account) >= total {
				return fmt.Errorf("instruction %d uses account %d of %d", i, account, total)
			}
		}
	}
	return nil
}

// SignerIndex finds the signature slot of a key.
func (tx *Tx) SignerIndex(publicKey [32]byte) (int, bool) {
	for i, key := range tx.AccountKeys[:tx.Header.RequiredSignatures] {
		if key == publicKey {
			return i, true
		}
	}
	return 0, false
}

// IsSigner is whether the account with this index signs.
func (tx *Tx) IsSigner(account int) bool { return account < int(tx.Header.RequiredSignatures) }

// IsWritable is whether the account with this index may be changed, as the
// message asks for it.
func (tx *Tx) IsWritable(account int) bool {
	h, static := tx.Header, len(tx.AccountKeys)
	switch {
	case account < int(h.RequiredSignatures):
		return account < int(h.RequiredSignatures)-int(h.ReadonlySigned)
	case account < static:
		return account < static-int(h.ReadonlyUnsigned)
	}
	writable := static
	for _, l := range tx.Lookups {
		writable += len(l.Writable)
	}
	return account < writable
}

// LookupOf resolves an account index at or above len(AccountKeys): which lookup
// it comes from, and its place in that table. It is false for other indexes.
func (tx *Tx) LookupOf(account int) (lookup int, index byte, ok bool) {
	left := account - len(tx.AccountKeys)
	if left < 0 {
		return 0, 0, false
	}
	for _, writable := range []bool{true, false} {
		for i, l := range tx.Lookups {
			indexes := l.Readonly
			if writable {
				indexes = l.Writable
			}
			if left < len(indexes) {
				return i, indexes[left], true
			}
			left -= len(indexes)
		}
	}
	return 0, 0, false
}

// Message is what every signer signs.
func (tx *Tx) Message() []byte {
	return bytes.Clone(tx.raw[tx.slots+64*len(tx.Signatures):])
}

// Signed is the transaction with the signature in the slot of the signer with
// this index, which [Tx.SignerIndex] gave; the other slots are as they were. It
// is nil when there is no such slot.
func (tx *Tx) Signed(index int, sig [64]byte) []byte {
	if index < 0 || index >= len(tx.Signatures) {
		return nil
	}
	signed := bytes.Clone(tx.raw)
	copy(signed[tx.slots+64*index:], sig[:])
	return signed
}
