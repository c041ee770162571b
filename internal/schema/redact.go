package schema

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Redact returns a document of the schema with "" in place of every secret, and
// whether there was one. What the schema does not know is kept.
func (s *Schema) Redact(raw jsontext.Value) (redacted jsontext.Value, hid bool, err error) {
	if !s.root.secrets || len(raw) == 0 {
		return raw, false, nil
	}
	var out bytes.Buffer
	r := redaction{
		from: jsontext.NewDecoder(bytes.NewReader(raw)),
		to:   jsontext.NewEncoder(&out, jsontext.PreserveRawStrings(true)),
	}
	if err := r.object(s.root); err != nil {
		return nil, false, err
	}
	return bytes.TrimSpace(out.Bytes()), r.hid, nil
}

// redaction copies a document token by token, but for its secrets.
type redaction struct {
	from *jsontext.Decoder
	to   *jsontext.Encoder
	hid  bool
}

func (r *redaction) object(o *object) error {
	if err := r.token(); err != nil { // {
		return err
	}
	for r.from.PeekKind() != '}' {
		name, err := r.from.ReadToken()
		if err != nil {
			return err
		}
		i, known := o.byName[name.String()]
		if err := r.to.WriteToken(jsontext.String(name.String())); err != nil {
			return err
		}
		var n *node
		if known {
			n = o.fields[i].node
		}
		if err := r.value(n); err != nil {
			return err
		}
	}
	return r.token() // }
}

// value copies a value of which n is known, nil if nothing is.
func (r *redaction) value(n *node) error {
	kind := r.from.PeekKind()
	switch {
	case n == nil || !n.holdsSecret():
		return r.copy()
	case n.secret:
		value, err := r.from.ReadValue()
		if err != nil {
			return err
		}
		r.hid = r.hid || kind != '"' || len(value) > len(`""`)
		return r.to.WriteToken(jsontext.String(""))
	case n.kind == kindObject && kind == '{':
		return r.object(n.obj)
	case n.kind == kindArray && kind == '[':
		if err := r.token(); err != nil {
			return err
		}
		for r.from.PeekKind() != ']' {
			if err := r.value(n.elem); err != nil {
				return err
			}
		}
		return r.token()
	}
	return r.copy() // null
}

func (r *redaction) token() error {
	token, err := r.from.ReadToken()
	if err != nil {
		return err
	}
	return r.to.WriteToken(token)
}

func (r *redaction) copy() error {
	value, err := r.from.ReadValue()
	if err != nil {
		return err
	}
	return r.to.WriteValue(value)
}

// holdsSecret reports whether the value, or one inside it, is marked secret.
func (n *node) holdsSecret() bool {
	switch {
	case n.secret:
		return true
	case n.kind == kindArray:
		return n.elem.holdsSecret()
	case n.kind == kindObject:
		return n.obj.secrets
	}
	return false
}
