package eth

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	// A name cannot hold what delimits names in the encoding of a type, or two
	// types could have one encoding. Colon, dot and hyphen are in use
	// ("HyperliquidTransaction:UsdSend").
	nameText  = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$:.-]{0,99}$`)
	arrayText = regexp.MustCompile(`^(.*)\[([1-9][0-9]{0,5})?\]$`)
	intText   = regexp.MustCompile(`^(u?)int([1-9][0-9]{0,2})$`)
	fixedText = regexp.MustCompile(`^bytes([1-9][0-9]?)$`)
)

// array splits the last dimension off a type: base and length, which is -1 for
// a dynamic array.
func array(kind string) (base string, length int, ok bool) {
	m := arrayText.FindStringSubmatch(kind)
	if m == nil {
		return "", 0, false
	}
	if m[2] == "" {
		return m[1], -1, true
	}
	length, err := strconv.Atoi(m[2])
	return m[1], length, err == nil
}

// integer reads the width of intN and uintN.
func integer(kind string) (bits int, signed, ok bool) {
	m := intText.FindStringSubmatch(kind)
	if m == nil {
		return 0, false, false
	}
	bits, err := strconv.Atoi(m[2])
	return bits, m[1] == "", err == nil && bits%8 == 0 && bits <= 256
}

// fixed reads the length of bytesN.
func fixed(kind string) (length int, ok bool) {
	m := fixedText.FindStringSubmatch(kind)
	if m == nil {
		return 0, false
	}
	length, err := strconv.Atoi(m[1])
	return length, err == nil && length <= 32
}

// atomic is whether EIP-712 defines the type by itself.
func atomic(kind string) bool {
	switch kind {
	case "bool", "address", "string", "bytes":
		return true
	}
	_, _, isInt := integer(kind)
	_, isFixed := fixed(kind)
	return isInt || isFixed
}

// reserved is whether the name looks like an atomic type, defined or not.
func reserved(name string) bool {
	return atomic(name) || name == "int" || name == "uint" || intText.MatchString(name) || fixedText.MatchString(name)
}

// check makes sure that every type is well-formed and leads only to types that
// are there.
func (s *typeSet) check() error {
	for name, fields := range s.structs {
		if !nameText.MatchString(name) || reserved(name) {
			return fmt.Errorf("types.%s: this cannot be the name of a type", quote(name))
		}
		seen := map[string]bool{}
		for _, f := range fields {
			if !nameText.MatchString(f.name) || seen[f.name] {
				return fmt.Errorf("types.%s: the field name %s is not valid or is used twice", quote(name), quote(f.name))
			}
			seen[f.name] = true
			if err := s.checkKind(f.kind); err != nil {
				return fmt.Errorf("types.%s.%s: %w", quote(name), quote(f.name), err)
			}
		}
	}
	return nil
}

func (s *typeSet) checkKind(kind string) error {
	dimensions := 0
	base, _, isArray := array(kind)
	for ; isArray; base, _, isArray = array(kind) {
		kind = base
		if dimensions++; dimensions > maxDepth {
			return errors.New("the type has too many dimensions")
		}
	}
	_, isStruct := s.structs[kind]
	switch {
	case kind == "int", kind == "uint":
		return fmt.Errorf("clients disagree on the hash of %s; write %s256", kind, kind)
	case atomic(kind), isStruct:
		return nil
	}
	return fmt.Errorf("unknown type %s", quote(kind))
}

// typeHash is the hash of encodeType (EIP-712).
func (s *typeSet) typeHash(name string) [32]byte {
	if h, ok := s.hashes[name]; ok {
		return h
	}
	seen := map[string]bool{name: true}
	for queue := []string{name}; len(queue) > 0; queue = queue[1:] {
		for _, f := range s.structs[queue[0]] {
			base, _, _ := strings.Cut(f.kind, "[")
			if _, isStruct := s.structs[base]; isStruct && !seen[base] {
				seen[base] = true
				queue = append(queue, base)
			}
		}
	}
	delete(seen, name)
	others := make([]string, 0, len(seen))
	for other := range seen {
		others = append(others, other)
	}
	slices.Sort(others)
	var text strings.Builder
	for _, one := range append([]string{name}, others...) {
		text.WriteString(one + "(")
		for i, f := range s.structs[one] {
			if i > 0 {
				text.WriteByte(',')
			}
			text.WriteString(f.kind + " " + f.name)
		}
		text.WriteByte(')')
	}
	h := keccak([]byte(text.String()))
	s.hashes[name] = h
	return h
}
