package velocity

import (
	"bytes"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"latchkey/internal/domain"
)

// TestSimulation compares with the sum of everything that is in the window, for
// windows of each kind, and across a reading of what was written.
func TestSimulation(t *testing.T) {
	windows := []domain.VelocityWindow{
		{Rolling: &domain.VelocityRolling{Duration: "2"}},
		{Infinite: &domain.Nothing{}},
		{Calendar: &domain.VelocityCalendar{Unit: "DAY", Timezone: "Europe/Zurich"}},
	}
	rapid.Check(t, func(t *rapid.T) {
		window := rapid.SampledFrom(windows).Draw(t, "window")
		control, err := Compile(&domain.VelocityControl{
			Identifier: "c",
			DataSource: domain.VelocityDataSource{ActivityExecution: &domain.VelocityExecutions{}},
			Aggregate: domain.VelocityAggregation{
				Method: domain.VelocityCount, Operator: domain.VelocityLessOrEqual, Threshold: "1",
				Window: window, GroupBy: domain.VelocityGroupBy{User: &domain.Nothing{}},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		steps := []int64{0, 1, 1000, 2000}
		if window.Calendar != nil {
			steps = []int64{0, 1, 3_600_000, 40_000_000}
		}
		all := map[string][]counted{}
		simulation := new(Simulation)
		now := int64(1_790_000_000_000)
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			now += rapid.SampledFrom(steps).Draw(t, "step")
			group := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "group")
			cut, ends := control.cutoff(time.UnixMilli(now))
			naive := new(big.Int)
			for _, e := range all[group] {
				if !ends || e.atMs > cut {
					naive.Add(naive, e.amount)
				}
			}
			if got := simulation.Used(control, group, time.UnixMilli(now)); got.Cmp(naive) != 0 {
				t.Fatalf("%s used, want %s", got, naive)
			}
			if rapid.Bool().Draw(t, "counts") {
				amount := big.NewInt(rapid.Int64Range(0, 1000).Draw(t, "amount"))
				simulation.Add(control, group, time.UnixMilli(now), amount)
				all[group] = append(all[group], counted{now, amount})
			}
			if rapid.Bool().Draw(t, "written") {
				written := simulation.Append([]byte("before"))
				read, rest, err := ReadSimulation(append(written[6:], "behind"...))
				if err != nil || string(rest) != "behind" {
					t.Fatalf("%v, %q is left", err, rest)
				}
				simulation = read
			}
		}
	})
}

// FuzzReadSimulation: what is read is written as it was, or refused.
func FuzzReadSimulation(f *testing.F) {
	f.Add([]byte{0})
	f.Add([]byte{1, 1, 'c', 1, 'g', 1, 1, 5, 2, 2, 0, 2, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		s, rest, err := ReadSimulation(data)
		if err != nil {
			return
		}
		written := s.Append(nil)
		again, more, err := ReadSimulation(written)
		if err != nil || len(more) > 0 || len(rest) > len(data) || !bytes.Equal(again.Append(nil), written) {
			t.Errorf("%x is written as %x: %v", data, written, err)
		}
	})
}
