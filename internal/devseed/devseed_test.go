package devseed

import (
	"errors"
	"slices"
	"testing"

	"latchkey/internal/ids"
)

// TestSame: what is derived follows from text, purpose and order, and from nothing
// else.
func TestSame(t *testing.T) {
	all := func(text string) (made []string) {
		for _, purpose := range []string{"organization", "user"} {
			next := Of(text).IDs(purpose)
			for range 3 {
				made = append(made, next())
			}
			err := Of(text).Private(purpose, func(private [32]byte) error {
				made = append(made, string(private[:]))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		return made
	}
	first := all("a")
	if !slices.Equal(first, all("a")) {
		t.Error("the same text gave another start")
	}
	both := slices.Sorted(slices.Values(append(first, all("b")...)))
	if len(slices.Compact(both)) != 16 {
		t.Error("two of different texts, purposes or places are the same")
	}
}

// TestIDs: they are ids as the server makes them, in order, before all of today.
func TestIDs(t *testing.T) {
	next := Of("a").IDs("organization")
	made := []string{next(), next(), next(), ids.New()}
	for _, id := range made {
		if normal, ok := ids.Normal(id); !ok || normal != id || id[14] != '7' || id[19] < '8' || id[19] > 'b' {
			t.Errorf("%s is not a UUIDv7 in normal form", id)
		}
	}
	if !slices.IsSorted(made) {
		t.Errorf("%v are not in order", made)
	}
}

// TestPrivate: what is refused is drawn anew, but not for ever.
func TestPrivate(t *testing.T) {
	var tried [][32]byte
	refused := errors.New("no key")
	err := Of("a").Private("key", func(private [32]byte) error {
		tried = append(tried, private)
		if len(tried) < 3 {
			return refused
		}
		return nil
	})
	if err != nil || len(tried) != 3 || tried[0] == tried[1] || tried[1] == tried[2] {
		t.Errorf("%v after %d tries", err, len(tried))
	}
	if err := Of("a").Private("key", func([32]byte) error { return refused }); !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
}
