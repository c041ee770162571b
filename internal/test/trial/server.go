package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"latchkey/client"
)

// Server is one `latchkey serve`, with a folder of its own as on a machine of its own.
type Server struct {
	Dir          string
	Log          string // file
	program, url string
	cmd          *exec.Cmd
	exited       chan struct{}
}

// NewServer writes a config; store is what it says of the store. The address is free now, and the kernel hands it out to no
// one else while the listener of a former server is remembered; should it be taken all
// the same, the server says so.
func NewServer(program, dir, store string) (*Server, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return nil, err
	}
	s := &Server{program: program, Dir: dir, Log: filepath.Join(dir, "log"), url: "http://" + address}
	text := fmt.Sprintf("listen: %s\nstore: %s\nmasterKey: file:master.key\nallowSwap: true\n"+
		"timeouts: {lameDuck: 0s}\nlog: {level: warn}\nlimits: {wallets: 0}\n", address, store)
	return s, os.WriteFile(s.Config(), []byte(text), 0o600)
}

func (s *Server) Config() string { return filepath.Join(s.Dir, "latchkey.yaml") }

// Initialize creates the parent organization and returns the key of its root user.
func (s *Server) Initialize(ctx context.Context) (Key, error) {
	path := filepath.Join(s.Dir, "root.key")
	public, err := s.Run(ctx, "keygen", "--out", path)
	if err != nil {
		return Key{}, err
	}
	text, err := s.Run(ctx, "init", "--config", s.Config(), "--organization", "Acme", "--user", "Ada", "--public-key", strings.TrimSpace(public))
	if err != nil {
		return Key{}, err
	}
	var created struct {
		OrganizationID string `json:"organizationId"`
	}
	if err := json.Unmarshal([]byte(text), &created); err != nil {
		return Key{}, err
	}
	file, err := os.ReadFile(path)
	if err != nil {
		return Key{}, err
	}
	private, err := client.ParseKeyFile(string(file))
	if err != nil {
		return Key{}, err
	}
	return Key{created.OrganizationID, private.Stamper()}, nil
}

// Run runs a command of the program to its end.
func (s *Server) Run(ctx context.Context, arguments ...string) (string, error) {
	cmd := exec.CommandContext(ctx, s.program, arguments...)
	var out, complaints strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("latchkey %s: %w\n%s%s", arguments[0], err, out.String(), complaints.String())
	}
	return out.String(), nil
}

func (s *Server) Start() error {
	log, err := os.OpenFile(s.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(s.program, "serve", "--config", s.Config(), "--wait", "3m")
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait() // whether it should have ended is asked elsewhere
		close(exited)
	}()
	s.cmd, s.exited = cmd, exited
	return nil
}

// Runs is an error if the server has ended by itself.
func (s *Server) Runs() error {
	select {
	case <-s.exited:
		text, _ := os.ReadFile(s.Log)
		return fmt.Errorf("a server has ended by itself:\n%s", text[max(0, len(text)-2000):])
	default:
		return nil
	}
}

// Ready waits until the server takes writes.
func (s *Server) Ready() error {
	for begun := time.Now(); time.Since(begun) < 3*time.Minute; time.Sleep(50 * time.Millisecond) {
		if err := s.Runs(); err != nil {
			return err
		}
		reply, err := http.Get(s.url + "/readyz")
		if err != nil {
			continue
		}
		_ = reply.Body.Close()
		if reply.StatusCode == http.StatusOK {
			return nil
		}
	}
	return errors.New("a server is not ready after three minutes")
}

func (s *Server) End(signal syscall.Signal) {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(signal)
	<-s.exited
}
