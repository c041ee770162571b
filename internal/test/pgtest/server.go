package pgtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"latchkey/internal/test/testkit"
)

// Server is a private PostgreSQL.
type Server struct {
	bin  string // folder of its programs
	dir  string // everything it writes
	port int
	cred *syscall.Credential // nil: as this process

	settings []string // beyond those that every server gets, as name=value

	process *os.Process
	exited  chan struct{} // closed when process has ended
}

// Start starts a private server for one test, one that the test may kill. It
// is stopped when the test is over.
//
// The settings are name=value.
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	s, err := start(settings...)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(s.stop)
	return s
}

// URL is like the function [URL], on this server.
func (s *Server) URL(t testing.TB) string {
	t.Helper()
	return database(t, s.admin())
}

// Kill ends every process of the server at once, without a chance to write
// anything more. It may be frozen.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	if err := s.End(); err != nil {
		t.Fatalf("pgtest: %v", err)
	}
}

// End is [Server.Kill] without a test.
func (s *Server) End() error {
	// Orphans come to this process, which can wait for their end: a new server
	// refuses to start while one of them still holds the shared memory.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) }()
	children, err := s.freeze()
	if err != nil {
		return err
	}
	for _, pid := range append(children, s.process.Pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	<-s.exited
	for _, pid := range children {
		for {
			if _, err := syscall.Wait4(pid, nil, 0, nil); !errors.Is(err, syscall.EINTR) {
				break
			}
		}
	}
	return nil
}

// Freeze stops every process of the server, as a machine that hangs: its
// connections stay open and nothing comes from them.
func (s *Server) Freeze(t testing.TB) {
	t.Helper()
	if _, err := s.freeze(); err != nil {
		t.Fatalf("pgtest: %v", err)
	}
}

// freeze returns the processes that the server has started.
func (s *Server) freeze() (children []int, err error) {
	// The postmaster stops first, so that no new child appears unseen.
	if err := s.process.Signal(syscall.SIGSTOP); err != nil {
		return nil, err
	}
	// The signal takes effect a moment later; until then it can still fork.
	stopped := testkit.Await(func() bool {
		f := stat(s.process.Pid)
		return len(f) > 0 && f[0] == "T"
	})
	if !stopped {
		return nil, errors.New("the server does not stop")
	}
	children = ChildrenOf(s.process.Pid)
	for _, pid := range children {
		_ = syscall.Kill(pid, syscall.SIGSTOP)
	}
	return children, nil
}

// Thaw lets a server that is frozen go on.
func (s *Server) Thaw() {
	for _, pid := range append(ChildrenOf(s.process.Pid), s.process.Pid) {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
}

// Restart starts the server again after [Server.Kill], and returns when it has
// recovered and answers.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	if err := s.Begin(); err != nil {
		t.Fatalf("pgtest: starting again: %v", err)
	}
}

// Begin is [Server.Restart] without a test.
func (s *Server) Begin() error {
	for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		err := s.launch()
		// A process of the old server that the kill missed, because it was
		// just being born, ends by itself when it finds its parent dead.
		if err == nil || !strings.Contains(err.Error(), "pre-existing shared memory block") || time.Since(begun) > testkit.Patience {
			return err
		}
	}
}

func (s *Server) admin() string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", s.port)
}

// start makes a cluster and runs it. The settings are name=value.
func start(settings ...string) (*Server, error) {
	return startFrom((*Server).initialize, settings)
}

