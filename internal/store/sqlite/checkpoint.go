package sqlite

import (
	"cmp"
	"database/sql/driver"
	"sync"
	"sync/atomic"
	"time"
)

// How the WAL is kept short. Measured: letting a commit checkpoint whenever
// the WAL is full halves the throughput; a background checkpoint alone lets
// the WAL grow without end, because it can start again from its beginning only
// when it is neither read nor written. So a second connection moves pages into
// the database again and again, and now and then the writer, between two groups,
// finishes the work and restarts the WAL. Every 100 ms instead of 400 would cost
// a signature a twentieth: the same few pages change all the time.
//
// How much is in the WAL depends on how many commits share a transaction: a signature
// alone writes nine pages of 4 KB, one of many writes less than half of that. So the
// background checkpoints count the pages; records and bytes are for what comes between
// two of them.
const (
	checkpointEvery = 400 * time.Millisecond
	restartPages    = 64 << 10
	restartRecords  = 16 << 10
	restartBytes    = 64 << 20
	// A long read can keep the WAL from being restarted; the writer does not
	// wait for it, but tries again this many records later.
	restartRetry   = 512
	restartTimeout = "PRAGMA busy_timeout = 20"
	normalTimeout  = "PRAGMA busy_timeout = 5000"
)

// wal counts what was written.
type wal struct {
	dirty atomic.Bool  // something was written since the last checkpoint
	pages atomic.Int64 // in the WAL at the last background checkpoint

	// Checkpoints exclude each other; SQLite would answer busy.
	mu sync.Mutex

	// of the writer, under its lock
	records, bytes int
	limit          int   // of records; 0: restartRecords
	maxPages       int64 // 0: restartPages
}

// wrote counts what a transaction added.
func (w *wal) wrote(records, bytes int) {
	w.records += records
	w.bytes += bytes
	w.dirty.Store(true)
}

// restart restarts the WAL when it is long enough and possible. Errors are not
// reported: the commits are safe in the WAL, and if the disk is broken the next
// commit fails.
func (w *wal) restart(c *conn) {
	limit := cmp.Or(w.limit, restartRecords)
	maxPages := cmp.Or(w.maxPages, restartPages)
	if c == nil || (w.records < limit && w.bytes < restartBytes && w.pages.Load() < maxPages) {
		return
	}
	if !w.mu.TryLock() {
		return // the next group will do
	}
	defer w.mu.Unlock()
	_ = c.exec(restartTimeout)
	busy, _, err := checkpoint(c, "RESTART")
	_ = c.exec(normalTimeout)
	w.pages.Store(0) // if it was not possible, the next checkpoint says it again
	if err != nil || busy {
		w.records = limit - restartRetry
		w.bytes = min(w.bytes, restartBytes*3/4)
		return
	}
	w.records, w.bytes = 0, 0
}

// run checkpoints in the background until stop, and closes its connection.
func (w *wal) run(c *conn, stop <-chan struct{}) {
	t := time.NewTicker(checkpointEvery)
	defer t.Stop()
	defer func() { _ = c.close() }()
	for {
		select {
		case <-stop:
			return
		case <-t.C:
		}
		if !w.dirty.Swap(false) {
			continue
		}
		w.passive(c)
	}
}

// passive moves the pages that it can without making a reader or the writer wait.
func (w *wal) passive(c *conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, pages, err := checkpoint(c, "PASSIVE")
	if err != nil {
		w.dirty.Store(true) // try again
		return
	}
	w.pages.Store(pages)
}

// checkpoint reports whether it could not finish, and how many pages are in the WAL.
func checkpoint(c *conn, mode string) (busy bool, pages int64, err error) {
	err = c.query(func(row []driver.Value) error {
		n, _ := row[0].(int64)
		busy = n != 0
		pages, _ = row[1].(int64)
		return nil
	}, "PRAGMA wal_checkpoint("+mode+")")
	return busy, pages, err
}
