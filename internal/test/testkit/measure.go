package testkit

import (
	"slices"
	"syscall"
	"testing"
	"time"
)

// ProcessorTime is how much this process has used, on all cores together: on a shared
// machine it says more than the time that passed.
func ProcessorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// Side is one of two ways in which [InTurn] runs something.
type Side struct {
	Name string
	In   func(run func())
}

// InTurn takes turns with two sides, so that both see the same machine, n runs of f at
// once, and compares times of which a tenth are shorter.
func InTurn(b *testing.B, n int, f func(), one, other Side) {
	b.Helper()
	times := map[string][]time.Duration{}
	for b.Loop() {
		for _, side := range []Side{one, other} {
			side.In(func() {
				start := time.Now()
				for range n {
					f()
				}
				times[side.Name] = append(times[side.Name], time.Since(start))
			})
		}
	}
	low := func(side Side) float64 {
		all := times[side.Name]
		slices.Sort(all)
		return float64(all[len(all)/10]) / float64(n)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(low(one), "ns/"+one.Name)
	b.ReportMetric(low(other), "ns/"+other.Name)
	b.ReportMetric(low(one)/low(other), one.Name+"/"+other.Name)
}