// startFrom runs a cluster that fill makes.
func startFrom(fill func(*Server) error, settings []string) (*Server, error) {
	removeStale()
	dir, err := os.MkdirTemp("", fmt.Sprintf("%s%d-", dirPrefix, os.Getpid()))
	if err != nil {
		return nil, err
	}
	s, err := startIn(dir, fill, settings)
	if err != nil {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return s, err
}

// StartIn is [Start] without a test, in an empty folder of the caller.
func StartIn(dir string, settings ...string) (*Server, error) {
	return startIn(dir, (*Server).initialize, settings)
}

func startIn(dir string, fill func(*Server) error, settings []string) (*Server, error) {
	bin, err := Programs()
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin, dir: dir, settings: settings}
	if os.Geteuid() == 0 { // PostgreSQL refuses to run as root
		if s.cred, err = Credential("postgres"); err == nil {
			err = os.Chown(dir, int(s.cred.Uid), int(s.cred.Gid))
		}
	}
	if err == nil {
		err = fill(s)
	}
	for try := 0; err == nil; try++ {
		// Another process may have taken the port in the meantime.
		if s.port, err = FreePort(); err != nil {
			break
		}
		if err = s.launch(); err == nil {
			return s, nil
		}
		if try < 10 && errors.Is(err, errPort) {
			err = nil
		}
	}
	return nil, err
}

var errPort = errors.New("another process has the port")

func (s *Server) initialize() error {
	return s.program("initdb", "--pgdata", s.data(), "--username", "postgres",
		"--auth", "trust", "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync", "--no-instructions")
}

// program runs a program of PostgreSQL to its end.
func (s *Server) program(name string, arguments ...string) error {
	cmd := exec.Command(filepath.Join(s.bin, name), arguments...)
	cmd.Dir, cmd.Env = s.dir, Environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.cred}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// launch starts the server process and waits until it answers.
func (s *Server) launch() error {
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(filepath.Join(s.bin, "postgres"), "-D", s.data(),
		"-c", "listen_addresses=127.0.0.1", "-c", "port="+strconv.Itoa(s.port),
		"-c", "unix_socket_directories="+s.dir, "-c", "max_connections=200", "-c", "deadlock_timeout=200ms")
	for _, setting := range s.settings {
		cmd.Args = append(cmd.Args, "-c", setting)
	}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.dir, Environment(), log, log
	// Should the test process die, the kernel tells the server to quit.
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.cred, Pdeathsig: syscall.SIGQUIT}

	started := make(chan error)
	exited := make(chan struct{})
	go func() {
		// The kernel means the death of the thread, so the thread must stay.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
			close(exited)
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	s.process, s.exited = cmd.Process, exited

	ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
	defer cancel()
	go func() { // do not wait for a server that has given up
		select {
		case <-exited:
			cancel()
		case <-ctx.Done():
		}
	}()
	conn, err := connect(ctx, s.admin())
	if err != nil {
		s.kill()
		out, _ := os.ReadFile(log.Name())
		if strings.Contains(string(out), "Address already in use") {
			err = fmt.Errorf("%w: %w", errPort, err)
		}
		return fmt.Errorf("the server does not answer: %w\n%s", err, out)
	}
	// Another server may have come first, and answered in our server's place.
	var data string
	if err = conn.QueryRow(ctx, "SHOW data_directory").Scan(&data); err == nil && data != s.data() {
		err = errPort
	}
	if err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))); err != nil {
		s.kill()
	}
	return err
}

// stop shuts the server down at once and removes its folder.
func (s *Server) stop() {
	s.kill()
	_ = os.RemoveAll(s.dir)
}

func (s *Server) kill() {
	_ = s.process.Signal(syscall.SIGQUIT)
	select {
	case <-s.exited:
		return
	default:
		s.Thaw()
	}
	select {
	case <-s.exited:
	case <-time.After(testkit.Patience):
		_ = s.process.Kill()
		<-s.exited
	}
}

// Environment keeps PG* variables of the caller away from the server.
func Environment() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "PG") {
			env = append(env, v)
		}
	}
	return env
}

// FreePort finds a port below those that the kernel hands out on its own: a
// server that was killed gets its port again.
func FreePort() (port int, err error) {
	const lowest, many = 10_000, 10_000
	for range 100 {
		port = lowest + rand.IntN(many)
		var l net.Listener
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("no free port: %w", err)
}
