package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"latchkey/bench/workload"
)

type growthCommand struct {
	Latchkey string `default:"bin/latchkey" placeholder:"FILE" help:"Program to measure. Default: ${default}."`
	Store    string `default:"sqlite" enum:"sqlite,postgres" help:"Store to measure: sqlite or postgres. Default: ${default}."`
	Postgres string `placeholder:"URL" help:"Administrator of a PostgreSQL that flushes to the disk; databases are made there."`

	Activities       []int `default:"1000,100000,1000000" placeholder:"N" help:"Numbers of stored activities of one organization; 0: leave it out. Default: ${default}."`
	Accounts         []int `default:"100,10000,1000000" placeholder:"N" help:"Numbers of accounts of one wallet; 0: leave it out. Default: ${default}."`
	Suborganizations []int `default:"100,10000,1000000" placeholder:"N" help:"Numbers of sub-organizations of one parent; 0: leave it out. Default: ${default}."`

	AccountsAtWork      int `default:"10000" placeholder:"N" help:"Over how many of the accounts requests are spread. Default: ${default}."`
	OrganizationsAtWork int `default:"1000" placeholder:"N" help:"Over how many of the sub-organizations requests are spread. Default: ${default}."`

	Workload    []string      `default:"whoami,get_wallet_account,list_activities,sign_raw_payload,sign_transaction,create_wallet_accounts,create_sub_organization" placeholder:"NAME" help:"Workloads. Default: ${default}."`
	Connections int           `default:"16" placeholder:"N" help:"Number of connections. Default: ${default}."`
	Rounds      int           `default:"5" placeholder:"N" help:"Rounds, each through all sizes; 0: only fill. Default: ${default}."`
	Time        time.Duration `default:"500ms" help:"Length of one measurement. Default: ${default}."`

	Keep    string `placeholder:"DIR" help:"Fill databases there, or go on filling them, and leave them for --reuse. They are measured in copies."`
	Reuse   string `placeholder:"DIR" help:"Take the databases that --keep left there, and fill nothing."`
	Dir     string `placeholder:"DIR" help:"Where databases are measured; it must be on the disk to be measured. Default: the folder for temporary files."`
	JSON    string `placeholder:"FILE" help:"Where to write everything as JSON, after each dimension."`
	Profile string `placeholder:"DIR" help:"After the rounds, load every size once more and put CPU and heap profiles there. Not for figures to keep."`
}

// grownSize is one database: so much of one dimension.
type grownSize struct {
	dimension workload.Dimension
	size      int
	atWork    int
}

func (s grownSize) String() string { return fmt.Sprintf("%s-%d", s.dimension, s.size) }

// Run fills, measures and reports.
func (cmd *growthCommand) Run(ctx context.Context) error {
	busy := loadAverage()
	if err := cmd.check(); err != nil {
		return err
	}
	work, err := os.MkdirTemp(cmd.Dir, "latchkey-growth-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	cellar, err := cmd.openCellar(ctx, work)
	if err != nil {
		return err
	}
	defer cellar.close()
	if err := cellar.fillAll(ctx, cmd.sizes()); err != nil {
		return interrupted(ctx, err, cmd.Keep)
	}
	if cmd.Rounds == 0 {
		return nil
	}
	report := cmd.newReport(work, busy)
	for _, sizes := range cmd.sizes() {
		d, err := cmd.measure(ctx, cellar, sizes)
		if err != nil {
			return interrupted(ctx, err, cmd.Keep)
		}
		report.Dimensions = append(report.Dimensions, d)
		if err := report.publish(os.Stdout, d, cmd.JSON); err != nil {
			return err
		}
	}
	return nil
}

// interrupted says what a signal means for the databases. Servers got it too,
// so err is often about them.
func interrupted(ctx context.Context, err error, keep string) error {
	switch {
	case ctx.Err() == nil:
		return err
	case keep != "":
		return fmt.Errorf("interrupted; the same command with --keep %s goes on", keep)
	}
	return errors.New("interrupted")
}

// openCellar finds or makes the place where filled databases are.
func (cmd *growthCommand) openCellar(ctx context.Context, work string) (*cellar, error) {
	c := &cellar{
		latchkey: cmd.Latchkey, work: work, note: &notes{w: os.Stderr}, profiled: cmd.Profile != "",
		dir: filepath.Join(work, "filled"), mayFill: cmd.Reuse == "",
	}
	if kept := cmd.Keep + cmd.Reuse; kept != "" {
		c.dir, c.keep = filepath.Join(kept, cmd.Store), true
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return nil, err
	}
	if cmd.Store == onSQLite {
		return c, nil
	}
	var err error
	c.postgres, err = dialServer(ctx, cmd.Postgres)
	return c, err
}

// sizes lists what is measured, by dimension, each from small to large.
func (cmd *growthCommand) sizes() (all [][]grownSize) {
	for _, d := range []struct {
		dimension workload.Dimension
		sizes     []int
		atWork    int
	}{
		{workload.Activities, cmd.Activities, 0},
		{workload.Accounts, cmd.Accounts, cmd.AccountsAtWork},
		{workload.SubOrganizations, cmd.Suborganizations, cmd.OrganizationsAtWork},
	} {
		var sizes []grownSize
		for _, n := range slices.Compact(slices.Sorted(slices.Values(d.sizes))) {
			if n > 0 {
				sizes = append(sizes, grownSize{d.dimension, n, min(n, d.atWork)})
			}
		}
		if len(sizes) > 0 {
			all = append(all, sizes)
		}
	}
	return all
}

func (cmd *growthCommand) check() error {
	for _, name := range cmd.Workload {
		if !slices.Contains(workload.Names(), name) {
			return fmt.Errorf("--workload: %q is none: there are %s", name, strings.Join(workload.Names(), ", "))
		}
	}
	for _, n := range slices.Concat(cmd.Activities, cmd.Accounts, cmd.Suborganizations) {
		if n < 0 {
			return fmt.Errorf("a size of %d: sizes must not be negative", n)
		}
	}
	switch {
	case cmd.Rounds < 0 || cmd.Time <= 0 || cmd.Connections < 1 || cmd.Connections > 10_000:
		return errors.New("--rounds must not be negative, --time and --connections must be positive")
	case cmd.AccountsAtWork < 1 || cmd.OrganizationsAtWork < 1:
		return errors.New("--accounts-at-work and --organizations-at-work must be positive")
	case cmd.Keep != "" && cmd.Reuse != "":
		return errors.New("--keep fills a folder, --reuse takes it as it is: give one of them")
	case cmd.Store == onPostgres && cmd.Postgres == "":
		return errors.New("--store postgres needs --postgres")
	case len(cmd.sizes()) == 0:
		return errors.New("no sizes are given")
	case cmd.Rounds == 0 && cmd.Keep == "":
		return errors.New("--rounds 0 only fills, which needs --keep")
	}
	return nil
}
