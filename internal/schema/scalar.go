package schema

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

func (st *state) str(n *node, v reflect.Value) error {
	if k := st.d.PeekKind(); k != '"' {
		return st.mismatch("a string", k)
	}
	quoted, err := st.d.ReadValue()
	if err != nil {
		return err
	}
	s, problem := n.checkString(unquote(quoted))
	if problem != "" {
		st.problem("%s", problem)
	}
	v.SetString(s)
	return nil
}

func (st *state) boolean(v reflect.Value) error {
	k := st.d.PeekKind()
	if k != 't' && k != 'f' {
		return st.mismatch("a boolean", k)
	}
	v.SetBool(k == 't')
	return st.token()
}

func (st *state) integer(n *node, v reflect.Value) error {
	if k := st.d.PeekKind(); k != '0' {
		return st.mismatch("an integer", k)
	}
	digits, err := st.d.ReadValue()
	if err != nil {
		return err
	}
	if bytes.ContainsAny(digits, ".eE") {
		st.problem("must be an integer, without fraction and exponent")
		return nil
	}
	i, err := strconv.ParseInt(string(digits), 10, 32)
	if err != nil {
		st.problem("must be between %d and %d", math.MinInt32, math.MaxInt32)
		return nil
	}
	switch {
	case n.hasMin && i < int64(n.min):
		st.problem("must be at least %d", n.min)
	case n.hasMax && i > int64(n.max):
		st.problem("must be at most %d", n.max)
	case n.oneof != nil && !slices.Contains(n.oneof, int(i)):
		st.problem("must be one of %s", intList(n.oneof))
	}
	v.SetInt(i)
	return nil
}

func (st *state) uint64(n *node, v reflect.Value) error {
	k := st.d.PeekKind()
	if k != '"' && k != '0' {
		return st.mismatch("a string of decimal digits", k)
	}
	value, err := st.d.ReadValue()
	if err != nil {
		return err
	}
	digits := string(value)
	if k == '"' {
		digits = unquote(value)
	}
	u, ok := parseUint64(digits)
	switch {
	case digits == "" && n.must():
		st.problem("must not be empty")
	case digits == "":
		st.problem("must not be empty: leave the field out or give a value")
	case !ok:
		st.problem("must be a string of decimal digits, a whole number below 2^64")
	case n.hasMin && uint64(u) < uint64(n.min):
		st.problem("must be at least %d", n.min)
	case n.hasMax && uint64(u) > uint64(n.max):
		st.problem("must be at most %d", n.max)
	}
	v.SetUint(uint64(u))
	return nil
}

// raw keeps the bytes of a value as they are, after checking their syntax.
func (st *state) raw(n *node, v reflect.Value) error {
	if k := st.d.PeekKind(); n.objectOnly && k != '{' {
		return st.mismatch("an object", k)
	}
	from := st.next(space + ":,")
	if err := st.skip(); err != nil {
		return err
	}
	v.SetBytes(bytes.Clone(st.input[from:st.d.InputOffset()]))
	return nil
}

// mismatch reports a value of the wrong kind and skips it. A kind that is
// invalid is broken JSON, on which skip ends the run.
func (st *state) mismatch(want string, got jsontext.Kind) error {
	if got != jsontext.KindInvalid {
		st.problem("must be %s, not %s", want, kindName(got))
	}
	return st.skip()
}

func kindName(k jsontext.Kind) string {
	switch k {
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	case '[':
		return "an array"
	default:
		return "an object"
	}
}

// unquote returns the text of a JSON string that the tokenizer has passed.
func unquote(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	b, _ := jsontext.AppendUnquote(nil, quoted)
	return string(b)
}

func intList(list []int) string {
	parts := make([]string, len(list))
	for i, n := range list {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, ", ")
}
