// Package process runs the servers of a benchmark as processes of their own,
// and reads how much processor time and memory a process uses.
//
// A child ends when Stop is called, and also when the benchmark dies, however
// it dies: a server left behind would spoil the next run.
package process

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
)

// Child is a server that was started.
type Child struct {
	PID   int
	Ready Line      // the line by which it said that it is ready
	Began time.Time // when it was started

	process *os.Process
	exited  chan struct{}
}

// Line is what a server logs when it is ready, as JSON.
type Line struct {
	Message string `json:"msg"`
	Address string `json:"address"` // the base URL at which it answers
	Signer  string `json:"signer"`  // baseline: the Ethereum address of its key
	Debug   string `json:"debug"`   // profiled servers: the base URL of profiles
}

const (
	// readyIn is generous: a server may have to recover what a killed one left.
	readyIn = 2 * time.Minute
	// pollEvery is also the resolution of the time until a server is ready.
	pollEvery = 2 * time.Millisecond
)

// Start runs a program that writes to the file log, and returns when a line of
// JSON there says that it is ready.
func Start(log, program string, args ...string) (*Child, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = file, file
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	c := &Child{Began: time.Now(), exited: make(chan struct{})}
	if err := c.run(cmd); err != nil {
		return nil, err
	}
	c.PID, c.process = cmd.Process.Pid, cmd.Process
	if c.Ready, err = c.await(log); err != nil {
		c.Stop()
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	return c, nil
}

// run starts the command on a thread that lives as long as the child: the
// kernel sends Pdeathsig when the thread ends that started it.
func (c *Child) run(cmd *exec.Cmd) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is in its log
			close(c.exited)
		}
	}()
	return <-started
}

// await waits for the line in the log.
func (c *Child) await(log string) (Line, error) {
	deadline := time.After(readyIn)
	for {
		select {
		case <-c.exited:
			return Line{}, fmt.Errorf("it ended before it was ready:\n%s", tail(log))
		case <-deadline:
			return Line{}, fmt.Errorf("it is not ready after %v:\n%s", readyIn, tail(log))
		case <-time.After(pollEvery):
		}
		text, _ := os.ReadFile(log)
		for found := range bytes.Lines(text) {
			var line Line
			if json.Unmarshal(found, &line) == nil && line.Message == "ready" {
				return line, nil
			}
		}
	}
}

// tail is the end of a log, for messages.
func tail(log string) string {
	text, err := os.ReadFile(log)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(text[max(0, len(text)-4096):]))
}

// Stop ends the child: by a signal, and if that does not help, by force.
func (c *Child) Stop() {
	_ = c.process.Signal(syscall.SIGTERM)
	select {
	case <-c.exited:
	case <-time.After(time.Minute):
		_ = c.process.Kill() // it fails only when the child has ended
		<-c.exited
	}
}
