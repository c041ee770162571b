package schema

import (
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/fault"
)

// DecodeEcho is [Schema.Decode], and returns what was understood, for a reply
// that repeats it: written as [Encode] does, and with the omitzero members that
// were given with their zero value, which Encode leaves out. null is absence,
// here too. There is an echo only if there are no problems.
func (s *Schema) DecodeEcho(raw []byte, dst any) (jsontext.Value, []fault.Field) {
	zeros, problems := s.decode(raw, dst)
	if len(problems) > 0 {
		return nil, problems
	}
	var echo []byte
	var err error
	if zeros {
		echo, err = s.root.echo(nil, raw, reflect.ValueOf(dst).Elem())
	} else {
		echo, err = Encode(dst)
	}
	if err != nil {
		// Decode made the value of these bytes, so both are well.
		panic(fmt.Sprintf("schema: encoding a %v: %v", s.typ, err))
	}
	return echo, nil
}

// echo appends what Encode writes for v, and the members that raw has beside.
func (o *object) echo(b, raw []byte, v reflect.Value) ([]byte, error) {
	var given map[string]jsontext.Value
	if err := json.Unmarshal(raw, &given); err != nil {
		return nil, err
	}
	b = append(b, '{')
	first := true
	for i := range o.fields {
		f := &o.fields[i]
		sent := given[f.name]
		if sent.Kind() == 'n' {
			sent = nil
		}
		member := v.FieldByIndex(f.index)
		if f.omitzero && sent == nil && member.IsZero() {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(quote(b, f.name), ':')
		var err error
		if b, err = f.node.echo(b, sent, member); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func (n *node) echo(b, sent []byte, v reflect.Value) ([]byte, error) {
	switch {
	case sent == nil:
	case n.kind == kindObject:
		if n.pointer {
			v = v.Elem()
		}
		return n.obj.echo(b, sent, v)
	case n.kind == kindArray && n.elem.kind == kindObject:
		return n.echoElements(b, sent, v)
	}
	encoded, err := Encode(v.Interface())
	return append(b, encoded...), err
}

func (n *node) echoElements(b, sent []byte, v reflect.Value) ([]byte, error) {
	var elements []jsontext.Value
	if err := json.Unmarshal(sent, &elements); err != nil {
		return nil, err
	}
	b = append(b, '[')
	for i, element := range elements {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = n.elem.echo(b, element, v.Index(i)); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}
