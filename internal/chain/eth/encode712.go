package eth

import (
	"errors"
	"fmt"
	"math/big"
)

// two256 turns a negative integer into its two's complement.
var two256 = new(big.Int).Lsh(big.NewInt(1), 256)

// hashStruct is hashStruct of EIP-712. It also returns the values that were
// hashed.
func (s *typeSet) hashStruct(name string, v any, path string, depth int) ([32]byte, map[string]any, error) {
	members, ok := v.(object)
	if !ok {
		return [32]byte{}, nil, fmt.Errorf("%s: expected an object for %s", path, quote(name))
	}
	typeHash := s.typeHash(name)
	data := typeHash[:]
	values := map[string]any{}
	for _, f := range s.structs[name] {
		member, ok := members[f.name]
		if !ok || member == nil {
			return [32]byte{}, nil, fmt.Errorf("%s.%s is missing", path, f.name)
		}
		word, value, err := s.encode(f.kind, member, path+"."+f.name, depth+1)
		if err != nil {
			return [32]byte{}, nil, err
		}
		data = append(data, word[:]...)
		values[f.name] = value
	}
	return keccak(data), values, nil
}

// encode is encodeData of EIP-712 for one value: always 32 bytes.
func (s *typeSet) encode(kind string, v any, path string, depth int) ([32]byte, any, error) {
	if depth > maxDepth {
		return [32]byte{}, nil, fmt.Errorf("%s: the data is nested too deep", path)
	}
	if base, length, ok := array(kind); ok {
		return s.encodeArray(base, length, v, path, depth)
	}
	if _, ok := s.structs[kind]; ok {
		return s.hashStruct(kind, v, path, depth)
	}
	word, value, err := encodeAtomic(kind, v)
	if err != nil {
		return word, nil, at(path, err)
	}
	return word, value, nil
}

// encodeArray hashes the encodings of the elements (EIP-712, "encodeData").
func (s *typeSet) encodeArray(base string, length int, v any, path string, depth int) ([32]byte, any, error) {
	items, ok := v.([]any)
	switch {
	case !ok:
		return [32]byte{}, nil, fmt.Errorf("%s: expected an array", path)
	case length >= 0 && len(items) != length:
		return [32]byte{}, nil, fmt.Errorf("%s: expected %d elements, not %d", path, length, len(items))
	}
	var data []byte
	values := make([]any, len(items))
	for i, item := range items {
		word, value, err := s.encode(base, item, fmt.Sprintf("%s.%d", path, i), depth+1)
		if err != nil {
			return [32]byte{}, nil, err
		}
		data = append(data, word[:]...)
		values[i] = value
	}
	return keccak(data), values, nil
}

func encodeAtomic(kind string, v any) (word [32]byte, value any, err error) {
	if bits, signed, ok := integer(kind); ok {
		n, err := integerOf(v, bits, signed)
		if err != nil {
			return word, nil, err
		}
		unsigned := n
		if n.Sign() < 0 {
			unsigned = new(big.Int).Add(n, two256)
		}
		unsigned.FillBytes(word[:])
		return word, n, nil
	}
	if length, ok := fixed(kind); ok {
		b, err := bytesOf(v)
		if err == nil && len(b) != length {
			err = fmt.Errorf("expected %d bytes, not %d", length, len(b))
		}
		copy(word[:], b)
		return word, b, err
	}
	switch kind {
	case "bool":
		b, ok := v.(bool)
		if !ok {
			return word, nil, errors.New("expected true or false")
		}
		if b {
			word[31] = 1
		}
		return word, b, nil
	case "address":
		a, err := addressOf(v)
		copy(word[12:], a[:])
		return word, a, err
	case "string":
		text, ok := v.(string)
		if !ok {
			return word, nil, errors.New("expected a string")
		}
		return keccak([]byte(text)), text, nil
	default: // bytes; check has refused every other type
		b, err := bytesOf(v)
		return keccak(b), b, err
	}
}
