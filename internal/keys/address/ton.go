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
	plugins   bool   // the data ends in a dictionary of plugins
}

var (
	walletV3R2 = wallet{
		codeHash: [32]byte{
			0x84, 0xda, 0xfa, 0x44, 0x9f, 0x98, 0xa6, 0x98, 0x77, 0x89, 0xba, 0x23, 0x23, 0x58, 0x07, 0x2b,
			0xc0, 0xf7, 0x6d, 0xc4, 0x52, 0x40, 0x02, 0xa5, 0xd0, 0x91, 0x8b, 0x9a, 0x75, 0xd2, 0xd5, 0x99,
		},
	}
	walletV4R2 = wallet{
		codeHash: [32]byte{
			0xfe, 0xb5, 0xff, 0x68, 0x20, 0xe2, 0xff, 0x0d, 0x94, 0x83, 0xe7, 0xe0, 0xd6, 0x2c, 0x81, 0x7d,
			0x84, 0x67, 0x89, 0xfb, 0x4a, 0xe5, 0x80, 0xc8, 0x78, 0x86, 0x6d, 0x95, 0x9d, 0xab, 0xd5, 0xc0,
		},
		codeDepth: 7,
		plugins:   true,
	}
)

// walletID is the one that wallets take by default in workchain 0.
const walletID = 698983191

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

// data is what the contract stores at first: that it has sent nothing yet, its
// wallet id, its owner and, in newer versions, that it has no plugins.
func (w wallet) data(publicKey []byte) cell {
	bits := binary.BigEndian.AppendUint32(nil, 0) // sequence number
	bits = binary.BigEndian.AppendUint32(bits, walletID)
	bits = append(bits, publicKey...)
	c := cell{bits: bits, size: 8 * len(bits)}
	if w.plugins {
		c.bits = append(c.bits, 0) // one bit: an empty dictionary
		c.size++
	}
	return c
}

// cell is an ordinary cell. Bits behind its size are zero.
type cell struct {
	bits []byte
	size int // in bits
	refs []ref
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
