package secret

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Secrets are in locked pages, where the limit allows it.
func TestLocked(t *testing.T) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil || limit.Cur < 1<<20 {
		t.Skipf("memory cannot be locked: %d, %v", limit.Cur, err)
	}
	locked := func() string {
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(status), "VmLck:")
		line, _, _ := strings.Cut(after, "\n")
		return strings.TrimSpace(line)
	}
	before := locked()
	var pool Pool
	pool.New(32)
	if after := locked(); after == before {
		t.Errorf("locked before and after: %s", after)
	}
	pool.Close()
	if after := locked(); after != before {
		t.Errorf("locked before %s, after all were given back %s", before, after)
	}
}
