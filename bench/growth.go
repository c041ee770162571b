package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"time"

	"latchkey/bench/workload"
)

type growthCommand struct {
	Latchkey string `default:"bin/latchkey" placeholder:"FILE" help:"Program to measure, on its embedded store. Default: ${default}."`

	Activities       []int `default:"1000,100000,1000000" placeholder:"N" help:"Numbers of stored activities of one organization; 0: leave it out. Default: ${default}."`
	Accounts         []int `default:"100,10000,1000000" placeholder:"N" help:"Numbers of accounts of one wallet; 0: leave it out. Default: ${default}."`
	Suborganizations []int `default:"100,10000,1000000" placeholder:"N" help:"Numbers of sub-organizations of one parent; 0: leave it out. Default: ${default}."`

	AccountsAtWork      int `default:"10000" placeholder:"N" help:"Over how many of the accounts requests are spread. Default: ${default}."`
	OrganizationsAtWork int `default:"1000" placeholder:"N" help:"Over how many of the sub-organizations requests are spread. Default: ${default}."`

	Workload    []string      `default:"whoami,get_wallet_account,list_activities,sign_raw_payload,sign_transaction,create_wallet_accounts,create_sub_organization" placeholder:"NAME" help:"Workloads. Default: ${default}."`
	Connections int           `default:"16" placeholder:"N" help:"Number of connections. Default: ${default}."`
	Rounds      int           `default:"5" placeholder:"N" help:"Rounds, each through all sizes; 0: only fill. Default: ${default}."`
	Time        time.Duration `default:"500ms" help:"Length of one measurement. Default: ${default}."`

	Keep  string `placeholder:"DIR" xor:"folder" help:"Fill databases there that are not there yet, and leave them for --reuse. They are measured in copies."`
	Reuse string `placeholder:"DIR" xor:"folder" help:"Take the databases that --keep left there, and fill nothing."`
	Dir   string `placeholder:"DIR" help:"Where databases are measured; it must be on the disk to be measured. Default: the folder for temporary files."`
	JSON  string `placeholder:"FILE" help:"Where to write everything as JSON, after each dimension."`
}

// Run fills, measures and reports.
func (cmd *growthCommand) Run(ctx context.Context) error {
	_, err := cmd.run(ctx)
	return err
}

func (cmd *growthCommand) run(ctx context.Context) (*growthReport, error) {
	if err := checkLoad(cmd.Rounds, cmd.Time, []int{cmd.Connections}, cmd.Workload); err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp(cmd.Dir, "latchkey-growth-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	report := &growthReport{Kind: kindGrowth, environment: newEnvironment(work, cmd.Rounds, false), Store: onSQLite, Connections: cmd.Connections}
	report.Seconds = cmd.Time.Seconds()
	filled := cmp.Or(cmd.Keep, cmd.Reuse, work)
	f := &fixtures{latchkey: cmd.Latchkey, dir: filepath.Join(filled, onSQLite), work: work, fill: cmd.Reuse == ""}
	dimensions := cmd.dimensions()
	for _, d := range dimensions {
		for _, s := range d.Sizes {
			if err := f.prepare(ctx, s); err != nil {
				return nil, fmt.Errorf("filling %s: %w", s, err)
			}
		}
	}
	if cmd.Rounds == 0 {
		return report, nil
	}
	for _, d := range dimensions {
		if err := cmd.measure(ctx, f, d); err != nil {
			return nil, fmt.Errorf("measuring %s: %w", d.Name, err)
		}
		d.finish()
		report.Dimensions = append(report.Dimensions, d)
		report.print(os.Stdout, d)
		if err := writeJSON(cmd.JSON, report); err != nil {
			return nil, err
		}
	}
	return report, nil
}

// dimensions lists what is measured, each from small to large.
func (cmd *growthCommand) dimensions() (all []*dimension) {
	for _, given := range []struct {
		name   string
		sizes  []int
		atWork int
	}{
		{workload.Activities, cmd.Activities, 0},
		{workload.Accounts, cmd.Accounts, cmd.AccountsAtWork},
		{workload.SubOrganizations, cmd.Suborganizations, cmd.OrganizationsAtWork},
	} {
		d := &dimension{Name: given.name}
		for _, n := range slices.Compact(slices.Sorted(slices.Values(given.sizes))) {
			if n > 0 {
				d.Sizes = append(d.Sizes, &size{dimension: d.Name, Size: n, AtWork: min(n, max(0, given.atWork))})
			}
		}
		if len(d.Sizes) > 0 {
			all = append(all, d)
		}
	}
	return all
}

// measure goes through the sizes of one dimension in rounds. In each, all sizes
// are served at the same time and take turns with every workload.
func (cmd *growthCommand) measure(ctx context.Context, f *fixtures, d *dimension) error {
	order := slices.Clone(d.Sizes)
	for _, s := range order {
		for _, name := range cmd.Workload {
			many := s.dimension == workload.SubOrganizations && workload.Spreads(name) && name != workload.ListActivities
			s.series = append(s.series, &series{row: row{name, cmd.Connections, many, onSQLite}})
		}
	}
	for round := range cmd.Rounds {
		log.Printf("%s: round %d of %d, %v each", d.Name, round+1, cmd.Rounds, cmd.Time)
		err := cmd.round(ctx, f, order, round == 0)
		for _, s := range order {
			s.stop()
		}
		if err != nil {
			return err
		}
		slices.Reverse(order) // so that none always comes after the same
	}
	for _, s := range d.Sizes {
		err := evict(filepath.Join(f.work, s.String(), databaseFile))
		if err == nil {
			s.ColdStartMs, err = f.start(ctx, s, false)
		}
		s.stop()
		if err != nil {
			return fmt.Errorf("starting %s from the disk: %w", s, err)
		}
	}
	return nil
}

// round starts every size and measures.
func (cmd *growthCommand) round(ctx context.Context, f *fixtures, sizes []*size, first bool) error {
	for _, s := range sizes {
		startMs, err := f.start(ctx, s, first || s.Bytes < copyAgain)
		if err != nil {
			return fmt.Errorf("starting %s: %w", s, err)
		}
		s.startMs = append(s.startMs, startMs)
		s.restMB = append(s.restMB, s.target.residentMB())
	}
	m := &meter{time: cmd.Time, warmUp: min(cmd.Time, 250*time.Millisecond)}
	for k := range cmd.Workload {
		for _, s := range sizes {
			s.series[k].target = s.target
			if err := each(ctx, s.series[k:k+1], m.warm, m.round); err != nil {
				return err
			}
		}
	}
	for _, s := range sizes {
		s.loadedMB = append(s.loadedMB, s.target.residentMB())
	}
	return nil
}
