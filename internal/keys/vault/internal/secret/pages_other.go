//go:build !linux

package secret

// mapPages has no locked pages to offer here; secrets live on the heap.
func mapPages(int) []byte { return nil }

func unmapPages([]byte) {}
