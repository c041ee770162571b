package address

import (
	"encoding/base32"
	"encoding/binary"
)

// strKeyAccount is SEP-23's version of an Ed25519 public key. It makes every
// address begin with a G.
const strKeyAccount = 6 << 3

func stellar(k key) (string, error) {
	data := append([]byte{strKeyAccount}, k.raw...)
	data = binary.LittleEndian.AppendUint16(data, crc16(data))
	return base32.StdEncoding.EncodeToString(data), nil // 35 bytes: no padding
}
