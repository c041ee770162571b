// Package derivation reads derivation paths, the text that says which key of a
// wallet's tree an account has.
//
// The grammar is that of BIP-32 in one spelling only:
//
//	path  = "m" *10( "/" index [ "'" ] )
//	index = 0 to 2147483647 in decimal, without leading zeros
//
// Other spellings that some libraries take (M, h for the apostrophe, no m at
// all, 007) are refused with a message that shows the right one, so that one
// path has exactly one text and two accounts cannot differ in spelling alone.
//
// Invariant: what [Parse] accepts, [Path.String] writes back byte for byte.
package derivation

import (
	"fmt"
	"strconv"
	"strings"

	"latchkey/internal/keys/curve"
)

const (
	// Hardened is the bit that BIP-32 sets in the index of a hardened child.
	Hardened uint32 = 1 << 31
	// MaxDepth is the greatest number of parts.
	MaxDepth = 10
)

// The longest index and its apostrophe, ten times, each with its slash.
const maxText = 1 + MaxDepth*len("/2147483647'")

// Path is a derivation path: the index of each part, from the root down, with
// the bit [Hardened] where it is. An empty Path is the root.
type Path []uint32

// Parse reads a path. Its error is for the user who wrote the path.
func Parse(text string) (Path, error) {
	if len(text) > maxText {
		return nil, invalid("%d characters are too many: a path has at most %d parts of at most 10 digits", len(text), MaxDepth)
	}
	root, rest, more := strings.Cut(text, "/")
	if root != "m" {
		return nil, notRoot(text, root)
	}
	if !more {
		return Path{}, nil
	}
	parts := strings.Split(rest, "/")
	if len(parts) > MaxDepth {
		return nil, invalid("it has %d parts, and at most %d are allowed", len(parts), MaxDepth)
	}
	p := make(Path, len(parts))
	for i, part := range parts {
		index, err := parsePart(part)
		if err != nil {
			return nil, invalid("part %d %w", i+1, err)
		}
		p[i] = index
	}
	return p, nil
}

func notRoot(text, root string) error {
	switch {
	case text == "":
		return invalid("it is empty: write m for the root, or a path such as m/44'/60'/0'/0/0")
	case root == "M":
		return invalid("it begins with M: write a small m")
	case strings.TrimSpace(text) != text:
		return invalid("it has white space around it: begin with m and end with the last part")
	}
	return invalid("it begins with %q: begin with m, as in m/44'/60'/0'/0/0", root)
}

// parsePart reads one part. Its error goes on after "part 3 ".
func parsePart(part string) (uint32, error) {
	digits, hardened := strings.CutSuffix(part, "'")
	switch {
	case part == "":
		return 0, fmt.Errorf("is empty: write an index between two slashes, and no slash at the end")
	case strings.Trim(digits, "0123456789") != "" || digits == "":
		return 0, notDigits(part, digits)
	case len(digits) > 1 && digits[0] == '0':
		return 0, fmt.Errorf("is %q: write the index without leading zeros", part)
	}
	index, err := strconv.ParseUint(digits, 10, 31)
	if err != nil { // only digits are left, so it is out of range
		return 0, fmt.Errorf("is %q: an index is at most %d; write ' behind it for a hardened one", part, Hardened-1)
	}
	if hardened {
		return uint32(index) | Hardened, nil
	}
	return uint32(index), nil
}

// notDigits names the usual mistakes.
func notDigits(part, digits string) error {
	for _, mark := range []string{"h", "H", "’", "′", "`"} {
		if number, found := strings.CutSuffix(part, mark); found && number != "" && strings.Trim(number, "0123456789") == "" {
			return fmt.Errorf("is %q: mark a hardened index with a straight apostrophe, %s'", part, number)
		}
	}
	if strings.HasSuffix(digits, "'") {
		return fmt.Errorf("is %q: one apostrophe is enough", part)
	}
	return fmt.Errorf("is %q: write decimal digits, with an apostrophe behind them for a hardened index", part)
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("invalid path: "+format, args...)
}

// String is the text of the path, which [Parse] reads.
func (p Path) String() string {
	text := append(make([]byte, 0, maxText), 'm')
	for _, index := range p {
		text = append(text, '/')
		text = strconv.AppendUint(text, uint64(index&^Hardened), 10)
		if index&Hardened != 0 {
			text = append(text, '\'')
		}
	}
	return string(text)
}

// Normal is the path by which a key on the curve is derived, and by which two
// paths are compared. SLIP-0010 has only hardened children on Ed25519, while
// the published default paths for it are not all hardened, so that every part
// is taken as hardened there. Accounts keep the path as it was given. The
// result shares no memory with p.
func (p Path) Normal(c curve.KeyCurve) Path {
	normal := make(Path, len(p))
	for i, index := range p {
		if c == curve.KeyEd25519 {
			index |= Hardened
		}
		normal[i] = index
	}
	return normal
}
