// Package postgres is the clustered store: any number of Latchkey nodes over
// one PostgreSQL, or a database that speaks its protocol. A node caches nothing
// that another could change: every read and every check is a statement.
//
// Commits that arrive together travel in one round trip as one implicit
// transaction and share one flush. A refused commit changes no row and raises
// no error, so it does not affect the others of its group; if the database does
// report an error, each commit of the group is tried alone.
//
// Invariants: a commit is acknowledged after the server confirmed the end of
// its transaction, with synchronous_commit on; one that the server has, but its
// synchronous standby perhaps not, is not shown (connect.go says how); an activity and the changes it
// makes appear together or not at all (statements.go says why); an error whose
// outcome is unknown is returned, never retried.
//
// It refuses servers older than PostgreSQL 15, standbys, former primaries
// (timeline.go), sessions that could lose a commit, and schemas newer than it
// knows. It uses no advisory locks, no LISTEN and no sequences.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"latchkey/internal/store"
	"latchkey/internal/store/group"
	"latchkey/internal/store/migration"
)

var _ store.Driver = (*DB)(nil)

// ErrClosed is returned by a commit after [DB.Close].
var ErrClosed = group.ErrClosed

// minServer is the oldest supported server_version_num.
const minServer = 15_00_00

// committers is how many groups are written at once: one is collected while the
// other is flushed. Measured; more only make the groups smaller.
const committers = 2

// Values of synchronous_commit with which a commit is not lost.
const (
	flushOn    = "on"
	flushApply = "remote_apply"
)

// idleAfter is how long a connection that is not needed is kept.
const idleAfter = 20 * time.Second

// pingAfter is how long a connection may be idle before it is pinged.
const pingAfter = 100 * time.Millisecond

// Config tunes the driver. The zero value is usable.
type Config struct {
	MaxConns int           // for reads; 0: what the URL says, at least 8
	Timeout  time.Duration // of one statement; 0: statement_timeout of the URL, else 15 s
	Linger   time.Duration // longest wait for more commits before a flush; 0: 1 ms; negative: none
	// Durability is [Local] or [Replica]; empty: what is found, or was found
	// before.
	Durability string
	// loading opens a database into which rows are being loaded; see [Loader].
	loading bool
}

// DB is an open database.
type DB struct {
	reads   *pool
	writes  *pool // its own, so that reads cannot keep commits waiting
	queue   *group.Queue
	barrier *store.Commit // in the queue it stands for barrierSQL
	timeout time.Duration
	schema  int64
	flush   string      // synchronous_commit
	wanted  string      // Config.Durability
	replica atomic.Bool // see Durability
	pooled  bool        // a pooler stands before the server
	history history
	// questions are those for versions.
	questions questions

	wg        sync.WaitGroup
	closeOnce sync.Once
}

// Open connects to the database at url and brings its schema up to date.
func Open(ctx context.Context, url string, cfg Config) (*DB, error) {
	db, err := open(ctx, url, cfg)
	if err != nil {
		return nil, fmt.Errorf("opening the PostgreSQL database: %w", causeFirst(err))
	}
	return db, nil
}

func open(ctx context.Context, url string, cfg Config) (_ *DB, err error) {
	if cfg.Timeout, err = statementTimeout(url, cfg.Timeout); err != nil {
		return nil, err
	}
	steps, err := migration.Load(migrations)
	if err != nil {
		return nil, err
	}
	db := &DB{
		queue:   group.New(group.Config{Writers: committers, Linger: cfg.Linger}),
		barrier: new(store.Commit),
		timeout: cfg.Timeout,
		schema:  int64(len(steps)),
		wanted:  cfg.Durability,
	}
	db.questions = questions{ask: db.askVersions, timeout: deadline(cfg.Timeout)}
	defer func() {
		if err != nil {
			db.closePools()
		}
	}()
	if db.pooled, err = behindPooler(ctx, url, cfg.Timeout); err != nil {
		return nil, err
	}
	if db.reads, err = db.openPool(ctx, url, cfg, 0); err != nil {
		return nil, err
	}
	if db.writes, err = db.openPool(ctx, url, cfg, committers); err != nil {
		return nil, err
	}
	if err := db.prepare(ctx, steps, cfg.loading); err != nil {
		return nil, err
	}
	for range committers {
		db.wg.Go(db.commit)
	}
	return db, nil
}

// prepare connects and brings the schema up to date. A node that has
// begun has a connection in each pool, so that it can always do something.
func (db *DB) prepare(ctx context.Context, steps []migration.Step, loading bool) error {
	waiting, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	conn, err := db.writes.acquire(waiting)
	if err != nil {
		return err
	}
	defer db.writes.release(conn)
	var unfinished bool
	if err := conn.QueryRow(ctx, selectUnfinished).Scan(&unfinished); err != nil || unfinished && !loading {
		return cmp.Or(err, store.ErrUnfinished)
	}
	if err := migrate(ctx, conn.Conn(), steps); err != nil {
		return err
	}
	// Again, now that there is a place to remember what is found.
	if err := db.validate(ctx, conn.Conn().PgConn()); err != nil {
		return err
	}
	_, err = read(waiting, db, zeroOrOne(pgx.RowTo[int64]), selectSchema)
	return err
}

