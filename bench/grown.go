package main

import (
	"context"
	"fmt"
	"time"

	"latchkey/bench/workload"
)

// grown are the members of the summary that compare a database that holds much with
// one that holds little.
var grown = []struct {
	name          string
	dimension     string
	workload      string
	little, large int
}{
	{"list_activities_grown", workload.Activities, workload.ListActivities, 1_000, 1_000_000},
	{"sign_many_accounts", workload.Accounts, workload.SignRawPayload, 1, 10_000},
}

// measureGrown measures them on the databases of --grown.
func (cmd *runCommand) measureGrown(ctx context.Context, each time.Duration) (map[string]spread, error) {
	found := map[string]spread{}
	for _, g := range grown {
		growth := growthCommand{
			Latchkey: cmd.Latchkey, AccountsAtWork: g.large, Workload: []string{g.workload}, Connections: 16,
			Rounds: cmd.Rounds, Time: each, Reuse: cmd.Grown, Dir: cmd.Dir,
		}
		sizes := []int{g.little, g.large}
		switch g.dimension {
		case workload.Activities:
			growth.Activities = sizes
		case workload.Accounts:
			growth.Accounts = sizes
		}
		report, err := growth.run(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.name, err)
		}
		large := report.Dimensions[0].Sizes[1].Rows[0]
		if large.OfSmallest != nil {
			found[g.name] = large.OfSmallest.Rate
		}
	}
	return found, nil
}
