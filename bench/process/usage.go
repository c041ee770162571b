package process

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// CPU is the processor time of several processes, by their ids.
type CPU map[int]time.Duration

// ReadCPU reads the processor time that processes have used so far, in user
// and kernel mode. Those that have ended are left out.
func ReadCPU(pids ...int) CPU {
	c := CPU{}
	for _, pid := range pids {
		// The clock of a process is its number, inverted, above three bits of
		// which the value 2 asks for the scheduler's account (CPUCLOCK_SCHED in
		// linux/posix-timers_types.h). /proc/PID/stat has the same in units of
		// 10 ms, too coarse for a short round.
		clock := int32(^pid)<<3 | 2
		var t unix.Timespec
		if unix.ClockGettime(clock, &t) == nil {
			c[pid] = time.Duration(t.Nano())
		}
	}
	return c
}

// Since is what the processes have used together since an earlier reading. A
// new one counts in full. One that has ended counts nothing: what it used
// before must not be taken from what the others used since.
func (c CPU) Since(earlier CPU) (sum time.Duration) {
	for pid, used := range c {
		sum += used - earlier[pid]
	}
	return sum
}

// Resident is how many bytes of processes are in memory now (VmRSS). A process
// that has ended has none.
func Resident(pids ...int) (sum int64) {
	for _, pid := range pids {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		sum += resident(string(text))
	}
	return sum
}

func resident(status string) int64 {
	_, value, _ := strings.Cut(status, "\nVmRSS:")
	var kilobytes int64
	if _, err := fmt.Sscanf(value, "%d kB", &kilobytes); err != nil {
		return 0
	}
	return kilobytes << 10
}
