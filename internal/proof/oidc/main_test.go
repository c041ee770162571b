package oidc

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"latchkey/internal/test/oidctest"
	"latchkey/internal/test/testkit"
)

func TestMain(m *testing.M) {
	code := m.Run()
	oidctest.Clean()
	// A fetch ends with its time-out and leaves nothing behind. The client of
	// the tests keeps its connections; the verifier's does not.
	if code == 0 {
		if err := leak(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// leak gives what is about to end the time that a busy machine may need.
func leak() (err error) {
	for begun := time.Now(); time.Since(begun) < testkit.Patience; {
		if err = goleak.Find(
			goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
			goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
		); err == nil {
			break
		}
	}
	return err
}
