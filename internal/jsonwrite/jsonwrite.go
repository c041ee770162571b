// Package jsonwrite writes JSON as schema.Encode documents it, several times faster
// than the general encoder: for each Go type it decides once how values are written.
// A type with a feature that it does not know is left to that encoder.
//
// A [jsontext.Value] within must be valid: it was made by this program, or came
// through a decoder. It loses white space between tokens and nothing else.
package jsonwrite

import (
	"crypto/sha256"
	"encoding"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// options are those of the general encoder, whose text is the same.
var options = json.JoinOptions(json.Deterministic(true), jsontext.PreserveRawStrings(true))

// Marshal writes members in the order of the Go fields.
func Marshal(v any) ([]byte, error) { return MarshalAfter(0, v) }

// MarshalAfter is Marshal into the rest of a slice, of which the first bytes are left
// to the caller.
func MarshalAfter(room int, v any) (written []byte, err error) {
	err = write(plain, v, func(text []byte) {
		written = make([]byte, room+len(text))
		copy(written[room:], text)
	})
	return written, err
}

// CanonicalSum is the SHA-256 of the form of RFC 8785.
func CanonicalSum(v any) (sum [sha256.Size]byte, err error) {
	err = write(canonical, v, func(text []byte) { sum = sha256.Sum256(text) })
	return sum, err
}

// appender adds the text of a value.
type appender func(dst []byte, v reflect.Value) ([]byte, error)

// form is one way to write, and what is known of types for it.
type form struct {
	sorted bool
	types  sync.Map // of appender by reflect.Type
}

var plain, canonical = &form{}, &form{sorted: true}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxKept bounds the buffers that are used again.
const maxKept = 64 << 10

// write hands the text of a value to use, which must not keep it.
func write(f *form, v any, use func(text []byte)) error {
	if v == nil {
		use([]byte("null"))
		return nil
	}
	buffer := buffers.Get().(*[]byte)
	text, err := f.of(reflect.TypeOf(v))((*buffer)[:0], reflect.ValueOf(v))
	if err != nil {
		return err
	}
	use(text)
	if cap(text) <= maxKept {
		*buffer = text
		buffers.Put(buffer)
	}
	return nil
}

// of is how values of a type are written.
func (f *form) of(t reflect.Type) appender {
	if known, ok := f.types.Load(t); ok {
		return known.(appender)
	}
	// A type may hold itself: while it is looked at, what it holds is a promise.
	compiled := sync.OnceValue(func() appender { return f.compile(t) })
	f.types.Store(t, appender(func(dst []byte, v reflect.Value) ([]byte, error) { return compiled()(dst, v) }))
	f.types.Store(t, compiled())
	return compiled()
}

var (
	rawType   = reflect.TypeFor[jsontext.Value]()
	timeType  = reflect.TypeFor[time.Time]()
	ownWriter = []reflect.Type{
		reflect.TypeFor[json.MarshalerTo](), reflect.TypeFor[json.Marshaler](),
		reflect.TypeFor[encoding.TextAppender](), reflect.TypeFor[encoding.TextMarshaler](),
	}
)

func (f *form) compile(t reflect.Type) appender {
	switch {
	case t == rawType:
		return f.raw
	case t == timeType:
		return f.time
	case writesItself(t):
		return f.general
	}
	switch t.Kind() {
	case reflect.String:
		return func(dst []byte, v reflect.Value) ([]byte, error) { return jsontext.AppendQuote(dst, v.String()) }
	case reflect.Bool:
		return func(dst []byte, v reflect.Value) ([]byte, error) { return strconv.AppendBool(dst, v.Bool()), nil }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return f.integer
	case reflect.Pointer:
		return f.pointer(f.of(t.Elem()))
	case reflect.Interface:
		return func(dst []byte, v reflect.Value) ([]byte, error) {
			if v.IsNil() {
				return append(dst, "null"...), nil
			}
			return f.of(v.Elem().Type())(dst, v.Elem())
		}
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 {
			return f.slice(f.of(t.Elem()))
		}
	case reflect.Map:
		if t.Key().Kind() == reflect.String && !writesItself(t.Key()) && !f.sorted {
			return f.members(f.of(t.Elem()))
		}
	case reflect.Struct:
		if fields, ok := f.fields(t); ok {
			return object(fields)
		}
	}
	return f.general
}

// writesItself reports whether the general encoder would call a method.
func writesItself(t reflect.Type) bool {
	return slices.ContainsFunc(ownWriter, func(i reflect.Type) bool {
		return t.Implements(i) || t.Kind() != reflect.Interface && reflect.PointerTo(t).Implements(i)
	})
}

// general leaves the value to the general encoder.
func (f *form) general(dst []byte, v reflect.Value) ([]byte, error) {
	text, err := json.Marshal(v.Interface(), options)
	if err == nil && f.sorted {
		err = (*jsontext.Value)(&text).Canonicalize()
	}
	return append(dst, text...), err
}

func (f *form) raw(dst []byte, v reflect.Value) ([]byte, error) {
	text := v.Bytes()
	switch {
	case len(text) == 0:
		return append(dst, "null"...), nil
	case f.sorted && isCanonical(text), !f.sorted && !hasSpace(text):
		return append(dst, text...), nil
	}
	return f.general(dst, v)
}

// hasSpace reports whether the text may have white space between tokens.
func hasSpace(text []byte) bool {
	return slices.ContainsFunc(text, func(c byte) bool { return c <= ' ' })
}

// maxExact bounds the integers that RFC 8785 writes as such: its numbers are
// floating-point.
const maxExact = 1 << 53

func (f *form) integer(dst []byte, v reflect.Value) ([]byte, error) {
	n := v.Int()
	if f.sorted && (n > maxExact || n < -maxExact) {
		return f.general(dst, v)
	}
	return strconv.AppendInt(dst, n, 10), nil
}

// timeOf does not allocate if the value is within something that a pointer leads to.
func timeOf(v reflect.Value) time.Time {
	if v.CanAddr() {
		return *v.Addr().Interface().(*time.Time)
	}
	return v.Interface().(time.Time)
}

func (f *form) time(dst []byte, v reflect.Value) ([]byte, error) {
	t := timeOf(v)
	const day = 24 * 60 * 60
	if _, offset := t.Zone(); t.Year() < 0 || t.Year() > 9999 || offset <= -day || offset >= day {
		return f.general(dst, v) // which refuses them
	}
	return append(t.AppendFormat(append(dst, '"'), time.RFC3339Nano), '"'), nil
}

func (f *form) pointer(element appender) appender {
	return func(dst []byte, v reflect.Value) ([]byte, error) {
		if v.IsNil() {
			return append(dst, "null"...), nil
		}
		return element(dst, v.Elem())
	}
}

func (f *form) slice(element appender) appender {
	return func(dst []byte, v reflect.Value) (_ []byte, err error) {
		dst = append(dst, '[')
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = element(dst, v.Index(i)); err != nil {
				return nil, err
			}
		}
		return append(dst, ']'), nil
	}
}

func (f *form) members(element appender) appender {
	return func(dst []byte, v reflect.Value) (_ []byte, err error) {
		values := make(map[string]reflect.Value, v.Len())
		for i := v.MapRange(); i.Next(); {
			values[i.Key().String()] = i.Value()
		}
		dst = append(dst, '{')
		for i, name := range slices.Sorted(maps.Keys(values)) {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = jsontext.AppendQuote(dst, name); err != nil {
				return nil, err
			}
			if dst, err = element(append(dst, ':'), values[name]); err != nil {
				return nil, err
			}
		}
		return append(dst, '}'), nil
	}
}
