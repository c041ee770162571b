//go:build !linux

package vault

import "errors"

// Harden knows nothing to do on this system. What it cannot do it returns for
// the log; it is no reason to stop.
func Harden() error {
	return errors.New("vault: memory is not protected on this system")
}
