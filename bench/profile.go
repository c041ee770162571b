package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// profile loads every row of Latchkey once more, and leaves a CPU profile of
// the server in dir.
func (m *meter) profile(all []*series, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, s := range all {
		if s.err != nil || s.target.debug == "" {
			continue
		}
		name := fmt.Sprintf("%s-%s-%d.pprof", s.Workload, s.Target, s.Connections)
		if s.Many {
			name = "many-" + name
		}
		if err := m.profileSeries(s, filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("profile of %s: %w", s.row, err)
		}
	}
	return nil
}

func (m *meter) profileSeries(s *series, file string) error {
	seconds := math.Max(1, math.Round(m.time.Seconds())) // a profile is of whole seconds
	fetched := make(chan error, 1)
	n := int(reserve*s.perSecond*seconds) + 2*s.Connections
	sample, err := m.take(s, n, time.Duration(seconds)*time.Second, func() {
		go func() {
			fetched <- fetch(fmt.Sprintf("http://%s/?seconds=%.0f", s.target.debug, seconds), file)
		}()
	})
	if err != nil {
		return err
	}
	log.Printf("%s: %d requests of %.0f µs", file, sample.Requests, sample.CPU)
	return <-fetched
}

// fetch saves what is at an address.
func fetch(address, file string) error {
	response, err := http.Get(address)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("HTTP %d", response.StatusCode)
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, response.Body)
	return errors.Join(err, out.Close())
}
