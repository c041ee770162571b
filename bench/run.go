package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"latchkey/bench/workload"
)

type runCommand struct {
	Latchkey string `default:"bin/latchkey" placeholder:"FILE" help:"Program to measure. Default: ${default}."`
	Postgres string `placeholder:"URL" help:"Administrator of a PostgreSQL that flushes to the disk; a database is made there and dropped. Without it there are no figures for PostgreSQL."`

	Quick         bool          `help:"Only the rows of the summary, which is printed as the last line."`
	Workload      []string      `placeholder:"NAME" help:"Workloads; all by default."`
	Connections   []int         `default:"1,16,64,256" placeholder:"N" help:"Numbers of connections. Default: ${default}."`
	Organizations int           `default:"10000" placeholder:"N" help:"How many organizations the spread rows have; 0: no such rows. Default: ${default}."`
	Rounds        int           `default:"5" placeholder:"N" help:"Rounds, each through all servers. Default: ${default}."`
	Time          time.Duration `default:"1s" help:"Length of one measurement. Default: ${default}."`
	Budget        time.Duration `help:"Make the measurements shorter if the whole run would take longer than this."`

	Peer       string   `placeholder:"URL" help:"Signing endpoint of another server, http://HOST:PORT/PATH, measured beside ours."`
	PeerHeader []string `sep:"none" placeholder:"HEADER" help:"Header for the peer, such as 'X-Vault-Token: …'; may be repeated."`
	PeerBody   string   `default:"{\"input\":\"{base64}\"}" help:"Body for the peer; {hex} and {base64} stand for 32 random bytes. Default: ${default}."`
	PeerWant   string   `placeholder:"TEXT" help:"What a good reply of the peer contains."`
	PeerPID    int      `placeholder:"PID" help:"Process of the peer, to account for its processor time."`

	JSON    string `placeholder:"FILE" help:"Where to write everything as JSON."`
	Dir     string `placeholder:"DIR" help:"Where servers keep their data for the run; it must be on the disk to be measured. Default: the folder for temporary files."`
	Profile string `placeholder:"DIR" help:"After the rounds, load Latchkey once more for each row and put CPU profiles there."`
}

// Run measures and reports.
func (cmd *runCommand) Run(ctx context.Context) error {
	started, busy := time.Now(), loadAverage()
	if err := cmd.check(); err != nil {
		return err
	}
	if cmd.Quick {
		cmd.Organizations = 0
		if cmd.Budget == 0 {
			cmd.Budget = 36 * time.Second
		}
	}
	dir, err := os.MkdirTemp(cmd.Dir, "latchkey-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	site, err := cmd.start(ctx, dir)
	if err != nil {
		return err
	}
	defer site.stop()

	m := &measurement{
		site: site, rounds: cmd.Rounds, time: cmd.Time, warmUp: 250 * time.Millisecond,
		organizations: cmd.Organizations, note: os.Stderr,
	}
	if cmd.Budget > 0 {
		m.deadline = started.Add(cmd.Budget)
	}
	report := newReport(cmd, site, dir)
	report.LoadAverage = busy
	rows, err := m.measure(ctx, cmd.plan(site))
	if err != nil {
		return err
	}
	report.finish(rows, m.time)
	if cmd.Profile != "" {
		if err := m.profile(ctx, rows, cmd.Profile); err != nil {
			return err
		}
	}
	return cmd.publish(os.Stdout, report)
}

func (cmd *runCommand) check() error {
	if cmd.Rounds < 1 || cmd.Time <= 0 || cmd.Organizations < 0 {
		return errors.New("--rounds and --time must be positive, --organizations not negative")
	}
	for _, name := range cmd.Workload {
		if !slices.Contains(workload.Names(), name) {
			return fmt.Errorf("--workload: %q is none: there are %s", name, strings.Join(workload.Names(), ", "))
		}
	}
	for _, n := range cmd.Connections {
		if n < 1 || n > 10_000 {
			return fmt.Errorf("--connections: %d is not between 1 and 10000", n)
		}
	}
	return nil
}

// publish prints the table, writes the file, and prints the summary last.
func (cmd *runCommand) publish(w io.Writer, r *report) error {
	if err := r.table(w); err != nil {
		return err
	}
	if cmd.JSON != "" {
		text, err := r.json()
		if err != nil {
			return err
		}
		if err := os.WriteFile(cmd.JSON, text, 0o644); err != nil {
			return err
		}
	}
	if !cmd.Quick {
		return nil
	}
	summary, err := r.summary()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", summary)
	return err
}
