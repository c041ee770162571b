package curve

import (
	"errors"
	"fmt"
)

const (
	tagInteger  = 0x02
	tagSequence = 0x30
	longForm    = 0x80 // a length byte with this bit counts the length bytes that follow
)

// ParseDER reads an ECDSA signature:
//
//	30 <length> 02 <length> <r> 02 <length> <s>
//
// It is lenient where deployed signers are sloppy. The helper that wallets use
// does not strip leading zeros, and some signers leave out the zero that keeps
// an integer positive; an integer is therefore read as unsigned whatever its
// first byte, and a length below 128 may be written in the long form. It is
// strict in all else: the lengths must add up, nothing may follow, and no
// value may exceed 32 bytes.
//
// The results have no leading zeros; that of zero is empty. Zero is well-formed
// here, and refused by [PublicKey.VerifyDigest].
func ParseDER(sig []byte) (r, s []byte, err error) {
	body, rest, err := element(sig, tagSequence, "sequence")
	if err != nil {
		return nil, nil, err
	}
	if len(rest) > 0 {
		return nil, nil, fmt.Errorf("%d bytes follow the signature", len(rest))
	}
	if r, body, err = integer(body, "r"); err != nil {
		return nil, nil, err
	}
	if s, body, err = integer(body, "s"); err != nil {
		return nil, nil, err
	}
	if len(body) > 0 {
		return nil, nil, fmt.Errorf("%d bytes follow s", len(body))
	}
	return r, s, nil
}

func integer(data []byte, name string) (value, rest []byte, err error) {
	value, rest, err = element(data, tagInteger, name)
	if err != nil {
		return nil, nil, err
	}
	if len(value) == 0 {
		return nil, nil, fmt.Errorf("%s is an integer of no bytes", name)
	}
	value = trim(value)
	if len(value) > coordinateSize {
		return nil, nil, fmt.Errorf("%s is a number of %d bytes: at most 32 are possible", name, len(value))
	}
	return value, rest, nil
}

// element splits data after its first element, which must have the tag.
func element(data []byte, tag byte, name string) (content, rest []byte, err error) {
	if len(data) < 2 {
		return nil, nil, fmt.Errorf("it ends where %s should begin", name)
	}
	if data[0] != tag {
		return nil, nil, fmt.Errorf("%s begins with the byte %02x instead of %02x", name, data[0], tag)
	}
	length, data := int(data[1]), data[2:]
	if length >= longForm {
		// Two signature integers never need more than one length byte.
		if length != longForm+1 {
			return nil, nil, fmt.Errorf("%s has the unsupported length byte %02x", name, length)
		}
		if len(data) == 0 {
			return nil, nil, errors.New("it ends within a length")
		}
		length, data = int(data[0]), data[1:]
	}
	if length > len(data) {
		return nil, nil, fmt.Errorf("%s claims %d bytes, but %d follow", name, length, len(data))
	}
	return data[:length], data[length:], nil
}

func trim(v []byte) []byte {
	for len(v) > 0 && v[0] == 0 {
		v = v[1:]
	}
	return v
}
