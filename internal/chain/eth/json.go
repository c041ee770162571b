package eth

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// maxJSON is the largest typed data in bytes: hashing the types costs up to
// its square.
const maxJSON = 256 << 10

// maxDepth bounds the nesting of typed data.
const maxDepth = 32

// JSON as read: nil, bool, string, number, []any or object. Numbers keep their
// text, because a float would lose the digits of an amount.
type (
	number string
	object map[string]any
)

// readJSON reads one JSON value; a repeated member or invalid UTF-8 is refused
// by the decoder, because it would be ambiguous.
func readJSON(text []byte) (any, error) {
	if len(text) > maxJSON {
		return nil, fmt.Errorf("the JSON has %d bytes; at most %d are accepted", len(text), maxJSON)
	}
	d := jsontext.NewDecoder(bytes.NewReader(text))
	v, err := readValue(d, 0)
	if err != nil {
		if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
			return nil, fmt.Errorf("the JSON is not valid at byte %d: %w", syntax.ByteOffset, syntax.Err)
		}
		return nil, err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one JSON value")
	}
	return v, nil
}

func readValue(d *jsontext.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("the JSON is nested deeper than %d levels", maxDepth)
	}
	t, err := d.ReadToken()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the JSON is empty")
	}
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case jsontext.KindNull:
		return nil, nil
	case jsontext.KindTrue, jsontext.KindFalse:
		return t.Bool(), nil
	case jsontext.KindString:
		return t.String(), nil
	case jsontext.KindNumber:
		return number(t.String()), nil
	case jsontext.KindBeginArray:
		items := []any{}
		for d.PeekKind() != jsontext.KindEndArray {
			v, err := readValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			items = append(items, v)
		}
		_, err = d.ReadToken()
		return items, err
	default: // the decoder lets nothing else begin a value than an object
		members := object{}
		for d.PeekKind() != jsontext.KindEndObject {
			name, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			key := name.String() // before the next read invalidates the token
			if members[key], err = readValue(d, depth+1); err != nil {
				return nil, err
			}
		}
		_, err = d.ReadToken()
		return members, err
	}
}

// only checks that exactly these members are there.
func (o object) only(names ...string) error {
	for _, name := range names {
		if _, ok := o[name]; !ok {
			return fmt.Errorf("%s is missing", name)
		}
	}
	for name := range o {
		if !slices.Contains(names, name) {
			return fmt.Errorf("the member %s is not known", quote(name))
		}
	}
	return nil
}

// at says where in the document an error is.
func at(path string, err error) error { return fmt.Errorf("%s: %w", path, err) }

var (
	decimalText = regexp.MustCompile(`^-?[0-9]{1,78}$`)         // 2^256 has 78 digits
	hexText     = regexp.MustCompile(`^0x[0-9a-fA-F]{1,64}$`)   // 256 bits
	bytesText   = regexp.MustCompile(`^0x(?:[0-9a-fA-F]{2})*$`) // whole bytes
)

// integerOf reads an integer the ways clients write it: a JSON number, a
// decimal string (viem, ethers) or a hex string (chainId of ethers).
func integerOf(v any, bits int, signed bool) (*big.Int, error) {
	n := new(big.Int)
	text, isText := v.(string)
	if digits, ok := v.(number); ok {
		if !decimalText.MatchString(string(digits)) {
			return nil, errors.New("the number is not a whole number written with digits only")
		}
		n.SetString(string(digits), 10)
	} else if isText && decimalText.MatchString(text) {
		n.SetString(text, 10)
	} else if isText && hexText.MatchString(text) {
		n.SetString(text[2:], 16)
	} else {
		return nil, errors.New("expected an integer: a number, a decimal string or a 0x string")
	}
	if !fits(n, bits, signed) {
		return nil, fmt.Errorf("the integer does not fit %s%d", map[bool]string{true: "int", false: "uint"}[signed], bits)
	}
	return n, nil
}

func fits(n *big.Int, bits int, signed bool) bool {
	switch {
	case !signed:
		return n.Sign() >= 0 && n.BitLen() <= bits
	case n.Sign() >= 0:
		return n.BitLen() < bits
	default: // -2^(bits-1) fits too
		return new(big.Int).Not(n).BitLen() < bits
	}
}

// bytesOf reads 0x hex of whole bytes.
func bytesOf(v any) ([]byte, error) {
	text, ok := v.(string)
	if !ok || !bytesText.MatchString(text) {
		return nil, errors.New("expected bytes as a 0x string of whole bytes")
	}
	return hex.DecodeString(text[2:])
}

// addressOf reads an address in any case: viem sends lower case, ethers the
// checksum of EIP-55, others neither.
func addressOf(v any) (a Address, err error) {
	b, err := bytesOf(v)
	if err != nil || len(b) != len(a) {
		return a, errors.New("expected an address: 0x and 40 hex digits")
	}
	return Address(b), nil
}
