package sqlite

import (
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
const (
	checkpointEvery = 400 * time.Millisecond
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
	dirty atomic.Bool // something was written since the last checkpoint

	// Checkpoints exclude each other; SQLite would answer busy.
	mu sync.Mutex

	// of the writer, under its lock
	records, bytes int
	limit          int // of records; 0: restartRecords
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
	limit := w.limit
	if limit == 0 {
		limit = restartRecords
	}
	if c == nil || (w.records < limit && w.bytes < restartBytes) {
		return
	}
	if !w.mu.TryLock() {
		return // the next group will do
	}
	defer w.mu.Unlock()
	_ = c.exec(restartTimeout)
	busy, err := checkpoint(c, "RESTART")
	_ = c.exec(normalTimeout)
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
		w.mu.Lock()
		_, err := checkpoint(c, "PASSIVE")
		w.mu.Unlock()
		if err != nil {
			w.dirty.Store(true) // try again
		}
	}
}

// checkpoint reports whether it could not finish.
func checkpoint(c *conn, mode string) (busy bool, err error) {
	err = c.query(func(row []driver.Value) error {
		n, _ := row[0].(int64)
		busy = n != 0
		return nil
	}, "PRAGMA wal_checkpoint("+mode+")")
	return busy, err
}
