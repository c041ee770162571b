package process

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// CPU is the processor time that a process has used so far, in user and kernel
// mode and by all of its threads, as the kernel accounts for it. It is the
// same as in /proc/PID/stat, which is in units of 10 ms and too coarse for a
// short round.
func CPU(pid int) (time.Duration, error) {
	// The clock of a process is its number, inverted, above three bits of which
	// the value 2 asks for the scheduler's account
	// (CPUCLOCK_SCHED in linux/posix-timers_types.h).
	clock := int32(^pid)<<3 | 2
	var t unix.Timespec
	if err := unix.ClockGettime(clock, &t); err != nil {
		return 0, fmt.Errorf("reading the processor time of process %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}

// Reading is the processor time of several processes, by their ids.
type Reading map[int]time.Duration

// Read reads CPU of processes. Those that have ended meanwhile are left out.
func Read(pids []int) Reading {
	r := Reading{}
	for _, pid := range pids {
		if used, err := CPU(pid); err == nil {
			r[pid] = used
		}
	}
	return r
}

// Since is what the processes have used together since an earlier reading. One
// that was not there then counts in full. One that has ended counts nothing:
// what it used before must not be taken from what the others used since.
func (r Reading) Since(earlier Reading) (sum time.Duration) {
	for pid, used := range r {
		sum += used - earlier[pid]
	}
	return sum
}
