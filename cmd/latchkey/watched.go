package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/supervisor"
)

// watched is what systemd is told about a server.
type watched struct {
	supervisor.Supervisor
	answers atomic.Pointer[server.Server] // nil: it does not serve yet, or any more
}

func newWatched(by supervisor.Supervisor) *watched { return &watched{Supervisor: by} }

// begin answers the watchdog until the function is called that it returns: that the
// process lives, and once the server is there, that it answers.
func (w *watched) begin(ctx context.Context) (end func()) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx)) // also while it drains
	var watching sync.WaitGroup
	watching.Go(func() {
		w.Watch(ctx, func(ctx context.Context) error {
			if srv := w.answers.Load(); srv != nil {
				return srv.Answers(ctx)
			}
			return nil
		})
	})
	return func() {
		stop()
		watching.Wait()
	}
}

// serving says that the server is ready, and when ctx ends that it stops.
func (w *watched) serving(ctx context.Context, srv *server.Server, c *config.Config) {
	w.answers.Store(srv)
	w.Ready("serving at " + srv.BaseURL())
	context.AfterFunc(ctx, func() {
		w.answers.Store(nil) // its listeners close
		w.Stopping(c.Timeouts.LameDuck + c.Timeouts.Drain + 5*time.Second)
	})
}