// statementTimeout is how long a statement may take.
func statementTimeout(url string, configured time.Duration) (time.Duration, error) {
	if configured > 0 {
		return configured, nil
	}
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		return 0, err
	}
	given, ok := c.ConnConfig.RuntimeParams["statement_timeout"]
	if !ok {
		return 15 * time.Second, nil
	}
	ms, err := strconv.ParseUint(given, 10, 31)
	if err != nil || ms == 0 {
		return 0, errors.New("statement_timeout in the URL must be a whole number of milliseconds above 0, such as 15000")
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// openPool makes a pool of size connections, 0 for the configured number.
func (db *DB) openPool(ctx context.Context, url string, cfg Config, size int32) (*pool, error) {
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	// Connections are made when they are needed, in the context of the one who
	// needs them.
	c.MinConns, c.MinIdleConns = 0, 0
	if size == 0 {
		// Those that only a burst needed are left to other nodes soon: a database
		// that admits few would refuse the next one that starts. The few that write
		// stay, so that a node can always do something.
		c.MaxConnIdleTime, c.HealthCheckPeriod = idleAfter, idleAfter/4
	}
	switch {
	case size > 0:
		c.MaxConns = size
	case cfg.MaxConns > 0:
		c.MaxConns = int32(min(cfg.MaxConns, 10_000))
	default:
		c.MaxConns = max(c.MaxConns, 8)
	}
	p := c.ConnConfig.RuntimeParams
	if p["application_name"] == "" {
		p["application_name"] = applicationName
	}
	p["statement_timeout"] = strconv.FormatInt(cfg.Timeout.Milliseconds(), 10)
	if p["synchronous_commit"] != flushApply { // which is stronger
		p["synchronous_commit"] = flushOn
	}
	db.flush = p["synchronous_commit"]
	if db.pooled {
		withoutSession(c.ConnConfig)
	}
	// After a failover the pool is full of dead connections. One that was busy
	// a moment ago is not pinged, so that this costs nothing under load.
	c.ShouldPing = func(_ context.Context, p pgxpool.ShouldPingParams) bool { return p.IdleDuration > pingAfter }
	if c.ConnConfig.ConnectTimeout == 0 { // for each host
		c.ConnConfig.ConnectTimeout = deadline(cfg.Timeout)
	}
	neverCancel(c.ConnConfig)
	c.ConnConfig.OnNotice = noteWarning
	c.ConnConfig.ValidateConnect = db.validate
	c.BeforeConnect = func(ctx context.Context, c *pgx.ConnConfig) error {
		db.survey(ctx, c)
		return nil
	}
	c.PrepareConn = func(_ context.Context, conn *pgx.Conn) (bool, error) {
		return !db.history.outdated(conn.PgConn()), nil
	}
	return newPool(ctx, c)
}

// Ready implements [store.Driver]. A schema that a newer node has migrated in the
// meantime is accepted: nodes are replaced one after the other. A database whose
// standby does not answer is not ready.
func (db *DB) Ready(ctx context.Context) error {
	at, err := read(ctx, db, zeroOrOne(pgx.RowTo[int64]), selectSchema)
	if err != nil {
		return fmt.Errorf("the database does not answer: %w", err)
	}
	if at < db.schema {
		return fmt.Errorf("the database has schema %d, not %d", at, db.schema)
	}
	return db.certain(ctx)
}

// Commit implements [store.Driver]. The commit must not be changed after the
// call, not even when ctx ended it.
func (db *DB) Commit(ctx context.Context, c *store.Commit) error {
	if c.Checks() {
		return db.checkVersion(ctx, c)
	}
	return db.queue.Do(ctx, c)
}

// checkVersion is a commit that writes nothing.
func (db *DB) checkVersion(ctx context.Context, c *store.Commit) error {
	v, err := db.Version(ctx, c.Org)
	if err == nil && v != c.Version {
		err = store.ErrConflict
	}
	return err
}

// certain returns when everything that was visible before the call is where
// synchronous replication wants it.
func (db *DB) certain(ctx context.Context) error {
	if err := db.queue.Do(ctx, db.barrier); err != nil {
		return fmt.Errorf("making certain of earlier commits: %w", err)
	}
	return nil
}

// Close implements [store.Driver].
func (db *DB) Close() error {
	db.closeOnce.Do(func() {
		db.queue.Close()
		db.wg.Wait()
		db.closePools()
	})
	return nil
}

func (db *DB) closePools() {
	if db.reads != nil {
		db.reads.conns.Close()
	}
	if db.writes != nil {
		db.writes.conns.Close()
	}
}

// code returns the SQLSTATE of an error the server reported.
func code(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}
