package idl

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mr-tron/base58"
	"pgregory.net/rapid"

	"latchkey/internal/policy/fact"
)

// encode writes a value as Borsh. It is the other direction of the decoder and
// knows nothing of it. It is false for values that have lost their bytes: those
// that policies cannot read, and an absent option, which could be one in
// another.
func encode(t *typ, v fact.Value) ([]byte, bool) {
	if v.Kind == fact.Unreadable {
		return nil, false
	}
	switch t.kind {
	case kindBool:
		return []byte{map[bool]byte{true: 1}[v.Bool]}, true
	case kindUnsigned, kindSigned:
		n := v.Number.Magnitude.Clone()
		if v.Number.Negative {
			n.Neg(n)
		}
		w := n.Bytes32()
		slices.Reverse(w[:])
		return w[:t.size], true
	case kindString:
		return append(length(len(v.Text)), v.Text...), true
	case kindBytes:
		b, err := hex.DecodeString(v.Text)
		return append(length(len(b)), b...), err == nil
	case kindPublicKey:
		b, err := base58.Decode(v.Text)
		return b, err == nil
	case kindOption:
		if v.Kind == fact.Null {
			return []byte{0}, !t.element.optional()
		}
		b, ok := encode(t.element, v)
		return append([]byte{1}, b...), ok
	case kindVec, kindArray:
		var b []byte
		if t.kind == kindVec {
			b = length(len(v.List))
		}
		for _, e := range v.List {
			one, ok := encode(t.element, e)
			if !ok {
				return nil, false
			}
			b = append(b, one...)
		}
		return b, true
	default:
		return t.defined.encode(v)
	}
}

func (t *typ) optional() bool {
	switch t.kind {
	case kindOption:
		return true
	case kindDefined:
		return t.defined.kind == kindAlias && t.defined.alias.optional()
	}
	return false
}

func (d *definition) encode(v fact.Value) ([]byte, bool) {
	switch d.kind {
	case kindAlias:
		return encode(d.alias, v)
	case kindStruct:
		return d.members.encode(v)
	}
	for i, chosen := range d.variants {
		switch {
		case v.Kind == fact.Text && v.Text == chosen.name:
			return []byte{byte(i)}, true
		case v.Kind == fact.Struct && v.Fields[0].Name == chosen.name:
			b, ok := chosen.members.encode(v.Fields[0].Value)
			return append([]byte{byte(i)}, b...), ok
		}
	}
	return nil, false
}

func (m members) encode(v fact.Value) (b []byte, ok bool) {
	for i, t := range m.types {
		var member fact.Value
		if v.Kind == fact.Struct {
			member = v.Fields[i].Value
		} else {
			member = v.List[i]
		}
		one, ok := encode(t, member)
		if !ok {
			return nil, false
		}
		b = append(b, one...)
	}
	return b, true
}

func length(n int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(n)) }

const zoo = `{"instructions":[
	{"name":"doIt","accounts":[{"name":"a","isMut":true,"isSigner":false}],"args":[{"name":"x","type":{"defined":"S"}},{"name":"y","type":{"vec":{"option":"i128"}}},{"name":"z","type":{"array":["u8",2]}}]},
	{"name":"g","discriminator":[7],"accounts":[],"args":[{"name":"e","type":{"defined":{"name":"E"}}},{"name":"k","type":"pubkey"},{"name":"s","type":"string"},{"name":"b","type":"bytes"},{"name":"t","type":"bool"}]},
	{"name":"h","discriminator":[8],"accounts":[],"args":[{"name":"f","type":"f64"},{"name":"o","type":{"option":{"option":"u8"}}}]}
],"types":[
	{"name":"S","type":{"kind":"struct","fields":[{"name":"p","type":"i16"},{"name":"q","type":{"defined":"T"}}]}},
	{"name":"T","type":{"kind":"struct","fields":["u64",{"defined":"A"}]}},
	{"name":"A","type":{"kind":"alias","value":{"vec":{"defined":"U"}}}},
	{"name":"U","type":{"kind":"struct"}},
	{"name":"E","type":{"kind":"enum","variants":[{"name":"One"},{"name":"Two","fields":["u8"]},{"name":"Three","fields":[{"name":"r","type":"u256"}]}]}}
]}`

// again writes the data of an instruction anew.
func again(in *instruction, parsed *fact.ParsedInstruction) ([]byte, bool) {
	args, ok := in.args.encode(fact.Value{Kind: fact.Struct, Fields: parsed.Args})
	return append(slices.Clone(in.discriminator), args...), ok
}

// TestRoundTrip decodes random values of the zoo.
func TestRoundTrip(t *testing.T) {
	i, err := Parse(zoo)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		in := &i.instructions[rapid.IntRange(0, 1).Draw(t, "instruction")]
		want := &fact.ParsedInstruction{}
		for k, arg := range in.args.types {
			want.Args = append(want.Args, fact.Entry{Name: in.args.names[k], Value: drawValue(t, arg)})
		}
		data, ok := again(in, want)
		if !ok {
			t.Fatal("the value cannot be written")
		}
		got, ok := i.Instruction(data, []string{"A"})
		if !ok || got.Name != in.name {
			t.Fatalf("%x does not match", data)
		}
		if fmt.Sprint(got.Args) != fmt.Sprint(want.Args) {
			t.Fatalf("%v, want %v", got.Args, want.Args)
		}
		if _, ok := i.Instruction(append(data, 0), []string{"A"}); ok {
			t.Fatal("a trailing byte matches")
		}
		if _, ok := i.Instruction(data[:len(data)-1], []string{"A"}); ok {
			t.Fatal("a missing byte matches")
		}
	})
}

