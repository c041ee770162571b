package velocity

import (
	"math/big"
	"time"

	"latchkey/internal/domain"
)

// Point is what was in the window of a group at one time.
type Point struct {
	AtMs int64
	Used *big.Int
}

// History is what was in the window at n times, from since to now, both included,
// at equal distances. n is at least 2.
func (c *Control) History(book Book, since, now time.Time, n int) ([]Point, error) {
	to := now.UnixMilli()
	if newest := book.Newest(); newest != nil {
		to = max(to, newest.AtMs) // time never goes back in a group
	}
	from := min(since.UnixMilli(), to)
	totals := &totals{book: book, known: map[int64]*domain.Tally{}}
	points := make([]Point, n)
	for i := range points {
		at := from + (to-from)*int64(i)/int64(n-1)
		used, err := totals.at(at)
		if err != nil {
			return nil, err
		}
		if cut, ends := c.cutoff(time.UnixMilli(at)); ends {
			gone, err := totals.at(cut)
			if err != nil {
				return nil, err
			}
			used = new(big.Int).Sub(used, gone)
		}
		points[i] = Point{AtMs: at, Used: used}
	}
	return points, nil
}

// totals finds running totals by time. Searches for neighbouring times meet the
// same entries, which are read once.
type totals struct {
	book  Book
	known map[int64]*domain.Tally
}

// at is the running total of everything up to a time.
func (t *totals) at(ms int64) (*big.Int, error) {
	newest := t.book.Newest()
	if newest == nil {
		return new(big.Int), nil
	}
	in, out := int64(0), newest.Number+1 // in is up to the time, or 0; out is not
	var last *domain.Tally               // the entry at in
	for out-in > 1 {
		number := in + (out-in)/2
		entry, err := t.entry(number)
		if err != nil {
			return nil, err
		}
		if entry.AtMs <= ms {
			in, last = number, entry
		} else {
			out = number
		}
	}
	if last == nil {
		return new(big.Int), nil
	}
	return units(last.Total)
}

func (t *totals) entry(number int64) (*domain.Tally, error) {
	if found := t.known[number]; found != nil {
		return found, nil
	}
	found, err := entryOf(t.book, number)
	if err == nil {
		t.known[number] = found
	}
	return found, err
}
