package secret

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Secrets are in locked pages; where the system refuses some, the pool says so,
// once, also to one who asks later.
func TestLocked(t *testing.T) {
	locked := func() (kilobytes int) {
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(status), "VmLck:")
		if _, err := fmt.Sscan(after, &kilobytes); err != nil {
			t.Fatal(err)
		}
		return kilobytes
	}
	before := locked()
	var pool Pool
	var early, late []error
	pool.OnUnlocked(func(err error) { early = append(early, err) })
	pool.New(smallSlot)
	pool.New(largeSlot)
	pool.New(largeSlot + 1)
	all := locked()-before == (2*regionSize+os.Getpagesize())>>10
	pool.OnUnlocked(func(err error) { late = append(late, err) })
	if all && len(early)+len(late) > 0 || !all && (len(early) != 1 || len(late) != 1 || !strings.Contains(early[0].Error(), "mlock of ")) {
		t.Errorf("all are locked: %v; told %v and %v", all, early, late)
	}
	pool.Close()
	if after := locked(); after != before {
		t.Errorf("locked before %d kB, after all were given back %d kB", before, after)
	}
}
