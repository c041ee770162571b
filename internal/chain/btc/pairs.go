package btc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// pair is one entry of a map of a PSBT. The first byte of the key is its type.
type pair struct{ key, value []byte }

// section is one map: the global one, one for each input, one for each output.
type section []pair

// The types that are used here (BIP-174, BIP-371).
const (
	globalUnsignedTx = 0x00
	globalVersion    = 0xfb

	inNonWitnessUTXO = 0x00
	inWitnessUTXO    = 0x01
	inPartialSig     = 0x02
	inSighashType    = 0x03
	inRedeemScript   = 0x04
	inWitnessScript  = 0x05
	inFinalScriptSig = 0x07
	inFinalWitness   = 0x08
	inTapKeySig      = 0x13
	inTapInternalKey = 0x17
	inTapMerkleRoot  = 0x18
)

var magic = []byte("psbt\xff")

var (
	errTruncated = errors.New("the PSBT is truncated")
	errLength    = errors.New("a length in the PSBT is not in its shortest form")
)

// split reads all maps up to the end of raw.
func split(raw []byte) ([]section, error) {
	rest, ok := bytes.CutPrefix(raw, magic)
	if !ok {
		return nil, errors.New("this is not a PSBT: it does not start with 70736274ff")
	}
	var sections []section
	for len(rest) > 0 {
		var s section
		var err error
		if s, rest, err = readSection(rest); err != nil {
			return nil, err
		}
		sections = append(sections, s)
	}
	return sections, nil
}

func readSection(b []byte) (section, []byte, error) {
	var s section
	seen := map[string]bool{}
	for {
		key, rest, err := readBytes(b)
		if err != nil {
			return nil, nil, err
		}
		if len(key) == 0 { // the separator
			return s, rest, nil
		}
		value, rest, err := readBytes(rest)
		if err != nil {
			return nil, nil, err
		}
		if seen[string(key)] {
			return nil, nil, errors.New("a key of the PSBT is repeated")
		}
		seen[string(key)] = true
		s = append(s, pair{key, value})
		b = rest
	}
}

// readBytes reads a length and as many bytes.
func readBytes(b []byte) (value, rest []byte, err error) {
	n, rest, err := readSize(b)
	if err != nil {
		return nil, nil, err
	}
	if n > uint64(len(rest)) {
		return nil, nil, errTruncated
	}
	return rest[:n:n], rest[n:], nil
}

// readSize reads a CompactSize, which must be the shortest one.
func readSize(b []byte) (n uint64, rest []byte, err error) {
	if len(b) == 0 {
		return 0, nil, errTruncated
	}
	first, b := b[0], b[1:]
	if first < 0xfd {
		return uint64(first), b, nil
	}
	size := 2 << (first - 0xfd) // 2, 4 or 8
	if len(b) < size {
		return 0, nil, errTruncated
	}
	var padded [8]byte
	copy(padded[:], b[:size])
	n = binary.LittleEndian.Uint64(padded[:])
	if n < 0xfd || size == 4 && n <= 0xffff || size == 8 && n <= 0xffffffff {
		return 0, nil, errLength
	}
	return n, b[size:], nil
}

func appendBytes(b, value []byte) []byte {
	switch n := uint64(len(value)); {
	case n < 0xfd:
		b = append(b, byte(n))
	case n <= 0xffff:
		b = binary.LittleEndian.AppendUint16(append(b, 0xfd), uint16(n))
	case n <= 0xffffffff:
		b = binary.LittleEndian.AppendUint32(append(b, 0xfe), uint32(n))
	default:
		b = binary.LittleEndian.AppendUint64(append(b, 0xff), n)
	}
	return append(b, value...)
}

// get finds the value of a type whose key has no further data.
func (s section) get(kind byte) ([]byte, bool) {
	for _, p := range s {
		if len(p.key) == 1 && p.key[0] == kind {
			return p.value, true
		}
	}
	return nil, false
}

// inputKeys are the types of an input that stand alone: two of them with
// different data would leave open which one counts.
var inputKeys = []byte{
	inNonWitnessUTXO, inWitnessUTXO, inSighashType, inRedeemScript, inWitnessScript,
	inFinalScriptSig, inFinalWitness, inTapKeySig, inTapInternalKey, inTapMerkleRoot,
}

// checkKeys refuses data in the keys of types that have none.
func (s section) checkKeys(alone []byte) error {
	for _, p := range s {
		if len(p.key) > 1 && bytes.IndexByte(alone, p.key[0]) >= 0 {
			return fmt.Errorf("a key of type 0x%02x has data, which BIP-174 does not allow", p.key[0])
		}
	}
	return nil
}

// set puts a pair in, before the first key that sorts after it, which is where
// writers that sort would have it.
func (s section) set(key, value []byte) section {
	at := len(s)
	for i, p := range s {
		if c := bytes.Compare(p.key, key); c == 0 {
			changed := slices.Clone(s)
			changed[i].value = value
			return changed
		} else if c > 0 && at == len(s) {
			at = i
		}
	}
	return slices.Insert(slices.Clone(s), at, pair{key, value})
}
