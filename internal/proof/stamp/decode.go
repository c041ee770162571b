package stamp

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// The errors of this file are read by the client: they are its own words about
// the stamp, and never those of a library.

// quote repeats a little of what was sent.
func quote(text string) string {
	const most = 40
	if len(text) > most {
		return fmt.Sprintf("%.40q...", text)
	}
	return fmt.Sprintf("%q", text)
}

// fromBase64 decodes base64url. Padding is tolerated; the standard alphabet,
// line ends and unused bits that are set are not, so that one value has one
// text.
func fromBase64(text string) ([]byte, error) {
	bare := strings.TrimRight(text, "=")
	if len(text)-len(bare) > 2 {
		return nil, errors.New("it is not base64url: more than two characters of padding")
	}
	for i := range len(bare) {
		switch c := bare[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		case c == '+', c == '/':
			return nil, fmt.Errorf("it is standard base64 (%q at position %d): use base64url, which has - and _ instead of + and /", c, i)
		default:
			return nil, fmt.Errorf("it is not base64url: character %q at position %d", c, i)
		}
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(bare)
	if err != nil {
		return nil, errors.New("it is not base64url: its last character is wrong, or some are missing")
	}
	return raw, nil
}

func toBase64(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

var decoders = sync.Pool{New: func() any { return new(jsontext.Decoder) }}

// members reads a JSON object's named members, all of which must be there and
// strings, in the order of the names. Repeated names are refused. Other members are
// refused too, unless open, which skips them.
func members(text []byte, open bool, names ...string) ([]string, error) {
	dec := decoders.Get().(*jsontext.Decoder)
	defer decoders.Put(dec)
	dec.Reset(bytes.NewBuffer(text))
	if kind := dec.PeekKind(); kind != jsontext.KindBeginObject && kind != jsontext.KindInvalid {
		return nil, fmt.Errorf("it is not a JSON object with the members %s", strings.Join(names, ", "))
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, syntax(err)
	}
	values, found := make([]string, len(names)), 0
	for dec.PeekKind() != jsontext.KindEndObject {
		name, err := dec.ReadValue()
		if err != nil {
			return nil, syntax(err)
		}
		at := slices.IndexFunc(names, func(wanted string) bool { return is(name, wanted) })
		switch {
		case at < 0 && !open:
			return nil, fmt.Errorf("member %s is not known: send exactly %s", quote(unquote(name)), strings.Join(names, ", "))
		case at < 0:
			err = dec.SkipValue()
		default:
			var token jsontext.Token
			if token, err = dec.ReadToken(); err == nil {
				if token.Kind() != jsontext.KindString {
					return nil, fmt.Errorf("member %s must be a string", names[at])
				}
				values[at] = token.String()
				found |= 1 << at
			}
		}
		if err != nil {
			return nil, syntax(err)
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, syntax(err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the JSON object")
	}
	for i, name := range names {
		if found&(1<<i) == 0 {
			return nil, fmt.Errorf("member %s is missing", name)
		}
	}
	return values, nil
}

// is reports whether a JSON string that was read is a text.
func is(quoted jsontext.Value, text string) bool {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1:len(quoted)-1]) == text
	}
	return unquote(quoted) == text
}

func unquote(quoted jsontext.Value) string {
	text, _ := jsontext.AppendUnquote(nil, quoted) // it was read, so it is well
	return string(text)
}

func syntax(err error) error {
	var at *jsontext.SyntacticError
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &at):
		return fmt.Errorf("member %s is repeated", quote(at.JSONPointer.LastToken()))
	case errors.As(err, &at):
		return fmt.Errorf("it is not valid JSON (at byte %d)", at.ByteOffset)
	}
	return errors.New("it is not valid JSON: it ends early")
}
