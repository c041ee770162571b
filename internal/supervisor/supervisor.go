// Package supervisor tells systemd how the server is (sd_notify(3), sd_watchdog_enabled(3)).
// Without systemd, or in a unit of another type, nothing is told.
package supervisor

import (
	"context"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// Supervisor is the one that started this process; its zero value is none.
type Supervisor struct {
	socket   string
	watchdog time.Duration // within which it wants to hear that the process works; 0: not at all
}

// FromEnvironment is the supervisor that the environment names. It takes it out of
// there: programs that this one starts do not speak for it.
func FromEnvironment() Supervisor {
	s := Supervisor{socket: os.Getenv("NOTIFY_SOCKET")}
	usec, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	pid := os.Getenv("WATCHDOG_PID")
	if err == nil && usec > 0 && (pid == "" || pid == strconv.Itoa(os.Getpid())) {
		s.watchdog = time.Duration(usec) * time.Microsecond
	}
	for _, name := range []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"} {
		_ = os.Unsetenv(name) // it cannot fail for these
	}
	return s
}

// Ready says that the server answers; status is for people.
func (s Supervisor) Ready(status string) { s.tell("READY=1", "STATUS="+status) }

// Status says for people what the server does.
func (s Supervisor) Status(status string) { s.tell("STATUS=" + status) }

// Stopping says that the server has begun to stop, which may take so long.
func (s Supervisor) Stopping(atMost time.Duration) {
	s.tell("STOPPING=1", "STATUS=shutting down", extension(atMost))
}

// extendBy is what is asked for each time; more often than that.
const (
	extendBy    = 30 * time.Second
	extendEvery = 10 * time.Second
)

// Waiting says what the start waits for, and asks for more time until the function is
// called that it returns.
func (s Supervisor) Waiting(status string) (done func()) {
	if s.socket == "" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(extendEvery)
		defer tick.Stop()
		for {
			s.tell("STATUS="+status, extension(extendBy))
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// Watch says, three times in each period of the watchdog, that the server works, as
// long as works says so. It returns when ctx ends.
func (s Supervisor) Watch(ctx context.Context, works func(context.Context) error) {
	if s.socket == "" || s.watchdog == 0 {
		return
	}
	every := s.watchdog / 3
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		asked, cancel := context.WithTimeout(ctx, every)
		if works(asked) == nil {
			s.tell("WATCHDOG=1")
		}
		cancel()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func extension(d time.Duration) string {
	return "EXTEND_TIMEOUT_USEC=" + strconv.FormatInt(d.Microseconds(), 10)
}

// tell sends one message. That it does not arrive is no reason to do anything: then
// there is no one who waits for it.
func (s Supervisor) tell(lines ...string) {
	if s.socket == "" {
		return
	}
	// A name that begins with @ is in Linux's abstract space; net knows that form.
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: s.socket, Net: "unixgram"})
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = conn.Write([]byte(strings.Join(lines, "\n"))) // as above
}
