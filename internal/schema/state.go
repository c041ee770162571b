package schema

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/fault"
)

// state is one run of Decode.
type state struct {
	d       *jsontext.Decoder
	buf     bytes.Buffer
	input   []byte
	path    []step
	found   []fault.Field
	missing []absence
	zeros   bool // an omitzero member was given with its zero value
}

// step leads from a value to one inside it.
type step struct {
	name string // "" in an array
	n    int    // place of the member in its struct, or index of the element
}

// absence is a missing member, with what is needed to put it in order.
type absence struct {
	fault.Field
	place []int
}

func newState() *state {
	st := &state{path: make([]step, 0, 16)}
	st.d = jsontext.NewDecoder(&st.buf)
	return st
}

func (st *state) start(raw []byte) {
	st.input = raw
	st.buf = *bytes.NewBuffer(raw) // the decoder reads a bytes.Buffer in place
	st.d.Reset(&st.buf)
}

func (st *state) clear() {
	st.start(nil)
	clear(st.path[:cap(st.path)])
	st.path, st.found, st.missing, st.zeros = st.path[:0], nil, nil, false
}

func (st *state) push(name string, n int) { st.path = append(st.path, step{name, n}) }
func (st *state) pop()                    { st.path = st.path[:len(st.path)-1] }

func (st *state) count() int { return len(st.found) + len(st.missing) }
func (st *state) full() bool { return st.count() >= maxProblems }

// problem reports what is wrong with the value at the present path.
func (st *state) problem(format string, args ...any) {
	if !st.full() {
		st.found = append(st.found, fault.Field{Path: st.where(), Description: fmt.Sprintf(format, args...)})
	}
}

// miss reports that the present path is missing.
func (st *state) miss(text string) {
	if st.full() {
		return
	}
	place := make([]int, len(st.path))
	for i, s := range st.path {
		place[i] = s.n
	}
	st.missing = append(st.missing, absence{fault.Field{Path: st.where(), Description: text}, place})
}

// adopt takes over the problems that a Check found in the present object.
func (st *state) adopt(list []fault.Field) {
	for _, f := range list {
		if !st.full() {
			st.found = append(st.found, fault.Field{Path: join(st.where(), f.Path), Description: f.Description})
		}
	}
}

// problems returns all of them in the promised order.
func (st *state) problems() []fault.Field {
	// Members are missed when their object ends, the inner ones first.
	slices.SortStableFunc(st.missing, func(a, b absence) int { return slices.CompareFunc(a.place, b.place, cmp.Compare[int]) })
	for _, m := range st.missing {
		st.found = append(st.found, m.Field)
	}
	return st.found
}

// where renders the present path. It is only called for problems, so the path
// costs nothing otherwise.
func (st *state) where() string {
	var b strings.Builder
	for i, s := range st.path {
		if i > 0 {
			b.WriteByte('.')
		}
		if s.name == "" && s.n >= 0 {
			b.WriteString(strconv.Itoa(s.n))
		} else {
			b.WriteString(clip(s.name))
		}
	}
	return b.String()
}

// clip shortens a name that the client made up.
func clip(name string) string {
	const most = 64
	n := 0
	for i := range name {
		if n == most {
			return name[:i] + "…"
		}
		n++
	}
	return name
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
