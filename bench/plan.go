package main

import (
	"cmp"
	"slices"

	"latchkey/bench/workload"
)

// cell is one row of the table: one workload on one server.
type cell struct {
	Workload    string
	Connections int
	Many        bool // spread over many organizations
	Target      string
}

// The servers.
const (
	onFloor    = "floor"
	onSQLite   = "sqlite"
	onPostgres = "postgres"
	onPeer     = "peer"
)

// plan lists the cells of the servers that are there. Those that are compared
// stand together.
func (cmd *runCommand) plan(s *site) []cell {
	cells := cmd.cells()
	if cmd.Quick {
		cells = append(quick(), cmd.peers(64)...)
	}
	return slices.DeleteFunc(cells, func(c cell) bool { return s.targets[c.Target] == nil })
}

func (cmd *runCommand) cells() []cell {
	workloads := cmd.Workload
	if len(workloads) == 0 {
		workloads = workload.Standard()
	}
	var cells []cell
	for _, name := range workloads {
		for _, n := range cmd.Connections {
			for _, many := range []bool{false, true} {
				if many && (cmd.Organizations == 0 || !workload.Spreads(name)) {
					continue
				}
				for _, target := range []string{onFloor, onSQLite, onPostgres} {
					cells = append(cells, cell{name, n, many, target})
				}
				if name == workload.SignRawPayload && !many {
					cells = append(cells, cmd.peers(n)...)
				}
			}
		}
	}
	return cells
}

func (cmd *runCommand) peers(connections int) []cell {
	if cmd.Peer == "" {
		return nil
	}
	return []cell{{workload.SignRawPayload, connections, false, onPeer}}
}

// quick are the rows of the summary and what they are compared with.
func quick() []cell {
	var cells []cell
	for _, r := range ratios {
		for _, c := range []cell{r.of.on(onFloor), r.of} {
			if !slices.Contains(cells, c) {
				cells = append(cells, c)
			}
		}
	}
	slices.SortStableFunc(cells, func(a, b cell) int {
		return cmp.Or(cmp.Compare(a.Workload, b.Workload), cmp.Compare(a.Connections, b.Connections))
	})
	return cells
}

func (c cell) on(target string) cell {
	c.Target = target
	return c
}

// ratios are the figures of the summary: a cell, and which of its figures is
// compared with the floor's.
var ratios = []struct {
	name   string
	of     cell
	figure func(*ofFloor) float64
}{
	{"whoami", cell{workload.Whoami, 64, false, onSQLite}, (*ofFloor).rate},
	{"sign_sqlite", cell{workload.SignRawPayload, 64, false, onSQLite}, (*ofFloor).rate},
	{"sign_sqlite_cpu", cell{workload.SignRawPayload, 64, false, onSQLite}, (*ofFloor).cpu},
	{"sign_policy", cell{workload.SignTransaction, 64, false, onSQLite}, (*ofFloor).rate},
	{"sign_postgres", cell{workload.SignRawPayload, 64, false, onPostgres}, (*ofFloor).rate},
	{"sign_latency", cell{workload.SignRawPayload, 1, false, onSQLite}, (*ofFloor).p50},
}
