package vault

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Harden keeps the memory of this process out of core dumps and from other
// processes of the same user (ptrace, /proc/pid/mem). The program calls it
// first of all. What it cannot do it returns for the log; it is no reason to
// stop.
func Harden() error {
	var problems []error
	// Where the call is forbidden, as in the unit of the Debian package, the supervisor
	// has set the limit already.
	var limit unix.Rlimit
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &limit); err != nil &&
		(unix.Getrlimit(unix.RLIMIT_CORE, &limit) != nil || limit != unix.Rlimit{}) {
		problems = append(problems, fmt.Errorf("vault: core dumps stay possible: %w", err))
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		problems = append(problems, fmt.Errorf("vault: the process stays dumpable: %w", err))
	}
	return errors.Join(problems...)
}
