package postgres

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A standby that becomes a primary begins a new timeline, with the next number.
// The former primary, if it comes back as one, is still on the old timeline: it
// accepts writes, but lacks everything that was acknowledged since. So the
// newest timeline that was seen is remembered, and an older one is refused, at
// connect and whenever a connection is taken from the pool. Before a connection
// is made the other hosts of the URL are asked too, so that a node that saw
// nothing of the change does not begin with the wrong one.

// position is where a server is in the history of its cluster.
type position struct {
	system   string // identifier of the cluster; empty: a database without timelines
	timeline int64
}

// history is the newest position that was seen.
type history struct {
	mu       sync.Mutex
	newest   position
	surveyed time.Time
}

// surveyEvery is how long the answers of the other hosts count.
const surveyEvery = time.Second

// surveyTimeout is how long a host that does not answer is waited for.
const surveyTimeout = 2 * time.Second

const timelineKey = "timeline"

// admit refuses a server that is not at the newest position, and remembers one
// that is.
func (h *history) admit(at position) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.newest.system != "" && h.newest.system != at.system:
		return fmt.Errorf("the server belongs to another database cluster (system identifier %s, not %s)", at.system, h.newest.system)
	case at.timeline < h.newest.timeline:
		return fmt.Errorf("the server is a former primary: it is on timeline %d, but timeline %d was seen; "+
			"make it a standby of the present primary (pg_rewind, or a new pg_basebackup)", at.timeline, h.newest.timeline)
	}
	h.newest = at
	return nil
}

// outdated reports whether a connection is to a former primary.
func (h *history) outdated(conn *pgconn.PgConn) bool {
	timeline, _ := conn.CustomData()[timelineKey].(int64)
	h.mu.Lock()
	defer h.mu.Unlock()
	return timeline < h.newest.timeline
}

// positionOf asks a primary.
func positionOf(ctx context.Context, conn *pgconn.PgConn) (position, error) {
	row, err := one(ctx, conn, `SELECT (SELECT system_identifier FROM pg_control_system()), pg_walfile_name(pg_current_wal_lsn())`)
	switch code(err) {
	case "42883", "0A000": // undefined_function, feature_not_supported
		return position{}, nil
	}
	if err != nil {
		return position{}, fmt.Errorf("asking for the timeline: %w", err)
	}
	if len(row[1]) < 8 {
		return position{}, fmt.Errorf("the server calls its WAL file %q", row[1])
	}
	timeline, err := strconv.ParseInt(row[1][:8], 16, 64) // the name begins with it
	return position{row[0], timeline}, err
}

// checkTimeline refuses a former primary.
func (db *DB) checkTimeline(ctx context.Context, conn *pgconn.PgConn) error {
	at, err := positionOf(ctx, conn)
	if err != nil {
		return err
	}
	row, err := one(ctx, conn, `SELECT system, timeline FROM primary_server`)
	if code(err) == undefinedTable { // not migrated yet
		row, err = []string{at.system, strconv.FormatInt(at.timeline, 10)}, nil
	}
	if err != nil {
		return err
	}
	remembered := position{system: row[0]}
	if remembered.timeline, err = strconv.ParseInt(row[1], 10, 64); err != nil {
		return err
	}
	if remembered.system == at.system {
		if err := (&history{newest: remembered}).admit(at); err != nil {
			return err
		}
	}
	if err := db.history.admit(at); err != nil {
		return err
	}
	conn.CustomData()[timelineKey] = at.timeline
	if remembered == at {
		return nil
	}
	return db.write(ctx, conn, fmt.Sprintf(`UPDATE primary_server SET passed_at = now(), system = '%s', timeline = %d`,
		at.system, at.timeline))
}

// survey asks every host of a URL that names several for its timeline. One that
// does not answer, or is a standby, has nothing to say.
func (db *DB) survey(ctx context.Context, c *pgx.ConnConfig) {
	hosts := hostsOf(&c.Config)
	if len(hosts) < 2 {
		return
	}
	db.history.mu.Lock()
	fresh := time.Since(db.history.surveyed) < surveyEvery
	if !fresh {
		db.history.surveyed = time.Now()
	}
	db.history.mu.Unlock()
	if fresh {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, surveyTimeout)
	defer cancel()
	var wg sync.WaitGroup
	for _, host := range hosts {
		wg.Go(func() {
			conn, err := pgconn.ConnectConfig(ctx, host)
			if err != nil {
				return
			}
			defer func() { _ = conn.Close(ctx) }()
			if at, err := positionOf(ctx, conn); err == nil {
				_ = db.history.admit(at) // if it is older, it is refused when it is used
			}
		})
	}
	wg.Wait()
}

// hostsOf divides a config with several hosts into one for each.
func hostsOf(c *pgconn.Config) (hosts []*pgconn.Config) {
	all := append([]*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}, c.Fallbacks...)
	for _, f := range all {
		i := slices.IndexFunc(hosts, func(h *pgconn.Config) bool { return h.Host == f.Host && h.Port == f.Port })
		if i >= 0 { // the same one, with or without TLS
			hosts[i].Fallbacks = append(hosts[i].Fallbacks, f)
			continue
		}
		host := c.Copy()
		host.Host, host.Port, host.TLSConfig = f.Host, f.Port, f.TLSConfig
		host.Fallbacks, host.ValidateConnect, host.OnNotice = nil, nil, nil
		hosts = append(hosts, host)
	}
	return hosts
}
