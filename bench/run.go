package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"latchkey/bench/workload"
)

type runCommand struct {
	Latchkey string `default:"bin/latchkey" placeholder:"FILE" help:"Program to measure. Default: ${default}."`
	Against  string `placeholder:"FILE" help:"Another Latchkey, such as an older build, measured in the same rounds in turn."`
	Postgres string `placeholder:"URL" help:"Administrator of a PostgreSQL that flushes to the disk; databases are made there and dropped. Without it there are no figures for PostgreSQL."`

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

	Grown   string `placeholder:"DIR" help:"With --quick: databases that growth --keep left there, for the members of the summary that compare much with little."`
	JSON    string `placeholder:"FILE" help:"Where to write everything as JSON."`
	Dir     string `placeholder:"DIR" help:"Where servers keep their data for the run; it must be on the disk to be measured. Default: the folder for temporary files."`
	Profile string `placeholder:"DIR" help:"After the rounds, load Latchkey once more for each row and put CPU profiles there."`
}

// Run measures and reports.
func (cmd *runCommand) Run(ctx context.Context) error {
	began := time.Now()
	if err := cmd.check(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(cmd.Dir, "latchkey-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	report := &report{environment: newEnvironment(dir, cmd.Rounds, cmd.Profile != ""), Organizations: cmd.Organizations}
	if cmd.Postgres == "" {
		report.Absent = map[string]string{onPostgres: "no --postgres was given"}
	}
	c, err := cmd.start(ctx, dir)
	if err != nil {
		return err
	}
	defer c.stop()
	m := &meter{time: cmd.Time, warmUp: 250 * time.Millisecond, settle: func() error { return c.settle(ctx) }}
	all := cmd.plan(c)
	if err := m.measure(ctx, all, cmd.Rounds, began, cmd.Budget); err != nil {
		return err
	}
	report.finish(all, m.time)
	if cmd.Profile != "" {
		if err := m.profile(all, cmd.Profile); err != nil {
			return err
		}
	}
	var ofGrown error // without them the other figures count all the same
	if cmd.Quick && cmd.Grown != "" {
		c.stop() // they would share the processors
		report.Grown, ofGrown = cmd.measureGrown(ctx, m.time)
	}
	return errors.Join(cmd.publish(os.Stdout, report), ofGrown)
}

func (cmd *runCommand) check() error {
	if cmd.Quick {
		cmd.Organizations = 0
		if cmd.Budget == 0 {
			cmd.Budget = 36 * time.Second
			if cmd.Against != "" { // half as many rows again
				cmd.Budget += 20 * time.Second
			}
		}
	}
	return checkLoad(cmd.Rounds, cmd.Time, cmd.Connections, cmd.Workload)
}

// checkLoad refuses what cannot be measured.
func checkLoad(rounds int, each time.Duration, connections []int, workloads []string) error {
	if rounds < 0 || each <= 0 {
		return errors.New("--rounds must not be negative, --time must be positive")
	}
	for _, n := range connections {
		if n < 1 || n > 10_000 {
			return fmt.Errorf("--connections: %d is not between 1 and 10000", n)
		}
	}
	return workload.Check(workloads)
}

// publish prints the table, writes the file, and prints the summary last.
func (cmd *runCommand) publish(w io.Writer, r *report) error {
	r.print(w)
	if err := writeJSON(cmd.JSON, r); err != nil || !cmd.Quick {
		return err
	}
	if cmd.Grown == "" {
		fmt.Fprintln(w, "not available: databases that hold much: no --grown was given")
	}
	if cmd.Against != "" {
		fmt.Fprintf(w, "%s\n", r.summary((*figure).ofOld, nil))
	}
	_, err := fmt.Fprintf(w, "%s\n", r.summary((*figure).ofBaseline, r.Grown))
	return err
}
