package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"latchkey/client"
	"latchkey/internal/test/testkit"
)

// smallFile is the largest file that a program run by smallfiles may write.
const smallFile = 1 << 20

// runSmallFiles is the program `smallfiles PROGRAM ARGUMENTS…`: it runs a program
// whose files cannot grow, as on a disk without room. The limit can be raised from
// outside.
func runSmallFiles() {
	becomeProgram(unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: smallFile, Max: unix.RLIM_INFINITY}))
}

// becomeProgram runs the program that the arguments name in place of this one,
// unless what was to be prepared for it has failed.
func becomeProgram(err error) {
	var program string
	if err == nil {
		program, err = exec.LookPath(os.Args[1])
	}
	if err == nil {
		err = syscall.Exec(program, os.Args[1:], os.Environ())
	}
	fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[0], err)
	os.Exit(100)
}

// TestReadyWithoutRoom fills the disk of a server. It is then not ready, and says
// why; what was acknowledged can be read, and nothing was acknowledged that is not
// there. With room it is ready again.
func TestReadyWithoutRoom(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	s := &instance{cmd: exec.Command("smallfiles", "latchkey", "dev", "--listen", "127.0.0.1:0", "--data", dir), dir: dir, log: new(strings.Builder)}
	s.cmd.Stderr = s.log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() }) // it has mostly ended already
	testkit.Until(t, "the server answers", s.ready)
	stamper, err := client.NewAPIKeyStamper(client.P256, s.dev.APIPrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	c := &client.Client{BaseURL: s.dev.BaseURL, Stamper: stamper, OrganizationID: s.dev.OrganizationID, HTTP: &http.Client{Timeout: testkit.Patience}}
	rename := func(name string) error {
		body, err := c.SubmitBody("ACTIVITY_TYPE_UPDATE_USER", client.UpdateUserParameters{UserID: s.dev.UserID, UserName: name})
		if err != nil {
			t.Fatal(err)
		}
		// The body is kept as it came, space and all.
		_, err = c.Post(t.Context(), "/public/v1/submit/update_user", append(body, strings.Repeat(" ", 32<<10)...))
		return err
	}
	named := func() string {
		user, err := c.GetUser(t.Context(), client.GetUserRequest{UserID: s.dev.UserID})
		if err != nil {
			t.Fatal(err)
		}
		return user.User.UserName
	}
	get := func(path string) (status int, text string) {
		reply, err := http.Get(s.dev.BaseURL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		body, err := io.ReadAll(reply.Body)
		if err != nil {
			t.Fatal(err)
		}
		return reply.StatusCode, string(body)
	}
	// The log of the database is full first, and has room again when it was
	// copied into the database: single requests fail before all do.
	last, refused := "", 0
	testkit.Until(t, "it is not ready", func() bool {
		for i := range 20 {
			name := fmt.Sprint("name ", refused, " ", i)
			err := rename(name)
			var refusal *client.Error
			switch {
			case err == nil:
				last = name
			case errors.As(err, &refusal) && refusal.Status == http.StatusServiceUnavailable:
				refused++
			default:
				t.Fatal(err)
			}
		}
		status, text := get("/readyz")
		return status == http.StatusServiceUnavailable && strings.Contains(text, "not ready: the database cannot read or write its disk")
	})
	if last == "" || refused == 0 {
		t.Errorf("the last name is %q, %d were refused", last, refused)
	}
	// It is alive all the same, and reads.
	if status, text := get("/healthz"); status != http.StatusOK {
		t.Errorf("healthz: HTTP %d %s", status, text)
	}
	if name := named(); name != last {
		t.Errorf("it is called %q, and %q was acknowledged last", name, last)
	}
	if err := unix.Prlimit(s.cmd.Process.Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}, nil); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "it is ready again", func() bool { status, _ := get("/readyz"); return status == http.StatusOK })
	if err := rename("after"); err != nil || named() != "after" {
		t.Errorf("with room again: %q, %v", named(), err)
	}
	if err := s.stop(); err != nil {
		t.Errorf("%v\n%s", err, s.log)
	}
}
