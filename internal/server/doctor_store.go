package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/store/postgres"
	"latchkey/internal/translog"
)

// database opens the store, and says what is there.
func (d *doctor) database(ctx context.Context) {
	const name = "database"
	c := d.config
	path, embedded := strings.CutPrefix(c.Store, "sqlite:")
	if embedded && missing(path) {
		if dir := filepath.Dir(path); missing(dir) {
			d.fail(name, "the folder "+dir+" does not exist", "mkdir -m 700 "+dir)
			return
		}
		d.warn(name, "there is no "+path+" yet: the first start makes it", "latchkey init --config "+d.file)
		return
	}
	if !embedded {
		facts, err := postgres.ReadFacts(ctx, c.Store, d.Now)
		if err != nil {
			d.fail(name, err.Error(), "let this machine reach the database as store says")
			return
		}
		d.facts = &facts
		if wrong, fix := serverProblem(&facts, c); wrong != "" {
			d.fail(name, wrong, fix)
			return
		}
		if facts.Remembered == "" {
			d.warn(name, "PostgreSQL "+facts.Version+" answers; the database is empty: the first start fills it", "latchkey init --config "+d.file)
			return
		}
	}
	image, err := peek(ctx, c.Store)
	if err != nil {
		fix := ""
		if errors.Is(err, store.ErrUnfinished) {
			fix = "run latchkey convert again, to its end"
		}
		d.fail(name, err.Error(), fix)
		return
	}
	d.image = image
	rows, err := image.Rows(ctx)
	if err == nil {
		d.installation, err = store.NewInspector(nil).Installation(ctx, image)
	}
	if err != nil {
		d.fail(name, err.Error(), "restore the newest backup, or run latchkey audit verify --config "+d.file+" to see what is damaged")
		return
	}
	detail := fmt.Sprintf("%s, %d rows", config.ShownStore(c.Store), rows)
	if d.installation != nil {
		detail += ", installation " + d.installation.ID
	}
	if d.facts == nil {
		d.ok(name, "%s; each commit is flushed to the disk", detail)
		return
	}
	durability := postgres.Local
	if d.facts.Standbys != "" {
		durability = postgres.Replica
	}
	detail = fmt.Sprintf("%s; PostgreSQL %s, durability %s, %d sessions of servers", detail, d.facts.Version, durability, d.facts.Sessions)
	switch {
	case !d.facts.Encrypted && !d.facts.Loopback:
		d.warn(name, detail+"; the connection is not encrypted", "add sslmode=verify-full to the URL")
	case d.facts.Pooled && durability == postgres.Replica:
		d.warn(name, detail+"; a pooler stands before it, which can lead to another server after a failover without our noticing",
			"connect to PostgreSQL directly, and name all hosts in store")
	case d.facts.Pooled:
		d.ok(name, "%s, through a pooler", detail)
	default:
		d.ok(name, "%s", detail)
	}
}

// serverProblem is why servers do not use a database, and what helps.
func serverProblem(f *postgres.Facts, c *config.Config) (wrong, fix string) {
	switch {
	case !f.Supported():
		return "PostgreSQL has version " + f.Version, fmt.Sprintf("use PostgreSQL %d or newer", postgres.MinVersion)
	case f.Standby:
		return "the server is a standby, which takes no writes", "name the primary in store, or all hosts"
	case !f.Fsync:
		return "the server has fsync=off, and can lose what was acknowledged", "set fsync = on in postgresql.conf"
	case f.Standbys == "" && (c.Durability == postgres.Replica || c.Durability == "" && f.Remembered == postgres.Replica):
		return "synchronous_standby_names is empty, but store.durability is replica, as set or as found before", "give the primary a synchronous standby, or set store.durability to local"
	}
	return "", ""
}

// log compares the log in the database with what is remembered outside of it.
func (d *doctor) log(ctx context.Context) {
	const name = "log"
	if d.rows == nil || d.installation == nil {
		d.skip(name, "it needs a database that the master key opens")
		return
	}
	standing, err := logOf(ctx, d.image, store.NewInspector(d.rows)).Standing()
	if err != nil {
		d.fail(name, err.Error(), "latchkey audit verify --config "+d.file)
		return
	}
	detail := fmt.Sprintf("epoch %d, %d entries", standing.Epoch, standing.Size)
	path := StateFile(d.config)
	if path == "" {
		d.warn(name, detail+"; nothing is remembered outside of the database, so that an older copy of it is not noticed", "set log.state to a file, or start the server once")
		return
	}
	known, err := d.remembered(path)
	switch {
	case err != nil:
		d.fail(name, err.Error(), "make "+path+" readable for the server's user; if it is damaged, see docs/integrity.md before removing it")
		return
	case known == nil || !d.presentEpoch(known.Origin):
		d.ok(name, "%s", detail)
		return
	}
	stored := logOf(ctx, d.image, store.NewInspector(d.rows))
	stored.Epoch = standing.Epoch
	root, err := translog.RootAt(stored, standing.Head, min(known.Size, standing.Size))
	const fix = "put the newest database back; if it is gone for good, stop all servers and run latchkey log new-epoch"
	switch {
	case standing.Size < known.Size:
		d.fail(name, fmt.Sprintf("the log in the database has %d entries, and %s knows %d: an older state of the database is in place", standing.Size, path, known.Size), fix)
	case err != nil:
		d.fail(name, err.Error(), "latchkey audit verify --config "+d.file)
	case root != known.Root:
		d.fail(name, fmt.Sprintf("the first %d entries of the log in the database are not those that %s knows", known.Size, path), fix)
	default:
		d.ok(name, "%s; it continues the %d that %s remembers", detail, known.Size, path)
	}
}

