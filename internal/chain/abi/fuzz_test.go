package abi

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"latchkey/internal/policy/fact"
)

// encode writes a value as the formal part of the specification says: the part
// for the head and the part for the tail. It is the other direction of the
// decoder and knows nothing of it. It is false for a value that policies cannot
// read, which has lost its bytes.
func encode(t *typ, v fact.Value) (head, tail []byte, ok bool) {
	switch t.kind {
	case kindArray:
		types := slices.Repeat([]*typ{t.element}, len(v.List))
		body, ok := encodeAll(types, v.List)
		if t.length == dynamicLength {
			body = append(number(len(v.List)), body...)
		}
		return place(t, body), body, ok
	case kindTuple:
		body, ok := encodeAll(t.fields, v.List)
		return place(t, body), body, ok
	}
	if v.Kind == fact.Unreadable {
		return nil, nil, false
	}
	switch t.kind {
	case kindBytes, kindString:
		b := []byte(v.Text)
		if t.kind == kindBytes {
			b = unhex(v.Text)
		}
		body := append(number(len(b)), b...)
		for len(body)%32 > 0 {
			body = append(body, 0)
		}
		return nil, body, true
	case kindBool:
		return number(map[bool]int{true: 1}[v.Bool]), nil, true
	case kindAddress:
		return append(make([]byte, 12), unhex(v.Text)...), nil, true
	case kindFixedBytes:
		b := unhex(v.Text)
		return append(b, make([]byte, 32-len(b))...), nil, true
	default:
		n := v.Number.Magnitude.Clone()
		if v.Number.Negative {
			n.Neg(n)
		}
		w := n.Bytes32()
		return w[:], nil, true
	}
}

// place is the head of a static type: the body itself.
func place(t *typ, body []byte) []byte {
	if t.dynamic {
		return nil
	}
	return body
}

func encodeAll(types []*typ, values []fact.Value) ([]byte, bool) {
	var heads, tails []byte
	size := 0
	for _, t := range types {
		size += t.head
	}
	for i, t := range types {
		head, tail, ok := encode(t, values[i])
		if !ok {
			return nil, false
		}
		if t.dynamic {
			head = number(size + len(tails))
			tails = append(tails, tail...)
		}
		heads = append(heads, head...)
	}
	return append(heads, tails...), true
}

func number(n int) []byte {
	b, _ := hex.DecodeString(fmt.Sprintf("%064x", n))
	return b
}

func unhex(text string) []byte {
	b, _ := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	return b
}

// again writes a call anew.
func (i *Interface) again(c *Call) ([]byte, bool) {
	f := i.functions[[4]byte(unhex(c.Selector))]
	values := make([]fact.Value, len(c.Args))
	for i, a := range c.Args {
		values[i] = a.Value
	}
	body, ok := encodeAll(f.inputs, values)
	return append(unhex(c.Selector), body...), ok
}

// TestRoundTrip decodes random values of random types.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []string
		for i := range rapid.IntRange(0, 4).Draw(t, "inputs") {
			all = append(all, drawParameter(t, i, 2))
		}
		i, err := Parse(fmt.Sprintf(`[{"type":"function","name":"f","inputs":[%s]}]`, strings.Join(all, ",")))
		if err != nil {
			t.Fatal(err)
		}
		for selector, f := range i.functions {
			call := &Call{Selector: hex.EncodeToString(selector[:])}
			for k, in := range f.inputs {
				call.Args = append(call.Args, fact.Entry{Name: f.names[k], Value: drawValue(t, in)})
			}
			data, ok := i.again(call)
			if !ok {
				t.Fatal("the value cannot be written")
			}
			got, ok := i.Call(data)
			if !ok {
				t.Fatalf("%s: %x does not match", f.signature, data)
			}
			if again, ok := i.again(got); !ok || !bytes.Equal(again, data) {
				t.Fatalf("%s: %x is written again as %x", f.signature, data, again)
			}
			for k, a := range got.Args {
				if want := call.Args[k]; fmt.Sprint(a) != fmt.Sprint(want) {
					t.Fatalf("%s is %v, want %v", a.Name, a, want)
				}
			}
		}
	})
}

func drawParameter(t *rapid.T, i, depth int) string {
	kinds := []string{"address", "bool", "uint256", "uint8", "int128", "int16", "bytes1", "bytes32", "bytes", "string", "function"}
	if depth > 0 {
		kinds = append(kinds, "tuple", "tuple")
	}
	kind := rapid.SampledFrom(kinds).Draw(t, "kind")
	parts := ""
	if kind == "tuple" {
		var all []string
		for k := range rapid.IntRange(1, 3).Draw(t, "components") {
			all = append(all, drawParameter(t, k, depth-1))
		}
		parts = `,"components":[` + strings.Join(all, ",") + `]`
	}
	dims := rapid.SampledFrom([]string{"", "", "", "[]", "[2]", "[][2]", "[2][]", "[][]"}).Draw(t, "dimensions")
	return fmt.Sprintf(`{"name":"a%s","type":"%s%s"%s}`, strconv.Itoa(i), kind, dims, parts)
}

