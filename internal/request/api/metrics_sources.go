package api

import (
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// collectors ask the sources.
func (s Sources) collectors() []prometheus.Collector {
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "latchkey_build_info", Help: "1, with the version of the server and of the Go that it was built by.",
		ConstLabels: prometheus.Labels{"version": s.Version, "goversion": runtime.Version()},
	})
	build.Set(1)
	gauge := func(name, help string, value func() float64, labels prometheus.Labels) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels}, value)
	}
	counter := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, value)
	}
	const connections = "Connections to the database, by what they do."
	return []prometheus.Collector{
		build,
		gauge("latchkey_pool_connections", connections, func() float64 { return float64(s.Pool().Used) }, prometheus.Labels{"state": "used"}),
		gauge("latchkey_pool_connections", connections, func() float64 { return float64(s.Pool().Idle) }, prometheus.Labels{"state": "idle"}),
		gauge("latchkey_pool_connections_max", "Connections to the database that there can be.", func() float64 { return float64(s.Pool().Most) }, nil),
		counter("latchkey_pool_waits_total", "How often a connection to the database was not there at once.", func() float64 { return float64(s.Pool().Waits) }),
		counter("latchkey_pool_wait_seconds_total", "Time that was waited for connections to the database.", func() float64 { return s.Pool().Waited.Seconds() }),
		gauge("latchkey_vault_data_keys", "Data keys of organizations that are open in memory.", func() float64 { return float64(s.DataKeys()) }, nil),
		gauge("latchkey_vault_memory_bytes", "Memory that secrets have.", func() float64 { return float64(s.VaultMemory()) }, nil),
		gauge("latchkey_log_entries", "Entries of the log, as this server saw it last.", func() float64 {
			entries, _ := s.Log()
			return float64(entries)
		}, nil),
		gauge("latchkey_log_grown_timestamp_seconds", "When this server saw the log grow last, in seconds since 1970; at first its start.", s.grown(time.Now()), nil),
	}
}

func (s Sources) grown(start time.Time) func() float64 {
	return func() float64 {
		_, at := s.Log()
		if at.Before(start) {
			at = start
		}
		return float64(at.UnixMilli()) / 1000
	}
}
