package policytest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"latchkey/internal/keys/curve"
	"latchkey/internal/suggest"
)

// The kinds of records that have a name, as placeholders write them:
// ${user.Ada}.
const (
	KindUser          = "user"
	KindTag           = "tag"
	KindPrivateKeyTag = "privateKeyTag"
	KindWallet        = "wallet"
	KindAccount       = "account"
	KindPrivateKey    = "privateKey"
)

// namedValue is what a placeholder stands for: an id, or the address of an account.
type namedValue struct {
	value  string
	madeUp bool   // not from the file, so no server knows it
	wallet string // of an account: the name of its wallet
}

// assignID gives a named record its id, and defines its placeholder.
func (r *reader) assignID(kind, path string, n int, name, id string) string {
	madeUp := id == ""
	if madeUp {
		id = madeUpID(kind, n, name)
	}
	r.define(kind, path, name, namedValue{value: id, madeUp: madeUp})
	r.reserve("id "+id, join(path, "id"), "the id "+id)
	return id
}

func (r *reader) define(kind, path, name string, meaning namedValue) {
	if r.names[kind] == nil {
		r.names[kind] = map[string]namedValue{}
	}
	if _, twice := r.names[kind][name]; twice {
		r.reportPath(join(path, "name"), "there are two of the name %q", name)
	}
	r.names[kind][name] = meaning
}

// id is the id of the record with a name.
func (r *reader) id(kind, path, name string) string {
	found, ok := r.names[kind][name]
	if !ok {
		r.reportPath(path, "%s", r.unknownName(kind, name))
	}
	return found.value
}

func (r *reader) unknownName(kind, name string) string {
	known := slices.Sorted(maps.Keys(r.names[kind]))
	if len(known) == 0 {
		return "there is no " + kind + " " + strconv.Quote(name) + "; the file has none at all"
	}
	return "there is no " + kind + " " + strconv.Quote(name) + "; the nearest is " + strconv.Quote(suggest.Name(name, 1000, known))
}

// ids are the ids of several records.
func (r *reader) ids(kind, path string, names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = r.id(kind, join(path, strconv.Itoa(i)), name)
	}
	return all
}

// madeUpID is a UUID (version 8 of RFC 9562). It sorts by n, so that lists come
// out in the order of the file, and is the same in every run.
func madeUpID(kind string, n int, name string) string {
	id := uuid.UUID(digest(kind, name)[:16])
	var place [8]byte
	binary.BigEndian.PutUint64(place[:], uint64(n))
	copy(id[:6], place[2:])
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

// madeUpKey is a public key whose private half no one knows: a point that is
// found by trying.
func madeUpKey(c curve.Curve, seed string) string {
	for try := 0; ; try++ {
		text := hex.EncodeToString(digest("key", seed, strconv.Itoa(try)))
		if c != curve.Ed25519 {
			text = "02" + text
		}
		if _, err := curve.ParsePublicKey(c, text); err == nil {
			return text
		}
	}
}

func digest(parts ...string) []byte {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return sum[:]
}

func base64url(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// expanded is a text whose placeholders were replaced.
type expanded struct {
	text         string
	given        string
	replacements []replacement
}

// replacement says where a placeholder was, and where its value is.
type replacement struct{ given, length, at, size int }

// placeholderError is a placeholder without a value.
type placeholderError struct {
	from, to int // of the given text
	message  string
}

// expand replaces the placeholders of a text. $${ stands for ${. resolve finds
// the value of what is between the brackets, or says what is wrong with it.
func expand(given string, resolve func(text string) (namedValue, string)) (expanded, *placeholderError) {
	e := expanded{given: given}
	var out strings.Builder
	for at := 0; at < len(given); {
		next := strings.Index(given[at:], "${")
		if next < 0 {
			out.WriteString(given[at:])
			break
		}
		start := at + next
		if start > at && given[start-1] == '$' {
			out.WriteString(given[at : start-1])
			e.replacements = append(e.replacements, replacement{start - 1, 3, out.Len(), 2})
			out.WriteString("${")
			at = start + 2
			continue
		}
		length := strings.IndexByte(given[start:], '}') + 1
		if length == 0 {
			return e, &placeholderError{start, start + 2, "${ has no closing }; write $${ for the two characters themselves"}
		}
		placeholder := given[start : start+length]
		value, problem := resolve(placeholder[2 : length-1])
		if problem != "" {
			return e, &placeholderError{start, start + length, placeholder + ": " + problem}
		}
		out.WriteString(given[at:start])
		e.replacements = append(e.replacements, replacement{start, length, out.Len(), len(value.value)})
		out.WriteString(value.value)
		at = start + length
	}
	e.text = out.String()
	return e, nil
}

// resolve finds the value of the text between the brackets of a placeholder:
// kind.name.
func (r *reader) resolve(text string) (namedValue, string) {
	kinds := []string{KindUser, KindTag, KindPrivateKeyTag, KindWallet, KindAccount, KindPrivateKey}
	kind, name, dotted := strings.Cut(text, ".")
	if !dotted || !slices.Contains(kinds, kind) {
		return namedValue{}, "a placeholder is a kind and a name, such as ${user.Ada}; the kinds are " + strings.Join(kinds, ", ")
	}
	found, ok := r.names[kind][name]
	if !ok {
		return namedValue{}, r.unknownName(kind, name)
	}
	return found, ""
}

// givenOffset finds the offset in the given text of one in the expanded text.
// Inside a value it is the beginning of the placeholder, or its end.
func (e *expanded) givenOffset(at int, end bool) int {
	from, given := 0, 0
	for _, s := range e.replacements {
		if at <= s.at {
			break
		}
		if at < s.at+s.size {
			if end {
				return s.given + s.length
			}
			return s.given
		}
		from, given = s.at+s.size, s.given+s.length
	}
	return given + at - from
}

// placeholders turns values back into placeholders.
func (r *reader) placeholders() *strings.Replacer {
	var pairs []string
	for _, kind := range slices.Sorted(maps.Keys(r.names)) {
		for _, name := range slices.Sorted(maps.Keys(r.names[kind])) {
			pairs = append(pairs, r.names[kind][name].value, "${"+kind+"."+name+"}")
		}
	}
	return strings.NewReplacer(pairs...)
}
