// Package process runs the servers of a benchmark as processes of their own,
// and reads how much processor time and memory a process uses.
//
// A child ends when Stop is called, and also when the benchmark dies, however
// it dies: a server left behind would spoil the next run.
package process

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Child is a server that was started.
type Child struct {
	PID     int
	Host    string        // HOST:PORT
	Ready   string        // what it answered when it was ready
	ReadyIn time.Duration // from its start

	process *os.Process
	exited  chan struct{}
}

const (
	// readyLimit is generous: a server may have to recover what a killed one left.
	readyLimit = 2 * time.Minute
	// pollEvery is also the resolution of the time until a server is ready.
	pollEvery = 2 * time.Millisecond
)

// FreeHost is an address on the loopback interface for a server to come. Its
// port is below those that the kernel hands out itself, so that no connection
// takes it meanwhile.
func FreeHost() (string, error) {
	for range 100 {
		host := fmt.Sprintf("127.0.0.1:%d", 20_000+rand.IntN(12_000))
		if listener, err := net.Listen("tcp", host); err == nil {
			return host, listener.Close()
		}
	}
	return "", fmt.Errorf("no port is free")
}

// Start runs a program that writes to the file log, and returns when GET
// /readyz at host is answered with 200.
func Start(log, host, program string, args ...string) (*Child, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = file, file
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	began := time.Now()
	c := &Child{Host: host, exited: make(chan struct{})}
	if err := c.run(cmd); err != nil {
		return nil, err
	}
	c.PID, c.process = cmd.Process.Pid, cmd.Process
	if err := c.await(); err != nil {
		c.Stop()
		return nil, fmt.Errorf("%s: %w:\n%s", program, err, tail(log))
	}
	c.ReadyIn = time.Since(began)
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

// await asks until the server is ready.
func (c *Child) await() error {
	client := http.Client{Timeout: readyLimit, Transport: &http.Transport{DisableKeepAlives: true}}
	deadline := time.After(readyLimit)
	for {
		select {
		case <-c.exited:
			return fmt.Errorf("it ended before it was ready")
		case <-deadline:
			return fmt.Errorf("it is not ready after %v", readyLimit)
		case <-time.After(pollEvery):
		}
		reply, err := client.Get("http://" + c.Host + "/readyz")
		if err != nil {
			continue // it does not listen yet
		}
		text, err := io.ReadAll(reply.Body)
		_ = reply.Body.Close()
		if err == nil && reply.StatusCode == http.StatusOK {
			c.Ready = string(text)
			return nil
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
