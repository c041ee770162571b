package jsonwrite

import (
	"reflect"
	"slices"
	"strings"
)

// field is a member of an object.
type field struct {
	name     string
	quoted   string // with the colon
	index    int
	omitZero bool
	append   appender
}

// fields are the members of a struct; ok is false if one of them has a feature that
// is left to the general encoder.
func (f *form) fields(t reflect.Type) (all []field, ok bool) {
	for i := range t.NumField() {
		declared := t.Field(i)
		tag, tagged := declared.Tag.Lookup("json")
		if tag == "-" || !tagged && !declared.IsExported() && !declared.Anonymous {
			continue
		}
		name, rest, _ := strings.Cut(tag, ",")
		known := rest == "" || rest == "omitzero" && !saysZero(declared.Type)
		if declared.Anonymous || !declared.IsExported() || !known || !plainName(name) {
			return nil, false
		}
		if name == "" {
			name = declared.Name
		}
		if slices.ContainsFunc(all, func(other field) bool { return other.name == name }) {
			return nil, false
		}
		all = append(all, field{name, `"` + name + `":`, i, rest == "omitzero", f.of(declared.Type)})
	}
	if f.sorted {
		slices.SortFunc(all, func(a, b field) int { return strings.Compare(a.name, b.name) })
	}
	return all, true
}

// plainName reports whether a name is written as it is, and sorted by its bytes.
func plainName(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`'"\`, r) })
}

// saysZero reports whether values tell themselves whether they are zero. Of those
// only a time is known here.
func saysZero(t reflect.Type) bool {
	if t == timeType {
		return false
	}
	_, value := t.MethodByName("IsZero")
	_, pointer := reflect.PointerTo(t).MethodByName("IsZero")
	return value || pointer
}

func isZero(v reflect.Value) bool {
	if v.Type() == timeType {
		return timeOf(v).IsZero()
	}
	return v.IsZero()
}

func object(fields []field) appender {
	return func(dst []byte, v reflect.Value) (_ []byte, err error) {
		dst = append(dst, '{')
		first := true
		for i := range fields {
			f := &fields[i]
			value := v.Field(f.index)
			if f.omitZero && isZero(value) {
				continue
			}
			if !first {
				dst = append(dst, ',')
			}
			first = false
			if dst, err = f.append(append(dst, f.quoted...), value); err != nil {
				return nil, err
			}
		}
		return append(dst, '}'), nil
	}
}
