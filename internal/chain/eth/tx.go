package eth

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"

	"latchkey/internal/chain/rlp"
)

// MaxSize is the largest transaction in bytes. Nodes relay a quarter of it.
const MaxSize = 512 << 10

// Type is the transaction type of EIP-2718.
type Type byte

// The types that can be signed.
const (
	Legacy     Type = 0
	AccessList Type = 1 // EIP-2930
	DynamicFee Type = 2 // EIP-1559
	Blob       Type = 3 // EIP-4844, the body without the blobs
	SetCode    Type = 4 // EIP-7702
)

// Tx is an unsigned transaction. A field that its type does not have is nil or
// zero. The fields are for reading only: [Tx.Digest] covers the bytes that
// were parsed, and a changed field would make [Tx.Signed] disagree with it.
type Tx struct {
	Type                 Type
	ChainID              *big.Int // nil only in a legacy transaction from before EIP-155
	Nonce                uint64
	GasPrice             *big.Int // Legacy and AccessList
	MaxPriorityFeePerGas *big.Int // DynamicFee and later
	MaxFeePerGas         *big.Int // DynamicFee and later
	Gas                  uint64
	To                   *Address // nil creates a contract
	Value                *big.Int
	Data                 []byte
	AccessList           []AccessTuple
	MaxFeePerBlobGas     *big.Int              // Blob
	BlobVersionedHashes  [][32]byte            // Blob
	AuthorizationList    []SignedAuthorization // SetCode

	raw []byte
}

// AccessTuple is one entry of an access list (EIP-2930).
type AccessTuple struct {
	Address     Address
	StorageKeys [][32]byte
}

// SignedAuthorization is one entry of the list of EIP-7702. Its signature is
// not checked here: a wrong one makes the chain skip the entry.
type SignedAuthorization struct {
	Authorization
	YParity byte
	R, S    *big.Int
}

var errSigned = errors.New("the transaction already carries a signature; send it unsigned")

// Parse reads an unsigned transaction.
func Parse(raw []byte) (*Tx, error) {
	switch {
	case len(raw) == 0:
		return nil, errors.New("the transaction is empty")
	case len(raw) > MaxSize:
		return nil, fmt.Errorf("the transaction has %d bytes; at most %d are accepted", len(raw), MaxSize)
	}
	tx := &Tx{raw: bytes.Clone(raw)}
	var err error
	switch first := raw[0]; {
	case first >= 0xc0: // a list: EIP-2718 keeps these bytes for legacy transactions
		err = tx.readLegacy()
	case first >= byte(AccessList) && first <= byte(SetCode):
		tx.Type = Type(first)
		err = tx.readTyped()
	default:
		return nil, fmt.Errorf("unknown transaction type 0x%02x", first)
	}
	if err != nil {
		return nil, err
	}
	// The reader is strict already. This makes a mistake in it a refusal
	// instead of a signature over something else than the fields say.
	if !bytes.Equal(tx.Encode(), raw) {
		return nil, errors.New("the transaction is not in its canonical encoding")
	}
	return tx, nil
}

// Digest is what must be signed. Every type is signed over its unsigned
// encoding: EIP-155 for legacy, EIP-2718 payloads for the others.
func (tx *Tx) Digest() [32]byte { return keccak(tx.raw) }

// signatureSize is how much longer a signature makes a transaction, about.
const signatureSize = 80

// Signed is the transaction with its signature, ready to be sent. v is the
// recovery id, 0 or 1.
func (tx *Tx) Signed(r, s [32]byte, v byte) []byte {
	fields := tx.appendFields(make([]byte, 0, len(tx.raw)+signatureSize))
	if tx.Type == Legacy {
		fields = rlp.AppendBig(fields, tx.legacyV(v))
	} else {
		fields = rlp.AppendUint64(fields, uint64(v))
	}
	fields = rlp.AppendInt(fields, r[:])
	fields = rlp.AppendInt(fields, s[:])
	return tx.envelope(fields)
}

// legacyV folds the chain id into the recovery id (EIP-155).
func (tx *Tx) legacyV(v byte) *big.Int {
	if tx.ChainID == nil {
		return big.NewInt(27 + int64(v))
	}
	folded := new(big.Int).Lsh(tx.ChainID, 1)
	return folded.Add(folded, big.NewInt(35+int64(v)))
}

// Encode writes the unsigned transaction from its fields.
func (tx *Tx) Encode() []byte {
	fields := tx.appendFields(make([]byte, 0, len(tx.raw)+signatureSize))
	if tx.Type == Legacy && tx.ChainID != nil {
		fields = rlp.AppendBig(fields, tx.ChainID)
		fields = append(fields, 0x80, 0x80) // EIP-155: two zeros in place of r and s
	}
	return tx.envelope(fields)
}

func (tx *Tx) envelope(fields []byte) []byte {
	if tx.Type == Legacy {
		return rlp.AppendList(nil, fields)
	}
	return rlp.AppendList([]byte{byte(tx.Type)}, fields)
}

// appendFields writes the fields that come before the signature.
func (tx *Tx) appendFields(b []byte) []byte {
	if tx.Type != Legacy {
		b = rlp.AppendBig(b, tx.ChainID)
	}
	b = rlp.AppendUint64(b, tx.Nonce)
	if tx.Type <= AccessList {
		b = rlp.AppendBig(b, tx.GasPrice)
	} else {
		b = rlp.AppendBig(b, tx.MaxPriorityFeePerGas)
		b = rlp.AppendBig(b, tx.MaxFeePerGas)
	}
	b = rlp.AppendUint64(b, tx.Gas)
	if tx.To == nil {
		b = rlp.AppendBytes(b, nil)
	} else {
		b = rlp.AppendBytes(b, tx.To[:])
	}
	b = rlp.AppendBig(b, tx.Value)
	b = rlp.AppendBytes(b, tx.Data)
	if tx.Type != Legacy {
		b = appendAccessList(b, tx.AccessList)
	}
	switch tx.Type {
	case Blob:
		b = rlp.AppendBig(b, tx.MaxFeePerBlobGas)
		b = appendHashes(b, tx.BlobVersionedHashes)
	case SetCode:
		b = appendAuthorizations(b, tx.AuthorizationList)
	case Legacy, AccessList, DynamicFee:
	}
	return b
}

func appendHashes(b []byte, hashes [][32]byte) []byte {
	var list []byte
	for _, h := range hashes {
		list = rlp.AppendBytes(list, h[:])
	}
	return rlp.AppendList(b, list)
}

func appendAccessList(b []byte, tuples []AccessTuple) []byte {
	var list []byte
	for _, t := range tuples {
		tuple := rlp.AppendBytes(nil, t.Address[:])
		list = rlp.AppendList(list, appendHashes(tuple, t.StorageKeys))
	}
	return rlp.AppendList(b, list)
}

func appendAuthorizations(b []byte, all []SignedAuthorization) []byte {
	var list []byte
	for _, a := range all {
		one := a.appendFields(nil)
		one = rlp.AppendUint64(one, uint64(a.YParity))
		one = rlp.AppendBig(one, a.R)
		one = rlp.AppendBig(one, a.S)
		list = rlp.AppendList(list, one)
	}
	return rlp.AppendList(b, list)
}
