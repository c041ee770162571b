package address

import (
	"crypto/sha256"

	"github.com/mr-tron/base58"
	// Deprecated, but Bitcoin's addresses are made with it; what matters here is that
	// the preimage is a key or script.
	"golang.org/x/crypto/ripemd160"
)

// accountSize is the number of bytes of an account on Bitcoin's and Ethereum's
// relatives alike.
const accountSize = 20

// hash160 is what Bitcoin and its relatives call an account: RIPEMD-160 of
// SHA-256.
func hash160(data []byte) []byte {
	inner := sha256.Sum256(data)
	outer := ripemd160.New()
	outer.Write(inner[:])
	return outer.Sum(nil)
}

// base58Check writes version and payload with the first four bytes of their
// double SHA-256 behind them.
func base58Check(alphabet *base58.Alphabet, version byte, payload []byte) string {
	data := make([]byte, 0, 1+len(payload)+4)
	data = append(data, version)
	data = append(data, payload...)
	first := sha256.Sum256(data)
	second := sha256.Sum256(first[:])
	return base58.EncodeAlphabet(append(data, second[:4]...), alphabet)
}

// crc16 is CRC-16/XMODEM (polynomial 0x1021, nothing reflected, starts at
// zero), which Stellar and TON end an address with, in opposite byte orders.
func crc16(data []byte) uint16 {
	var sum uint16
	for _, b := range data {
		sum ^= uint16(b) << 8
		for range 8 {
			carry := sum >> 15
			sum = sum<<1 ^ carry*0x1021
		}
	}
	return sum
}
