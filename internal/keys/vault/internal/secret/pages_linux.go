package secret

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapPages maps at least n bytes outside the heap, so that the collector never
// moves or copies them. It is nil when the system refuses.
func mapPages(n int) []byte {
	page := os.Getpagesize()
	size := (n + page - 1) / page * page
	pages, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil
	}
	// Best effort: pages that may be swapped are still better than none.
	_ = unix.Mlock(pages)
	_ = unix.Madvise(pages, unix.MADV_DONTDUMP)
	_ = unix.Madvise(pages, unix.MADV_WIPEONFORK)
	return pages
}

func unmapPages(pages []byte) {
	_ = unix.Munmap(pages) // unlocks; it fails only for what was not mapped here
}
