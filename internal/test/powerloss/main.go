// Command powerloss lets the power fail under a server and its database, again and again
// under load, and compares what is left with a ledger that it keeps itself:
// docs/operations.md, "Power loss, tried out". `make powerloss` builds and runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"latchkey/internal/test/forgetful"
	"latchkey/internal/test/pgtest"
	"latchkey/internal/test/trial"
)

func main() {
	p := powerloss{}
	flag.StringVar(&p.program, "latchkey", "bin/latchkey", "the program")
	flag.StringVar(&p.dir, "dir", "", "folder for everything (required)")
	flag.IntVar(&p.losses, "losses", 20, "how many times the power fails")
	flag.StringVar(&p.store, "store", "sqlite", "sqlite or postgres")
	flag.BoolVar(&p.lies, "lies", false, "a disk that flushes nothing when it is asked to: the trial must fail")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := p.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "powerloss:", err)
		os.Exit(1)
	}
}

type powerloss struct {
	program, dir, store string
	losses              int
	lies                bool

	disk     *forgetful.FS
	database *pgtest.Server // nil: SQLite
	server   *trial.Server
	load     *trial.Load
}

func (p *powerloss) run(ctx context.Context) (err error) {
	if p.dir == "" || p.losses < 1 || p.store != "sqlite" && p.store != "postgres" {
		return errors.New("give a folder with -dir, at least one loss, and -store sqlite or postgres")
	}
	begun := time.Now()
	mount := filepath.Join(p.dir, "disk")
	if err := os.MkdirAll(mount, 0o755); err != nil {
		return err
	}
	if p.disk, err = forgetful.Mount(mount); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.disk.Close()) }()
	defer func() { err = errors.Join(p.kill(), err) }()
	if err := p.begin(ctx, mount); err != nil {
		return err
	}
	p.load.Start()
	for i := range p.losses {
		if err = p.lose(ctx, i); err != nil {
			break
		}
	}
	p.load.End()
	if err == nil {
		err = p.load.CheckAll(ctx)
	}
	fmt.Printf("\npower losses           %d in %v\n", p.losses, time.Since(begun).Round(time.Second))
	return errors.Join(err, p.load.Report())
}

// begin makes an installation whose every byte is on the forgetful disk.
func (p *powerloss) begin(ctx context.Context, mount string) (err error) {
	store := "sqlite:latchkey.db"
	if p.store == "postgres" {
		dir := filepath.Join(mount, "postgres")
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		// A socket is not what the disk is for.
		if p.database, err = pgtest.StartIn(dir, "unix_socket_directories="); err != nil {
			return err
		}
		store = strconv.Quote(p.database.Admin())
	}
	if p.server, err = trial.NewServer(p.program, filepath.Join(mount, "server"), store); err != nil {
		return err
	}
	p.server.Log = filepath.Join(p.dir, "log")
	p.disk.Flush() // what was made up to here is ours
	p.disk.Lies = p.lies
	parent, err := p.server.Initialize(ctx)
	if err != nil {
		return err
	}
	p.load = trial.NewLoad([]*trial.Server{p.server}, parent, 0, os.Stdout)
	return p.serve()
}

func (p *powerloss) serve() error { return errors.Join(p.server.Start(), p.server.Ready()) }

// kill ends what stands on the disk.
func (p *powerloss) kill() (err error) {
	if p.server != nil {
		p.server.End(syscall.SIGKILL)
	}
	if p.database != nil {
		err = p.database.End()
	}
	return err
}

// lose lets the power fail once, and checks what is left.
func (p *powerloss) lose(ctx context.Context, i int) error {
	if err := p.load.NextRound(ctx, 1+rand.IntN(2000)); err != nil {
		return err
	}
	p.load.ResetGap()
	p.disk.Cut()
	// The server still runs, on a disk that takes nothing: it must not acknowledge.
	time.Sleep(rand.N(30 * time.Millisecond))
	if err := p.kill(); err != nil {
		return err
	}
	// Nothing that was not flushed arrives, or all of it, or any part.
	arrives := []float64{0, rand.Float64(), 0.5, 1}[i%4]
	if err := p.disk.Restore(arrives); err != nil {
		return err
	}
	if p.database != nil {
		if err := p.database.Begin(); err != nil {
			return err
		}
	}
	if err := p.serve(); err != nil {
		return err
	}
	if err := p.load.AcknowledgeMore(ctx, 20); err != nil {
		return err
	}
	without := p.load.Gap()
	if err := p.load.Check(ctx); err != nil {
		return err
	}
	fmt.Printf("%3d/%d: %3.0f %% of what was not flushed arrived; %.1f s without writes; %s\n", i+1, p.losses, 100*arrives, without.Seconds(), p.load.Sum())
	return nil
}
