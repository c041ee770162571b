//go:build !linux

package secret

import "errors"

// mapPages has no locked pages to offer here; secrets live on the heap.
func mapPages(int) ([]byte, error) {
	return nil, errors.New("locking memory is not known on this system")
}

func unmapPages([]byte) {}
