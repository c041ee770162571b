package servertest

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"latchkey/internal/server/config"
)

// StartExample runs the service on SQLite for an Example function, which has no
// testing.TB: what would fail a test panics. The caller calls stop at the end.
func StartExample() (s *Server, stop func()) {
	e := new(example)
	return Start(e, SQLite(e), config.Default()), e.stop
}

// example is the testing.TB of an Example, as far as [Start] needs one.
type example struct {
	testing.TB
	cleanups []func()
}

func (e *example) stop() {
	for _, cleanup := range slices.Backward(e.cleanups) {
		cleanup()
	}
}

func (e *example) Helper() {}

func (e *example) Cleanup(f func()) { e.cleanups = append(e.cleanups, f) }

func (e *example) TempDir() string {
	dir, err := os.MkdirTemp("", "latchkey-example-")
	if err != nil {
		panic(err)
	}
	e.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (e *example) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (e *example) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (e *example) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (e *example) Failed() bool                      { return false }
