package testkit

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// built are the programs, made once for the test process. This is state of the
// process, not of the package.
var built struct {
	sync.Mutex
	dir string
}

// BuildCommand builds the command of a package, once, and returns its path.
func BuildCommand(pkg string) (string, error) {
	built.Lock()
	defer built.Unlock()
	if built.dir == "" {
		dir, err := os.MkdirTemp("", "latchkey-testkit-")
		if err != nil {
			return "", err
		}
		built.dir = dir
	}
	path := filepath.Join(built.dir, filepath.Base(pkg))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	// The flags are those of make build: what it compiled is not compiled again.
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", path, pkg)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", pkg, err, output)
	}
	return path, nil
}

// CleanCommands removes the programs that [BuildCommand] made; for TestMain, after
// the tests. Without it files stay behind in the folder for temporary ones.
func CleanCommands() {
	built.Lock()
	defer built.Unlock()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
		built.dir = ""
	}
}

// StartCommand builds the command of a package, which stands in for the outside
// world, and runs it until the test ends. Its first line on stdout is {"url":"…"},
// which is returned; it ends when its stdin is closed.
func StartCommand(t testing.TB, pkg string) (url string) {
	t.Helper()
	path, err := BuildCommand(pkg)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(path)
	command.Stderr = os.Stderr
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		kill := time.AfterFunc(2*time.Minute, func() { _ = command.Process.Kill() })
		defer kill.Stop()
		if err := command.Wait(); err != nil {
			t.Errorf("%s did not end cleanly: %v", pkg, err)
		}
	})
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil {
		t.Fatalf("%s did not start: %v", pkg, err)
	}
	var ready struct{ URL string }
	if err := json.Unmarshal(line, &ready); err != nil || ready.URL == "" {
		t.Fatalf("%s said %q instead of its URL", pkg, line)
	}
	return ready.URL
}
