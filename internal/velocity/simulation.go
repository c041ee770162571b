package velocity

import (
	"encoding/binary"
	"errors"
	"maps"
	"math/big"
	"slices"
	"time"
)

// Simulation is what controls would have counted: the amounts that are in their
// windows, of each group. Times must not go back. The zero value has counted
// nothing.
type Simulation struct {
	books map[simulated]*simulatedBook
}

// simulated is one group of one control, by the identifier of which it is known.
type simulated struct{ identifier, group string }

// simulatedBook is what is in the window of a group.
type simulatedBook struct {
	entries []counted // the oldest first
	sum     *big.Int
}

type counted struct {
	atMs   int64
	amount *big.Int
}

// Used is what a control has in a group at a time. What has left the window is
// forgotten.
func (s *Simulation) Used(c *Control, group string, now time.Time) *big.Int {
	book := s.books[simulated{c.Identifier, group}]
	if book == nil {
		return new(big.Int)
	}
	if cut, ends := c.cutoff(now); ends {
		out := 0
		for ; out < len(book.entries) && book.entries[out].atMs <= cut; out++ {
			book.sum.Sub(book.sum, book.entries[out].amount)
		}
		book.entries = book.entries[out:]
	}
	return new(big.Int).Set(book.sum)
}

// Add counts an amount.
func (s *Simulation) Add(c *Control, group string, now time.Time, amount *big.Int) {
	if s.books == nil {
		s.books = map[simulated]*simulatedBook{}
	}
	s.Used(c, group, now) // forgets what has left
	key, next := simulated{c.Identifier, group}, counted{now.UnixMilli(), amount}
	book := s.books[key]
	if book == nil {
		book = &simulatedBook{sum: new(big.Int)}
		s.books[key] = book
	}
	book.sum.Add(book.sum, amount)
	// All that a window holds that does not roll leaves it at once.
	if last := len(book.entries) - 1; last >= 0 && (c.Aggregate.Window.Rolling == nil || book.entries[last].atMs == next.atMs) {
		book.entries[last] = counted{next.atMs, new(big.Int).Add(book.entries[last].amount, amount)}
		return
	}
	book.entries = append(book.entries, next)
}

// Append writes the simulation behind other bytes. Times are written as
// differences, and amounts as places in a list of those that differ.
func (s *Simulation) Append(to []byte) []byte {
	keys := slices.SortedFunc(maps.Keys(s.books), func(a, b simulated) int {
		return slices.Compare([]string{a.identifier, a.group}, []string{b.identifier, b.group})
	})
	to = binary.AppendUvarint(to, uint64(len(keys)))
	for _, key := range keys {
		book := s.books[key].entries
		to = appendText(appendText(to, key.identifier), key.group)
		var amounts [][]byte
		places := map[string]int{}
		for i := range book {
			text := string(book[i].amount.Bytes())
			if _, known := places[text]; !known {
				places[text] = len(amounts)
				amounts = append(amounts, []byte(text))
			}
		}
		to = binary.AppendUvarint(to, uint64(len(amounts)))
		for _, a := range amounts {
			to = appendText(to, string(a))
		}
		to = binary.AppendUvarint(to, uint64(len(book)))
		before := int64(0)
		for i := range book {
			to = binary.AppendVarint(to, book[i].atMs-before)
			to = binary.AppendUvarint(to, uint64(places[string(book[i].amount.Bytes())]))
			before = book[i].atMs
		}
	}
	return to
}

func appendText(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

var errSimulation = errors.New("these are not sums of velocity controls")

// ReadSimulation reads what [Simulation.Append] wrote, and returns what follows.
func ReadSimulation(from []byte) (s *Simulation, rest []byte, err error) {
	r := &simulationReader{rest: from}
	s = &Simulation{books: map[simulated]*simulatedBook{}}
	for range r.count() {
		key := simulated{r.text(), r.text()}
		amounts := make([]*big.Int, 0, 16)
		for range r.count() {
			amounts = append(amounts, new(big.Int).SetBytes([]byte(r.text())))
		}
		book := &simulatedBook{sum: new(big.Int)}
		at := int64(0)
		for range r.count() {
			at += r.varint()
			place := r.uvarint()
			if r.failed || place >= uint64(len(amounts)) {
				return nil, nil, errSimulation
			}
			book.entries = append(book.entries, counted{at, amounts[place]})
			book.sum.Add(book.sum, amounts[place])
		}
		if _, twice := s.books[key]; twice || r.failed {
			return nil, nil, errSimulation
		}
		s.books[key] = book
	}
	if r.failed {
		return nil, nil, errSimulation
	}
	return s, r.rest, nil
}

type simulationReader struct {
	rest   []byte
	failed bool
}

func (r *simulationReader) uvarint() uint64 {
	n, size := binary.Uvarint(r.rest)
	if r.skip(size); r.failed {
		return 0
	}
	return n
}

func (r *simulationReader) varint() int64 {
	n, size := binary.Varint(r.rest)
	if r.skip(size); r.failed {
		return 0
	}
	return n
}

func (r *simulationReader) skip(size int) {
	if r.failed = r.failed || size <= 0; !r.failed {
		r.rest = r.rest[size:]
	}
}

// count is the length of a list, each element of which takes a byte at least.
func (r *simulationReader) count() uint64 {
	n := r.uvarint()
	if n > uint64(len(r.rest)) {
		r.failed = true
		return 0
	}
	return n
}

func (r *simulationReader) text() string {
	n := r.count()
	text := string(r.rest[:n])
	r.rest = r.rest[n:]
	return text
}
