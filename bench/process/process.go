// Package process runs the servers of a benchmark as processes of their own,
// and reads how much processor time a process has used.
//
// A child ends when Stop is called, and also when the benchmark dies, however
// it dies: a server left behind would spoil the next run.
package process

import (
	"bufio"
	"errors"
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
	PID int
	// Ready is the line by which it said that it is ready.
	Ready Line
	// Began is when it was started.
	Began time.Time

	process *os.Process
	exited  chan struct{}
}

// Line is what a server logs when it is ready, as JSON.
type Line struct {
	Message string `json:"msg"`
	Address string `json:"address"` // the base URL at which it answers
	Signer  string `json:"signer"`  // floor: the Ethereum address of its key
	Debug   string `json:"debug"`   // profiled servers: where profiles are to be had
}

const (
	// readyIn is for a server on an empty store, and for one that has to sort
	// out what a killed one left behind.
	readyIn = 2 * time.Minute
	// lookEvery is also how exactly the time until it is ready is known.
	lookEvery = 2 * time.Millisecond
)

// Start runs a program that writes to the file log until it says there, in a
// line of JSON, that it is ready.
func Start(log, program string, args ...string) (*Child, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = file, file
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started, exited := make(chan error), make(chan struct{})
	began := time.Now()
	go func() {
		// The kernel means the death of the thread that started the child, so
		// the thread must stay.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is in its log
			close(exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	c := &Child{PID: cmd.Process.Pid, Began: began, process: cmd.Process, exited: exited}
	if c.Ready, err = c.await(log); err != nil {
		c.Stop()
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	return c, nil
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
		case <-time.After(lookEvery):
		}
		if line, ok := find(log); ok {
			return line, nil
		}
	}
}

func find(log string) (Line, bool) {
	file, err := os.Open(log)
	if err != nil {
		return Line{}, false
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var line Line
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Message == "ready" {
			return line, true
		}
	}
	return Line{}, false
}

// tail is the end of a log, for messages.
func tail(log string) string {
	text, err := os.ReadFile(log)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(text[max(0, len(text)-4096):]))
}

// Stop ends the child, asking first.
func (c *Child) Stop() {
	_ = c.process.Signal(syscall.SIGTERM)
	select {
	case <-c.exited:
	case <-time.After(time.Minute):
		if err := c.process.Kill(); !errors.Is(err, os.ErrProcessDone) {
			<-c.exited
		}
	}
}
