package main

import (
	"math"
	"slices"
	"time"

	"latchkey/bench/load"
)

// sample is what one round measured.
type sample struct {
	Requests int
	Verified int     // replies of which the signature or result was checked
	Rate     float64 // requests per second
	// Latencies, in microseconds.
	P50, P99, P999 float64
	// Processor time, in microseconds per request.
	CPU, StoreCPU, GeneratorCPU float64
	GeneratorShare              float64 // of the three together
	ResidentMB                  float64 // of the server, at the end
}

func newSample(r *load.Result, cpu, store, generator time.Duration) *sample {
	per := func(d time.Duration) float64 { return micros(d) / float64(r.Requests()) }
	return &sample{
		Requests: r.Requests(), Rate: float64(r.Requests()) / r.Elapsed.Seconds(),
		P50: micros(r.Quantile(0.5)), P99: micros(r.Quantile(0.99)), P999: micros(r.Quantile(0.999)),
		CPU: per(cpu), StoreCPU: per(store), GeneratorCPU: per(generator),
		GeneratorShare: float64(generator) / float64(max(1, cpu+store+generator)),
	}
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// spread is a figure over all rounds.
type spread struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
}

func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	values = slices.Sorted(slices.Values(values))
	n := len(values)
	return spread{round(values[0]), round((values[(n-1)/2] + values[n/2]) / 2), round(values[n-1])}
}

// round keeps what means something: three digits after the point.
func round(v float64) float64 { return math.Round(v*1000) / 1000 }

// over is one figure of all rounds.
func (s *series) over(figure func(sample) float64) spread {
	values := make([]float64, len(s.samples))
	for i, sample := range s.samples {
		values[i] = figure(sample)
	}
	return spreadOf(values)
}

// ratio is a row divided by another: within each round, and then over the
// rounds.
type ratio struct {
	Rate spread `json:"requestsPerSecond"`
	CPU  spread `json:"serverCpu"`
	P50  spread `json:"p50"`
}

func (r *ratio) rate() spread { return r.Rate }
func (r *ratio) cpu() spread  { return r.CPU }
func (r *ratio) p50() spread  { return r.P50 }

// to divides a series by another; nil if one of them has no figures.
func (s *series) to(by *series) *ratio {
	if by == nil || by == s || s.err != nil || by.err != nil {
		return nil
	}
	return &ratio{
		Rate: s.divide(by, func(s sample) float64 { return s.Rate }),
		CPU:  s.divide(by, func(s sample) float64 { return s.CPU }),
		P50:  s.divide(by, func(s sample) float64 { return s.P50 }),
	}
}

// divide goes round by round. What cannot be divided is left out.
func (s *series) divide(by *series, figure func(sample) float64) spread {
	var values []float64
	for i := range min(len(s.samples), len(by.samples)) {
		if divisor := figure(by.samples[i]); divisor > 0 {
			values = append(values, figure(s.samples[i])/divisor)
		}
	}
	return spreadOf(values)
}
