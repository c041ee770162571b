package workload

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
	"golang.org/x/crypto/sha3"

	"latchkey/internal/chain/rlp"
)

// recipient is the account that the transfers go to, and that one policy allows.
var recipient = [20]byte{0x70, 0x99, 0x79, 0x70, 0xc5, 0x18, 0x12, 0xdc, 0x3a, 0x01, 0x0c, 0x7d, 0x01, 0xb5, 0x0e, 0x0d, 0x17, 0xdc, 0x79, 0xc8}

// The transfers are on this chain, of this much.
const (
	chainID = 1
	amount  = 1_000_000_000_000_000 // wei
)

// transfer is an unsigned transaction of EIP-1559.
func transfer(nonce uint64) []byte {
	fields := rlp.AppendUint64(nil, chainID)
	fields = rlp.AppendUint64(fields, nonce)
	fields = rlp.AppendUint64(fields, 1_000_000_000)  // max priority fee per gas
	fields = rlp.AppendUint64(fields, 30_000_000_000) // max fee per gas
	fields = rlp.AppendUint64(fields, 21_000)         // gas
	fields = rlp.AppendBytes(fields, recipient[:])
	fields = rlp.AppendUint64(fields, amount)
	fields = rlp.AppendBytes(fields, nil) // data
	fields = rlp.AppendList(fields, nil)  // access list
	return rlp.AppendList([]byte{2}, fields)
}

var errTransaction = errors.New("it is not the transaction with a signature added")

// checkTransaction checks that signed is the transaction unsigned with a
// signature by the key of an address.
func checkTransaction(address string, unsigned, signed []byte) error {
	before, _, err := rlp.Next(unsigned[1:])
	if err != nil {
		return err
	}
	if len(signed) == 0 || signed[0] != unsigned[0] {
		return errTransaction
	}
	after, rest, err := rlp.Next(signed[1:])
	if err != nil {
		return err
	}
	added, ok := bytes.CutPrefix(after.Content, before.Content)
	if !ok || len(rest) > 0 {
		return errTransaction
	}
	var signature [65]byte // v, r and s, as integers without leading zeros
	for i, end := range []int{1, 33, 65} {
		var number rlp.Item
		if number, added, err = rlp.Next(added); err != nil {
			return err
		}
		content, err := number.Bytes()
		if err != nil || len(content) > 32 || i == 0 && len(content) > 1 {
			return errTransaction
		}
		copy(signature[end-len(content):end], content)
	}
	return signedBy(address, keccak(unsigned), signature)
}

// signedBy checks that a signature of digest, of v, r and s, is by the key of
// an address.
func signedBy(address string, digest [32]byte, signature [65]byte) error {
	if signature[0] > 1 {
		return fmt.Errorf("%d is no recovery id", signature[0])
	}
	signature[0] += 27 // as it is written for an uncompressed key
	key, _, err := ecdsa.RecoverCompact(signature[:], digest[:])
	if err != nil {
		return err
	}
	hash := keccak(key.SerializeUncompressed()[1:])
	if signer := "0x" + hex.EncodeToString(hash[12:]); !strings.EqualFold(signer, address) {
		return fmt.Errorf("it was signed by %s and not by %s", signer, address)
	}
	return nil
}

func keccak(text []byte) (digest [32]byte) {
	h := sha3.NewLegacyKeccak256()
	h.Write(text)
	h.Sum(digest[:0])
	return digest
}
