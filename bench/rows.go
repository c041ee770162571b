package main

import (
	"cmp"
	"fmt"
	"slices"

	"latchkey/bench/workload"
)

// row is one row of the table: one workload on one server.
type row struct {
	Workload    string
	Connections int
	Many        bool // spread over many organizations
	Target      string
}

func (r row) String() string {
	where := "one organization"
	if r.Many {
		where = "many organizations"
	}
	return fmt.Sprintf("%s on %s, %d connections, %s", r.Workload, r.Target, r.Connections, where)
}

func (r row) on(target string) row {
	r.Target = target
	return r
}

// plan lists the rows of the servers that are there. Those that are compared
// stand together.
func (cmd *runCommand) plan(c *cluster) (all []*series) {
	rows := cmd.rows()
	if cmd.Quick {
		rows = quickRows()
	}
	for _, r := range rows {
		if t := c.targets[r.Target]; t != nil {
			all = append(all, &series{row: r, target: t})
		}
	}
	return all
}

func (cmd *runCommand) rows() (rows []row) {
	names := cmd.Workload
	if len(names) == 0 {
		names = workload.Standard()
	}
	for _, name := range withPlain(names) {
		for _, n := range cmd.Connections {
			for _, many := range []bool{false, true} {
				if many && (cmd.Organizations == 0 || !workload.Spreads(name)) {
					continue
				}
				for _, target := range []string{onBaseline, onSQLite, onSQLite + old, onPostgres, onPostgres + old} {
					rows = append(rows, row{name, n, many, target})
				}
				if name == workload.SignRawPayload && !many {
					rows = append(rows, row{name, n, many, onPeer})
				}
			}
		}
	}
	return rows
}

// withPlain adds the workloads that others are measured against.
func withPlain(names []string) (all []string) {
	for _, name := range names {
		if plain := workload.Plain(name); plain != "" {
			all = append(all, plain)
		}
		all = append(all, name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// quickRows are the rows of the summary and what they are compared with.
func quickRows() (rows []row) {
	for _, s := range summaries {
		rows = append(rows, s.of.on(onBaseline), s.of, s.of.on(s.of.Target+old))
	}
	rows = append(rows, row{workload.SignRawPayload, 64, false, onPeer})
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.Workload, b.Workload), cmp.Compare(a.Connections, b.Connections), cmp.Compare(a.Target, b.Target))
	})
	return slices.Compact(rows)
}

// summaries are the members of the summary: a row, and which of its ratios.
var summaries = []struct {
	name  string
	of    row
	ratio func(*ratio) spread
}{
	{"whoami", row{workload.Whoami, 64, false, onSQLite}, (*ratio).rate},
	{"sign_sqlite", row{workload.SignRawPayload, 64, false, onSQLite}, (*ratio).rate},
	{"sign_sqlite_cpu", row{workload.SignRawPayload, 64, false, onSQLite}, (*ratio).cpu},
	{"sign_policy", row{workload.SignTransaction, 64, false, onSQLite}, (*ratio).rate},
	{"sign_postgres", row{workload.SignRawPayload, 64, false, onPostgres}, (*ratio).rate},
	{"sign_latency", row{workload.SignRawPayload, 1, false, onSQLite}, (*ratio).p50},
	{"get_wallet_account", row{workload.GetWalletAccount, 64, false, onSQLite}, (*ratio).rate},
	{"create_wallet_accounts_hot", row{workload.CreateWalletAccounts, 64, false, onSQLite}, (*ratio).rate},
}
