package schema

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/fault"
)

// maxDepth is the deepest nesting of objects and arrays that is read.
const maxDepth = 32

// refusal is a problem of syntax that the tokenizer does not know.
type refusal struct {
	text string
	at   int
	path string
}

func (r *refusal) Error() string { return r.text }

// token reads one token and holds the limit of depth.
func (st *state) token() error {
	if _, err := st.d.ReadToken(); err != nil {
		return err
	}
	if st.d.StackDepth() > maxDepth {
		return &refusal{
			text: fmt.Sprintf("nested deeper than %d", maxDepth),
			at:   int(st.d.InputOffset()) - 1,
			path: dotted(st.d.StackPointer()),
		}
	}
	return nil
}

// skip reads over one whole value. It reads token by token, because depth and
// duplicate names count inside values that are skipped, too.
func (st *state) skip() error {
	depth := st.d.StackDepth()
	for {
		if err := st.token(); err != nil {
			return err
		}
		if st.d.StackDepth() <= depth {
			return nil
		}
	}
}

const space = " \t\r\n"

// next returns the offset of what follows the last token, once the bytes in
// skip are passed. Before a value these are space and the delimiter.
func (st *state) next(skip string) int {
	i := int(st.d.InputOffset())
	for i < len(st.input) && strings.IndexByte(skip, st.input[i]) >= 0 {
		i++
	}
	return i
}

// syntax describes the error that ended the run. The tokenizer's own words are
// not passed on: they quote the input.
func (st *state) syntax(err error) fault.Field {
	if r := (*refusal)(nil); errors.As(err, &r) {
		return fault.Field{Path: r.path, Description: fmt.Sprintf("%s (byte %d)", r.text, r.at)}
	}
	at, path := len(st.input), ""
	if s := (*jsontext.SyntacticError)(nil); errors.As(err, &s) {
		at, path = int(s.ByteOffset), dotted(s.JSONPointer)
	}
	text := "broken JSON"
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		text = "the same name twice in one object"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		text = "the JSON ends too early"
	case badRune(st.input, at):
		text = "invalid UTF-8"
	}
	return fault.Field{Path: path, Description: fmt.Sprintf("%s (byte %d)", text, at)}
}

func badRune(b []byte, at int) bool {
	if at >= len(b) {
		return false
	}
	r, size := utf8.DecodeRune(b[at:])
	return r == utf8.RuneError && size == 1
}

func dotted(p jsontext.Pointer) string {
	var parts []string
	for t := range p.Tokens() {
		parts = append(parts, clip(t))
	}
	return strings.Join(parts, ".")
}