// remembered is the checkpoint that a state file holds; nil: none.
func (d *doctor) remembered(path string) (*translog.Checkpoint, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := &State{keys: d.rows, data: stateData{Format: 1, Installation: d.installation.ID}}
	if err := s.parse(path, text); err != nil || s.Checkpoint() == "" {
		return nil, err
	}
	known, err := translog.PeekCheckpoint([]byte(s.Checkpoint()))
	return &known, err
}

func (d *doctor) presentEpoch(origin string) bool {
	return len(d.installation.Epochs) > 0 && presentOrigin(d.installation) == origin
}

// clock compares the clock with that of the database, and asks the kernel.
func (d *doctor) clock(context.Context) {
	const name = "clock"
	const fix = "let chrony or systemd-timesyncd set the clock, on all machines"
	if d.facts != nil {
		if off := d.facts.ClockOff(); off > 5*time.Second {
			d.fail(name, fmt.Sprintf("this clock and that of the database differ by %v", off.Round(time.Second)), fix)
			return
		}
	}
	var now unix.Timex
	state, err := unix.Adjtimex(&now)
	switch {
	case err != nil:
		d.skip(name, "the kernel does not tell whether the clock is right: "+err.Error())
	case state == unix.TIME_ERROR:
		d.warn(name, "no time service keeps the clock right, says the kernel; requests are refused that seem an hour old or five minutes ahead", fix)
	default:
		d.ok(name, "it is %s, and kept right by a time service", d.Now().UTC().Format(time.RFC3339))
	}
}

// Free room below which one should act, and below which it may be too late.
const (
	littleRoom = 2 << 30
	noRoom     = 200 << 20
)

// disk looks at the room beside the embedded database.
func (d *doctor) disk(context.Context) {
	const name = "disk"
	path, embedded := strings.CutPrefix(d.config.Store, "sqlite:")
	if !embedded {
		d.skip(name, "the disk is that of the database server")
		return
	}
	var room unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &room); err != nil {
		d.skip(name, err.Error())
		return
	}
	free := room.Bavail * uint64(room.Bsize) //nolint:gosec // it is positive
	detail := fmt.Sprintf("%s free at %s", bytesOf(free), filepath.Dir(path))
	switch {
	case free < noRoom || room.Files > 0 && room.Ffree < 100:
		d.fail(name, detail, "make room: without it every request that changes something is refused")
	case free < littleRoom:
		d.warn(name, detail, "make room, or watch it")
	default:
		d.ok(name, "%s", detail)
	}
}

// bytesOf is a size for people.
func bytesOf(n uint64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	default:
		return fmt.Sprintf("%d MiB", n>>20)
	}
}

// memory looks whether keys could be written to swap space.
func (d *doctor) memory(context.Context) {
	const name = "memory"
	const fix = "LimitMEMLOCK=64M in the systemd unit, ulimit -l in a shell, or switch swap off"
	if v := d.keys.vault; v != nil {
		if why := v.Unlocked(); why != nil {
			status := CheckFail
			if d.config.AllowSwap {
				status = CheckWarn
			}
			d.add(name, status, "memory with keys could not be locked: "+why.Error(), fix)
			return
		}
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil {
		d.skip(name, err.Error())
		return
	}
	swaps, _ := os.ReadFile("/proc/swaps") // elsewhere it is not known
	swap := strings.Count(strings.TrimSpace(string(swaps)), "\n") > 0
	room := "without a limit"
	if limit.Cur != unix.RLIM_INFINITY {
		room = "up to " + bytesOf(limit.Cur)
	}
	switch {
	case swap && limit.Cur < 16<<20:
		d.warn(name, fmt.Sprintf("swap is on, and this process may lock memory %s", room), fix)
	case !swap:
		d.ok(name, "there is no swap space; memory can be locked %s", room)
	default:
		d.ok(name, "memory with keys is locked, %s", room)
	}
}
