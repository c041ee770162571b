// Package host is what the plugins of Latchkey have in common: they run under the
// protocol of age's plugins, keep their memory to themselves, and end in time.
package host

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"filippo.io/age"
	"filippo.io/age/plugin"
	"golang.org/x/sys/unix"
)

// patience is how long hardware may take: the one who waits is a server at its start.
const patience = 30 * time.Second

// Guard keeps a secret at a place, such as a token, and gives it back.
type Guard interface {
	// Wrap makes a stanza of a secret.
	Wrap(place string, secret []byte, ask Ask) (*age.Stanza, error)
	// Unwrap is its way back.
	Unwrap(place string, stanza *age.Stanza, ask Ask) ([]byte, error)
}

// Ask asks the one who started the plugin for a PIN.
type Ask func(prompt string) (string, error)

// Main runs a plugin, and returns its exit status.
func Main(name string, guard Guard) int {
	harden()
	p, err := plugin.New(name)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if len(os.Args) < 2 || !strings.HasPrefix(os.Args[1], "--age-plugin") {
		fmt.Fprintf(os.Stderr, "age-plugin-%s is started by latchkey, for its seal.\n", name)
		return 2
	}
	ask := func(prompt string) (string, error) { return p.RequestValue(prompt, true) }
	p.HandleRecipient(func(place []byte) (age.Recipient, error) {
		return &side{name, string(place), guard, ask}, nil
	})
	p.HandleIdentity(func(place []byte) (age.Identity, error) {
		return &side{name, string(place), guard, ask}, nil
	})
	return p.Main()
}

// harden keeps secrets out of core dumps and from other processes of the user. Where
// it fails, the supervisor has forbidden it and set the same.
func harden() {
	debug.SetTraceback("none")
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}

// side is a guard at a place, as age sees it.
type side struct {
	name  string
	place string
	guard Guard
	ask   Ask
}

// Wrap wraps.
func (s *side) Wrap(secret []byte) ([]*age.Stanza, error) {
	stanza, err := inTime(func() (*age.Stanza, error) { return s.guard.Wrap(s.place, secret, s.ask) })
	if err != nil {
		return nil, err
	}
	stanza.Type = s.name
	return []*age.Stanza{stanza}, nil
}

// Unwrap unwraps the first stanza that is of this plugin.
func (s *side) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	for _, stanza := range stanzas {
		if stanza.Type == s.name {
			return inTime(func() ([]byte, error) { return s.guard.Unwrap(s.place, stanza, s.ask) })
		}
	}
	return nil, age.ErrIncorrectIdentity
}

// inTime gives up on hardware that does not answer. What it does then is of no
// account: the process ends.
func inTime[T any](do func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := do()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-time.After(patience):
		var none T
		return none, fmt.Errorf("the hardware did not answer within %v", patience)
	}
}
