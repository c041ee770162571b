package address

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// A TON account is the hash of the contract it starts as: of a cell that refers
// to the wallet's code and to its first data. A cell's hash takes in only the
// hash and the depth of what it refers to, so that the code itself, which never
// changes, is not needed here.

// wallet is a version of the standard wallet contract.
type wallet struct {
	codeHash  [32]byte
	codeDepth uint16 // levels of cells under the code's root
	walletID  uint32
	// The data ends in a dictionary: of plugins, or since V5 of extensions.
	dictionary bool
	// The data begins with a bit that allows the owner's signature.
	signatureBit bool
}

var (
	walletV3R2 = wallet{
		codeHash: [32]byte{
			0x84, 0xda, 0xfa, 0x44, 0x9f, 0x98, 0xa6, 0x98, 0x77, 0x89, 0xba, 0x23, 0x23, 0x58, 0x07, 0x2b,
			0xc0, 0xf7, 0x6d, 0xc4, 0x52, 0x40, 0x02, 0xa5, 0xd0, 0x91, 0x8b, 0x9a, 0x75, 0xd2, 0xd5, 0x99,
		},
		walletID: defaultWalletID,
	}
	walletV4R2 = wallet{
		codeHash: [32]byte{
			0xfe, 0xb5, 0xff, 0x68, 0x20, 0xe2, 0xff, 0x0d, 0x94, 0x83, 0xe7, 0xe0, 0xd6, 0x2c, 0x81, 0x7d,
			0x84, 0x67, 0x89, 0xfb, 0x4a, 0xe5, 0x80, 0xc8, 0x78, 0x86, 0x6d, 0x95, 0x9d, 0xab, 0xd5, 0xc0,
		},
		codeDepth:  7,
		walletID:   defaultWalletID,
		dictionary: true,
	}
	walletV5R1 = wallet{
		codeHash: [32]byte{
			0x20, 0x83, 0x4b, 0x7b, 0x72, 0xb1, 0x12, 0x14, 0x7e, 0x1b, 0x2f, 0xb4, 0x57, 0xb8, 0x4e, 0x74,
			0xd1, 0xa3, 0x0f, 0x04, 0xf7, 0x37, 0xd4, 0xf6, 0x2a, 0x66, 0x8e, 0x95, 0x52, 0xd2, 0xb7, 0x2f,
		},
		codeDepth:    6,
		walletID:     mainnetWalletID,
		dictionary:   true,
		signatureBit: true,
	}
)

const (
	// defaultWalletID is the one that wallets take by default in workchain 0.
	defaultWalletID = 698983191
	// mainnetWalletID is that of the first wallet of version 5 in workchain 0 of the
	// main network: its context with the network's number (-239) added bit by bit.
	mainnetWalletID = 2147483409
)

// The text form of TEP-2: two bytes, the account's hash and a checksum.
const (
	tonBounceable = 0x11
	tonWorkchain  = 0
)

func ton(w wallet) func(key) (string, error) {
	return func(k key) (string, error) {
		account := w.account(k.raw)
		data := append([]byte{tonBounceable, tonWorkchain}, account[:]...)
		data = binary.BigEndian.AppendUint16(data, crc16(data))
		return base64.URLEncoding.EncodeToString(data), nil // 36 bytes: no padding
	}
}

// account is the hash of the wallet's StateInit.
func (w wallet) account(publicKey []byte) [32]byte {
	init := cell{
		// No split depth, not special, code, data, no library: 00110.
		bits: []byte{0b00110_000},
		size: 5,
		refs: []ref{{w.codeHash, w.codeDepth}, {w.data(publicKey).hash(), 0}},
	}
	return init.hash()
}

// data is what the contract stores at first: whether its owner's signature counts,
// that it has sent nothing yet, its wallet id, its owner and, in newer versions,
// that it has no plugins or extensions.
func (w wallet) data(publicKey []byte) cell {
	var c cell
	if w.signatureBit {
		c.append(1, 1)
	}
	c.append(0, 32) // sequence number
	c.append(uint64(w.walletID), 32)
	for _, b := range publicKey {
		c.append(uint64(b), 8)
	}
	if w.dictionary {
		c.append(0, 1) // it is empty
	}
	return c
}

// cell is an ordinary cell. Bits behind its size are zero.
type cell struct {
	bits []byte
	size int // in bits
	refs []ref
}

// append adds the low bits of a number, the highest first.
func (c *cell) append(number uint64, bits int) {
	for i := bits - 1; i >= 0; i-- {
		if c.size%8 == 0 {
			c.bits = append(c.bits, 0)
		}
		c.bits[c.size/8] |= byte(number>>i&1) << (7 - c.size%8)
		c.size++
	}
}

// ref is what a cell's hash says of another cell.
type ref struct {
	hash  [32]byte
	depth uint16
}

// hash is the representation hash (TVM whitepaper, 3.1.4 and 3.1.5): two
// descriptor bytes, the data, then the depths and the hashes of the references.
func (c cell) hash() [32]byte {
	whole, started := c.size/8, (c.size+7)/8
	repr := []byte{byte(len(c.refs)), byte(whole + started)}
	repr = append(repr, c.bits...)
	if whole != started { // a one marks the end of data that fills no byte
		repr[len(repr)-1] |= 0x80 >> (c.size % 8)
	}
	for _, r := range c.refs {
		repr = binary.BigEndian.AppendUint16(repr, r.depth)
	}
	for _, r := range c.refs {
		repr = append(repr, r.hash[:]...)
	}
	return sha256.Sum256(repr)
}
