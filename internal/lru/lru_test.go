package lru_test

import (
	"testing"

	"latchkey/internal/lru"
)

func TestMap(t *testing.T) {
	const max = 10
	m := lru.Map[int, string]{Max: max}
	if _, ok := m.Get(0); ok {
		t.Error("an empty memory remembers")
	}
	m.Put(-1, "in use")
	for i := range 10 * max {
		m.Put(i, "first")
		m.Put(i, "second") // takes no more room
		if value, ok := m.Get(-1); !ok || value != "in use" {
			t.Fatalf("what is in use was forgotten after %d others", i)
		}
		if value, ok := m.Get(i); !ok || value != "second" {
			t.Fatalf("%d is %q", i, value)
		}
	}
	kept := 0
	for i := range 10 * max {
		if _, ok := m.Get(i); ok {
			kept++
			if i < 8*max-1 {
				t.Errorf("%d is still remembered", i)
			}
		}
	}
	if kept < max-1 || kept > 2*max {
		t.Errorf("%d entries are remembered", kept)
	}
	if n := m.Turns(); n < 10 || n > 13 {
		t.Errorf("%d turns", n)
	}
}