func drawValue(t *rapid.T, k *typ) fact.Value {
	draw := func(n int) []byte { return rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "bytes") }
	list := func(n int) fact.Value {
		v := fact.Value{Kind: fact.List, List: []fact.Value{}}
		for range n {
			v.List = append(v.List, drawValue(t, k.element))
		}
		return v
	}
	switch k.kind {
	case kindBool:
		return fact.Value{Kind: fact.Bool, Bool: rapid.Bool().Draw(t, "bool")}
	case kindUnsigned:
		var n fact.Number
		n.Magnitude.SetBytes(draw(k.size))
		return fact.Unsigned(n)
	case kindSigned:
		return fact.Signed(fact.Int(int64(rapid.Int16().Draw(t, "int"))))
	case kindString:
		return fact.String(rapid.String().Draw(t, "string"))
	case kindBytes:
		return fact.Value{Kind: fact.Text, Fold: true, Text: hex.EncodeToString(draw(rapid.IntRange(0, 5).Draw(t, "length")))}
	case kindPublicKey:
		return fact.String(base58.Encode(draw(32)))
	case kindOption:
		if rapid.Bool().Draw(t, "absent") {
			return fact.Value{Kind: fact.Null}
		}
		return drawValue(t, k.element)
	case kindVec:
		return list(rapid.IntRange(0, 3).Draw(t, "length"))
	case kindArray:
		return list(k.length)
	default:
		return drawDefined(t, k.defined)
	}
}

func drawDefined(t *rapid.T, d *definition) fact.Value {
	switch d.kind {
	case kindAlias:
		return drawValue(t, d.alias)
	case kindStruct:
		return drawMembers(t, d.members)
	}
	chosen := rapid.SampledFrom(d.variants).Draw(t, "variant")
	if len(chosen.members.types) == 0 {
		return fact.String(chosen.name)
	}
	return fact.Value{Kind: fact.Struct, Fields: fact.Map{{Name: chosen.name, Value: drawMembers(t, chosen.members)}}}
}

func drawMembers(t *rapid.T, m members) fact.Value {
	v := fact.Value{Kind: fact.Struct, Fields: fact.Map{}}
	for i, k := range m.types {
		if len(m.names) == 0 {
			v.Kind = fact.List
			v.List = append(v.List, drawValue(t, k))
			continue
		}
		v.Fields = append(v.Fields, fact.Entry{Name: m.names[i], Value: drawValue(t, k)})
	}
	if v.Kind == fact.List {
		v.Fields = nil
	}
	return v
}

// FuzzParse: never a panic; a refusal names what is wrong; instructions of what
// is accepted are told apart by their discriminators.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		zoo, "{}", "", "[]", `{"instructions":[],"types":[]}`,
		`{"instructions":[],"types":[{"name":"X","type":{"kind":"alias","value":{"defined":"X"}}}]}`,
		`{"instructions":[{"name":"f","accounts":[{"name":"g","accounts":[{"name":"a"}]}],"args":[{"name":"a","type":{"hashMap":["u8","u8"]}}]}],"types":[]}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		i, err := Parse(text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "provided IDL is invalid: ") || len(err.Error()) > 1000 {
				t.Errorf("%q", err)
			}
			return
		}
		for k := range i.instructions {
			if i.find(i.instructions[k].discriminator) != &i.instructions[k] {
				t.Errorf("%q is taken for another instruction", i.instructions[k].name)
			}
		}
	})
}

// FuzzInstruction: never a panic; data that matches is written again as the same
// bytes, so that there is one encoding of it and nothing is left out.
func FuzzInstruction(f *testing.F) {
	i, err := Parse(zoo)
	if err != nil {
		f.Fatal(err)
	}
	sum := i.instructions[0].discriminator
	for _, data := range [][]byte{
		nil,
		{7},
		{8, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		{8, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 7},
		append(append([]byte{7, 1, 9}, make([]byte, 32)...), 1, 0, 0, 0, 'x', 2, 0, 0, 0, 1, 2, 1),
		append(append(slices.Clone(sum), 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 0, 1), make([]byte, 18)...),
	} {
		f.Add(data, 1)
	}
	f.Fuzz(func(t *testing.T, data []byte, accounts int) {
		parsed, ok := i.Instruction(data, make([]string, min(max(accounts, 0), 10)))
		if !ok {
			return
		}
		in := i.find(data)
		if len(parsed.NamedAccounts) != len(in.accounts) || parsed.Discriminator != hex.EncodeToString(in.discriminator) {
			t.Errorf("%+v", parsed)
		}
		if b, ok := again(in, parsed); ok && !bytes.Equal(b, data) {
			t.Errorf("%x is written again as %x", data, b)
		}
	})
}
