package velocity_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"latchkey/internal/domain"
	"latchkey/internal/test/testkit"
	"latchkey/internal/velocity"
)

// entries is a group in memory.
type entries []*domain.Tally

func (e entries) Newest() *domain.Tally {
	if len(e) == 0 {
		return nil
	}
	return e[len(e)-1]
}

func (e entries) Entry(number int64) (*domain.Tally, error) {
	if number < 1 || number > int64(len(e)) {
		return nil, errors.New("there is no such entry")
	}
	return e[number-1], nil
}

func control(t testing.TB, threshold string, w domain.VelocityWindow, decimals ...string) *velocity.Control {
	t.Helper()
	source := &domain.VelocityTransfers{}
	for _, d := range decimals {
		source.Definition = append(source.Definition, domain.VelocityAsset{CAIP19: "eip155:1/slip44:60", Decimals: d})
	}
	c, err := velocity.Compile(&domain.VelocityControl{
		ID: "c", DataSource: domain.VelocityDataSource{ChainAssetTransfer: source},
		Aggregate: domain.VelocityAggregation{
			Method: domain.VelocitySum, Operator: domain.VelocityLessOrEqual, Threshold: threshold, Window: w,
			GroupBy: domain.VelocityGroupBy{Organization: &domain.Nothing{}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func rolling(seconds string) domain.VelocityWindow {
	return domain.VelocityWindow{Rolling: &domain.VelocityRolling{Duration: seconds}}
}

// TestRollingSum compares the sum by running totals with a naive one, over random
// histories in which the clock also goes back.
func TestRollingSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.Int64Range(1, 50).Draw(t, "seconds")
		c := control(quiet{}, "1", rolling(big.NewInt(seconds).String()), "18")
		var all entries
		clock, group := int64(1_000_000), int64(0)
		for range rapid.IntRange(1, 200).Draw(t, "events") {
			clock += rapid.Int64Range(-500, 30_000).Draw(t, "pause")
			group = max(group, clock)
			s, err := c.Sum(all, time.UnixMilli(clock))
			if err != nil {
				t.Fatal(err)
			}
			naive := new(big.Int)
			next := int64(0)
			for _, e := range all {
				if e.AtMs > group-seconds*1000 { // (now - duration, now]
					n, _ := new(big.Int).SetString(e.Amount, 10)
					naive.Add(naive, n)
					if next == 0 {
						next = e.AtMs + seconds*1000
					}
				}
			}
			if s.Used.Cmp(naive) != 0 || s.NextMs != next {
				t.Fatalf("the sum is %s until %d, naively %s until %d", s.Used, s.NextMs, naive, next)
			}
			if len(all) > 0 && s.NowMs != max(clock, all.Newest().AtMs) {
				t.Fatalf("it is %d, want %d", s.NowMs, group)
			}
			all = append(all, c.Next(s, "g", "a", big.NewInt(rapid.Int64Range(0, 1<<60).Draw(t, "amount"))))
			group = all.Newest().AtMs
		}
	})
}

// quiet lets rapid report.
type quiet struct{ testing.TB }

func (quiet) Helper() {}

// TestManyEvents: a sum looks at few entries however many there are. make limits
// runs it with a million.
func TestManyEvents(t *testing.T) {
	events := int64(testkit.Number(t, "LATCHKEY_TEST_EVENTS", 50_000))
	c := control(t, "1", rolling("3600"), "18")
	var all entries
	reads := 0
	naive, left := new(big.Int), 0
	for i := range events {
		at := i * 7919 % 977 * 1000
		now := time.UnixMilli(i*1000 + at)
		s, err := c.Sum(counted{all, &reads}, now)
		if err != nil {
			t.Fatal(err)
		}
		for ; left < len(all) && all[left].AtMs <= s.NowMs-3_600_000; left++ {
			n, _ := new(big.Int).SetString(all[left].Amount, 10)
			naive.Sub(naive, n)
		}
		if s.Used.Cmp(naive) != 0 {
			t.Fatalf("after %d events the sum is %s, naively %s", i, s.Used, naive)
		}
		amount := big.NewInt(i % 1009)
		all = append(all, c.Next(s, "g", "a", amount))
		naive.Add(naive, amount)
	}
	if int64(reads) > 3*events {
		t.Errorf("%d sums took %d reads", events, reads)
	}
}

type counted struct {
	entries
	reads *int
}

func (c counted) Entry(number int64) (*domain.Tally, error) {
	*c.reads++
	return c.entries.Entry(number)
}

func TestCalendar(t *testing.T) {
	for _, test := range []struct{ unit, zone, now, begin string }{
		{"DAY", "UTC", "2026-11-16T05:00:00Z", "2026-11-16T00:00:00Z"},
		{"DAY", "Europe/Zurich", "2026-11-15T22:59:59Z", "2026-11-14T23:00:00Z"},
		{"DAY", "Europe/Zurich", "2026-11-15T23:00:00Z", "2026-11-15T23:00:00Z"},
		{"DAY", "Europe/Zurich", "2026-10-25T12:00:00Z", "2026-10-24T22:00:00Z"},  // 25 hours
		{"DAY", "Africa/Cairo", "2026-04-24T12:00:00Z", "2026-04-23T22:00:00Z"},   // midnight is skipped
		{"DAY", "America/Havana", "2026-11-01T12:00:00Z", "2026-11-01T04:00:00Z"}, // it comes twice
		{"WEEK", "UTC", "2026-11-15T23:59:59Z", "2026-11-09T00:00:00Z"},           // a Sunday
		{"WEEK", "UTC", "2026-11-16T00:00:00Z", "2026-11-16T00:00:00Z"},           // a Monday
		{"MONTH", "America/New_York", "2026-11-01T03:59:59Z", "2026-10-01T04:00:00Z"},
		{"MONTH", "America/New_York", "2026-12-01T05:00:00Z", "2026-12-01T05:00:00Z"},
	} {
		c := control(t, "1", domain.VelocityWindow{Calendar: &domain.VelocityCalendar{Unit: domain.VelocityUnit(test.unit), Timezone: test.zone}}, "18")
		now, begin := at(t, test.now), at(t, test.begin)
		for moved, want := range map[time.Duration]int64{0: 5, -time.Millisecond: 0} {
			all := entries{{Number: 1, AtMs: begin.Add(moved).UnixMilli(), Amount: "5", Total: "5"}}
			if s, err := c.Sum(all, now); err != nil || s.Used.Int64() != want {
				t.Errorf("%s in %s at %s: an amount of %s counts %v, want %d (%v)", test.unit, test.zone, test.now, begin.Add(moved), s.Used, want, err)
			}
		}
	}
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	parsed, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// TestAmounts: what is far beyond the threshold's range is compared, not cut.
func TestAmounts(t *testing.T) {
	c := control(t, "99999999999999999999.999999999999999999", rolling("1"), "255", "0")
	huge := new(big.Int).Lsh(big.NewInt(1), 2000)
	if c.Holds(huge) {
		t.Error("an amount beyond all digits is not above the threshold")
	}
	bound, err := c.Parse("99999999999999999999.999999999999999999")
	if err != nil || !c.Holds(bound) || c.Holds(new(big.Int).Add(bound, big.NewInt(1))) {
		t.Errorf("the bound itself: %v", err)
	}
	for text, want := range map[string]string{"0": "0", "0.10": "0.1", "12.000000000000000001": "12.000000000000000001", "007": "7"} {
		n, err := c.Parse(text)
		if err != nil || c.Text(n) != want {
			t.Errorf("%s reads as %v (%v)", text, c.Text(n), err)
		}
	}
}

type problems map[string]string

func (p problems) Add(path, format string, _ ...any) { p[path] = format }

func TestCheck(t *testing.T) {
	good := func() (domain.VelocityDataSource, domain.VelocityAggregation) {
		return domain.VelocityDataSource{ChainAssetTransfer: &domain.VelocityTransfers{Definition: []domain.VelocityAsset{{CAIP19: "eip155:1/slip44:60", Decimals: "18"}}}},
			domain.VelocityAggregation{
				Method: domain.VelocitySum, Operator: domain.VelocityLess, Threshold: "1", Window: rolling("1"),
				GroupBy: domain.VelocityGroupBy{User: &domain.Nothing{}},
			}
	}
	for at, spoil := range map[string]func(*domain.VelocityDataSource, *domain.VelocityAggregation){
		"":           func(*domain.VelocityDataSource, *domain.VelocityAggregation) {},
		"dataSource": func(d *domain.VelocityDataSource, _ *domain.VelocityAggregation) { d.ChainAssetTransfer = nil },
		"dataSource.chainAssetTransfer.definition.0.decimals": func(d *domain.VelocityDataSource, _ *domain.VelocityAggregation) {
			d.ChainAssetTransfer.Definition[0].Decimals = "256"
		},
		"dataSource.chainAssetTransfer.definition.0.caip19": func(d *domain.VelocityDataSource, _ *domain.VelocityAggregation) {
			d.ChainAssetTransfer.Definition[0].CAIP19 = "cosmos:hub/slip44:118"
		},
		"dataSource.chainAssetTransfer.phase": func(d *domain.VelocityDataSource, _ *domain.VelocityAggregation) {
			d.ChainAssetTransfer.Phase = &domain.VelocityPhase{Submission: &domain.Nothing{}}
		},
		"aggregation.method": func(d *domain.VelocityDataSource, _ *domain.VelocityAggregation) {
			d.ChainAssetTransfer, d.ActivityExecution = nil, &domain.VelocityExecutions{}
		},
		"aggregation.threshold": func(_ *domain.VelocityDataSource, a *domain.VelocityAggregation) {
			a.Threshold = strings.Repeat("9", 39)
		},
		"aggregation.window": func(_ *domain.VelocityDataSource, a *domain.VelocityAggregation) {
			a.Window.Infinite = &domain.Nothing{}
		},
		"aggregation.window.rolling.duration": func(_ *domain.VelocityDataSource, a *domain.VelocityAggregation) {
			a.Window = rolling("31622401")
		},
		"aggregation.window.calendar.timezone": func(_ *domain.VelocityDataSource, a *domain.VelocityAggregation) {
			a.Window = domain.VelocityWindow{Calendar: &domain.VelocityCalendar{Unit: domain.VelocityDay, Timezone: "Local"}}
		},
		"aggregation.groupBy": func(_ *domain.VelocityDataSource, a *domain.VelocityAggregation) {
			a.GroupBy.Wallet = &domain.Nothing{}
		},
	} {
		d, a := good()
		spoil(&d, &a)
		found := problems{}
		velocity.Check(&d, &a, found)
		if _, ok := found[at]; len(found) > 1 || ok != (at != "") {
			t.Errorf("%q: found %v", at, found)
		}
	}
	for _, threshold := range []string{"-1", "1e3", ".5", "5.", "0.0000000000000000001", "+1", "1,5", "0x1", " 1", strings.Repeat("1", 38) + ".1"} {
		d, a := good()
		a.Threshold = threshold
		found := problems{}
		velocity.Check(&d, &a, found)
		if found["aggregation.threshold"] == "" {
			t.Errorf("the threshold %q is accepted", threshold)
		}
	}
	for identifier, want := range map[string]bool{"daily": true, "_a1": true, "A": true, "1a": false, "": false, "a-b": false, "in": false, "true": false, "é": false, strings.Repeat("a", 64): true, strings.Repeat("a", 65): false} {
		found := problems{}
		if velocity.CheckIdentifier(identifier, found); (len(found) == 0) != want {
			t.Errorf("the identifier %q: %v", identifier, found)
		}
	}
}
