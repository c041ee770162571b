package process

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Resident is how many bytes of a process are in memory now (VmRSS).
func Resident(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	return resident(string(text))
}

func resident(status string) (int64, error) {
	for line := range strings.Lines(status) {
		value, ok := strings.CutPrefix(line, "VmRSS:")
		if !ok {
			continue
		}
		value, ok = strings.CutSuffix(strings.TrimSpace(value), " kB")
		kilobytes, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		if !ok || err != nil {
			return 0, fmt.Errorf("VmRSS is %q and not a number of kB", strings.TrimSpace(value))
		}
		return kilobytes << 10, nil
	}
	return 0, errors.New("the process has no VmRSS: it has ended")
}
