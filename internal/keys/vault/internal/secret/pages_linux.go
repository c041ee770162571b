package secret

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mapPages maps at least n bytes outside the heap, so that the collector never
// moves or copies them, and locks them into memory. The error says why they are
// not locked. There may be pages all the same: some that may be swapped are still
// better than the heap.
func mapPages(n int) ([]byte, error) {
	page := os.Getpagesize()
	size := (n + page - 1) / page * page
	pages, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("mmap of %d bytes: %w", size, err)
	}
	if err = unix.Mlock(pages); err != nil {
		err = fmt.Errorf("mlock of %d bytes: %w%s", size, err, lockLimit())
	}
	// Best effort: dumps are switched off for the whole process, which says so
	// where it cannot; and it forks only to run another program.
	_ = unix.Madvise(pages, unix.MADV_DONTDUMP)
	_ = unix.Madvise(pages, unix.MADV_WIPEONFORK)
	return pages, err
}

// lockLimit names the limit that a lock mostly fails for.
func lockLimit() string {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil || limit.Cur == unix.RLIM_INFINITY {
		return ""
	}
	return fmt.Sprintf("; this process may lock %d bytes (RLIMIT_MEMLOCK)", limit.Cur)
}

func unmapPages(pages []byte) {
	_ = unix.Munmap(pages) // unlocks; it fails only for what was not mapped here
}
