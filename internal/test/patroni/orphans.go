package patroni

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"latchkey/internal/test/pgtest"
)

// adopt makes this process the parent of orphans, and takes note of their end. Patroni
// lets go of the PostgreSQL that it starts, and waits until it has ended for good, which
// needs a parent that asks; not every machine has an init that does.
func (c *Cluster) adopt() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	go func() {
		for {
			select {
			case <-c.closed:
				return
			case <-time.After(100 * time.Millisecond):
			}
			for _, pid := range pgtest.ChildrenOf(os.Getpid()) {
				// Those that were started here are waited for where they were.
				if name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); strings.HasPrefix(string(name), "postgres") || strings.HasPrefix(string(name), "pg_") {
					_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
				}
			}
		}
	}()
	return nil
}
