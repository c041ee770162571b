// Package ids makes and checks the identifiers of the interface.
package ids

import (
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// New returns a fresh UUIDv7. Identifiers made by one process sort by the
// order in which they were made, so that lists come out in creation order.
func New() string {
	// NewV7 fails only when the system has no source of randomness, and then
	// nothing that this program does can be trusted.
	return uuid.Must(uuid.NewV7()).String()
}

// At returns the UUIDv7 of a millisecond with these random bits, of which some give
// way to the version and the variant.
func At(ms int64, random [10]byte) string {
	id := uuid.UUID(append([]byte{byte(ms >> 40), byte(ms >> 32), byte(ms >> 24), byte(ms >> 16), byte(ms >> 8), byte(ms)}, random[:]...))
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

// First returns the id before which no id of this millisecond, or of a later
// one, comes: a cursor for what was made since.
func First(ms int64) string {
	return fmt.Sprintf("%08x-%04x-7000-8000-000000000000", ms>>16&0xffffffff, ms&0xffff)
}

// Normal returns the lower-case form of id, the only one that is stored and
// compared. ok is false when id is not a UUID in its usual text form.
func Normal(id string) (normal string, ok bool) {
	normal = strings.ToLower(id)
	return normal, isNormal(normal)
}

// isNormal reports whether id has the form 8-4-4-4-12, in lower-case digits.
func isNormal(id string) bool {
	if len(id) != len("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") {
		return false
	}
	for i := range len(id) {
		switch c := id[i]; {
		case i == 8, i == 13, i == 18, i == 23:
			if c != '-' {
				return false
			}
		case '0' <= c && c <= '9', 'a' <= c && c <= 'f':
		default:
			return false
		}
	}
	return true
}
