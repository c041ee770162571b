package ledger

import (
	"context"
	"sort"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/store"
	"latchkey/internal/translog"
)

// growth tells those who wait that the log has grown. Every server looks at the
// state of the log anyway, so that none of them asks the database.
type growth struct {
	mu      sync.Mutex
	end     domain.LogPlace
	at      time.Time // when that was seen
	changed chan struct{}
}

// Grown is the end of the log as this server saw it last, and a channel that is
// closed when it sees another one.
func (l *Ledger) Grown() (domain.LogPlace, <-chan struct{}) {
	l.growth.mu.Lock()
	defer l.growth.mu.Unlock()
	if l.growth.changed == nil {
		l.growth.changed = make(chan struct{})
	}
	return l.growth.end, l.growth.changed
}

// Seen is how many entries the log had when this server saw it grow last, and when that
// was; nothing before the first time.
func (l *Ledger) Seen() (entries int64, at time.Time) {
	l.growth.mu.Lock()
	defer l.growth.mu.Unlock()
	return l.growth.end.Index, l.growth.at
}

// notice is called with what was found at the end of the log.
func (l *Ledger) notice(end domain.LogPlace) {
	l.growth.mu.Lock()
	defer l.growth.mu.Unlock()
	if end == l.growth.end {
		return
	}
	l.growth.end, l.growth.at = end, l.Now()
	if l.growth.changed != nil {
		close(l.growth.changed)
		l.growth.changed = nil
	}
}

// End is the end of the log as it is stored now.
func (l *Ledger) End(ctx context.Context) (domain.LogPlace, error) {
	text, err := l.Store.LogItem(ctx, store.LogState, newest)
	if err != nil || text == nil {
		return domain.LogPlace{Epoch: l.epoch().Number}, err
	}
	var now state
	if err := json.Unmarshal(text, &now); err != nil {
		return domain.LogPlace{}, err
	}
	return domain.LogPlace{Epoch: now.epoch(), Index: now.Size}, nil
}

// After is the point after the newest entry of an activity, [ErrNotYet] while that
// is not in the tree.
func (l *Ledger) After(ctx context.Context, org, activity string) (domain.LogPlace, error) {
	entries, err := l.Store.LogEntriesOf(ctx, org, activity)
	if err != nil {
		return domain.LogPlace{}, err
	}
	if len(entries) == 0 {
		return domain.LogPlace{}, ErrNoEntry
	}
	at, err := l.find(ctx, entries[len(entries)-1].Position)
	if err != nil {
		return domain.LogPlace{}, err
	}
	return domain.LogPlace{Epoch: at.epoch.Number, Index: at.index}.Next(), nil
}

// clocksDiffer is by how much the times of entries may be out of order: servers
// have different clocks, and a commit may take its time.
const clocksDiffer = time.Minute

// Since is a point before every entry that is not older than a time, and not much
// before.
func (l *Ledger) Since(ctx context.Context, t time.Time) (domain.LogPlace, error) {
	end, err := l.End(ctx)
	if err != nil {
		return domain.LogPlace{}, err
	}
	from := t.Add(-clocksDiffer).UnixMilli()
	index := sort.Search(int(end.Index), func(n int) bool {
		at, failed := l.timeMs(ctx, domain.LogPlace{Epoch: end.Epoch, Index: int64(n)})
		if failed != nil {
			err = failed
		}
		return at >= from
	})
	if index == 0 {
		return domain.LogPlace{}, err // an earlier epoch may have some too
	}
	return domain.LogPlace{Epoch: end.Epoch, Index: int64(index)}, err
}

// timeMs is the time of the entry at a point; 0: it is gone.
func (l *Ledger) timeMs(ctx context.Context, p domain.LogPlace) (int64, error) {
	block, err := l.stored(ctx, p.Epoch).Block(p.Index / translog.TileWidth)
	at := int(p.Index % translog.TileWidth)
	if err != nil || at >= len(block) {
		return 0, err
	}
	position := block[at].Position
	entries, err := l.Store.LogEntriesAt(ctx, []int64{position})
	if err != nil || len(entries) == 0 {
		return 0, err
	}
	r, err := translog.ParseRecord(string(entries[position].Record(block[at].Sequence)))
	return r.TimeMs, err
}

// Name is by what an epoch of the log is told from every other log; false: there
// is no such epoch.
func (l *Ledger) Name(epoch int64) (string, bool) {
	if epoch == 0 {
		return "", true // before everything
	}
	for i := range l.Epochs {
		if l.Epochs[i].Number == epoch {
			return l.Epochs[i].VerifierKeys[0], true
		}
	}
	return "", false
}