func drawValue(t *rapid.T, k *typ) fact.Value {
	draw := func(n int) []byte { return rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "bytes") }
	switch k.kind {
	case kindArray:
		n := k.length
		if n == dynamicLength {
			n = rapid.IntRange(0, 3).Draw(t, "length")
		}
		list := fact.Value{Kind: fact.List, List: []fact.Value{}}
		for range n {
			list.List = append(list.List, drawValue(t, k.element))
		}
		return list
	case kindTuple:
		list := fact.Value{Kind: fact.List}
		for _, f := range k.fields {
			list.List = append(list.List, drawValue(t, f))
		}
		return list
	case kindBool:
		return fact.Value{Kind: fact.Bool, Bool: rapid.Bool().Draw(t, "bool")}
	case kindAddress:
		return fact.Bytes(draw(20))
	case kindFixedBytes:
		return fact.Bytes(draw(k.size))
	case kindBytes:
		return fact.Bytes(draw(rapid.IntRange(0, 70).Draw(t, "length")))
	case kindString:
		return fact.String(rapid.String().Draw(t, "string"))
	case kindInt:
		return fact.Signed(fact.Int(int64(rapid.Int16().Draw(t, "int"))))
	default:
		var n fact.Number
		n.Magnitude.SetBytes(draw(k.size / 8))
		return fact.Unsigned(n)
	}
}

const weth = `[{"constant":false,"inputs":[{"name":"dst","type":"address"},{"name":"wad","type":"uint256"}],"name":"transfer","outputs":[{"name":"","type":"bool"}],"payable":false,"stateMutability":"nonpayable","type":"function"},{"payable":true,"stateMutability":"payable","type":"fallback"},{"anonymous":false,"inputs":[{"indexed":true,"name":"src","type":"address"}],"name":"Deposit","type":"event"}]`

const zoo = `[{"type":"function","name":"f","inputs":[{"name":"a","type":"uint256[][2]"},{"name":"b","type":"tuple[]","components":[{"name":"x","type":"bytes"},{"name":"y","type":"int64"}]},{"name":"","type":"string[2]"},{"name":"c","type":"bytes4"},{"name":"d","type":"function"},{"name":"e","type":"ufixed"}]},{"type":"function","name":"g","inputs":[{"name":"","type":"int256"}]}]`

// FuzzParse: never a panic; a refusal names what is wrong; whatever is accepted
// has functions whose selector is that of their signature.
func FuzzParse(f *testing.F) {
	for _, text := range []string{weth, zoo, "[]", "{}", "", `[{"type":"function","name":"f","inputs":[{"type":"bool"}]}]`, `[{"name":"f","inputs":[{"name":"","type":"tuple[3][]","components":[{"name":"","type":"uint"}]}]}]`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		i, err := Parse(text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "provided ABI is invalid: ") || len(err.Error()) > 1000 {
				t.Errorf("%q", err)
			}
			return
		}
		for selector, fn := range i.functions {
			if fn.selector() != selector || len(fn.names) != len(fn.inputs) || !strings.HasPrefix(fn.signature, fn.name+"(") {
				t.Errorf("%s has the selector %x", fn.signature, selector)
			}
		}
	})
}

// FuzzCall: never a panic; a call that matches is written again as the same
// bytes, so that there is one encoding of it and nothing is left out.
func FuzzCall(f *testing.F) {
	for _, data := range []string{
		"a9059cbb0000000000000000000000000000000000000000000000000000000000000001" + "0000000000000000000000000000000000000000000000000000000000000002",
		"a9059cbb", "",
	} {
		f.Add(weth, unhex(data))
	}
	i, err := Parse(zoo)
	if err != nil {
		f.Fatal(err)
	}
	for selector := range i.functions {
		f.Add(zoo, selector[:])
		f.Add(zoo, append(selector[:], number(255)...))
	}
	list := func(all ...fact.Value) fact.Value { return fact.Value{Kind: fact.List, List: all} }
	one := fact.Unsigned(fact.Uint(1))
	for selector, fn := range i.functions {
		if fn.name != "f" {
			continue
		}
		fn.inputs[5].kind = kindUint // so that it can be written
		data, ok := i.again(&Call{Selector: hex.EncodeToString(selector[:]), Args: fact.Map{
			{Value: list(list(one), list())},
			{Value: list(list(fact.Bytes([]byte{1}), one))},
			{Value: list(fact.String("a"), fact.String(""))},
			{Value: fact.Bytes(make([]byte, 4))},
			{Value: fact.Bytes(make([]byte, 24))},
			{Value: one},
		}})
		if !ok {
			f.Fatal("the seed cannot be written")
		}
		f.Add(zoo, data)
	}
	f.Fuzz(func(t *testing.T, text string, data []byte) {
		i, err := Parse(text)
		if err != nil {
			return
		}
		call, ok := i.Call(data)
		if !ok {
			return
		}
		if again, ok := i.again(call); ok && !bytes.Equal(again, data) {
			t.Errorf("%x is written again as %x", data, again)
		}
	})
}
