package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/ids"
	"latchkey/internal/ledger"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/store/postgres"
	"latchkey/internal/translog"
	"latchkey/internal/witness"
)

// NewEpoch begins a new log on the database of a config as it is now: after an older
// state of it was put in place for good, or to replace the keys of the log. The last
// checkpoint of the old one that is known anywhere is in the first entry of the new
// one. No server may use the database meanwhile.
func NewEpoch(ctx context.Context, c *config.Config, log *slog.Logger) (domain.LogEpoch, error) {
	if !strings.HasPrefix(c.Store, "sqlite:") { // which has a lock
		if err := postgres.Alone(ctx, c.Store); err != nil {
			return domain.LogEpoch{}, err
		}
	}
	witnesses, err := newWitnesses(&c.Log)
	if err != nil {
		return domain.LogEpoch{}, err
	}
	s, err := OpenConfigured(ctx, c, log)
	if err != nil {
		return domain.LogEpoch{}, err
	}
	keys, err := OpenKeys(ctx, s, c, log)
	if err != nil {
		return domain.LogEpoch{}, errors.Join(err, s.Close())
	}
	e := &epochMaker{Config: c, store: s, keys: keys, witnesses: witnesses, log: log}
	begun, err := e.begin(ctx)
	keys.Close()
	return begun, errors.Join(err, s.Close())
}

type epochMaker struct {
	*config.Config
	store     *store.Store
	keys      KeyServices
	witnesses []*witness.Client
	log       *slog.Logger
}

func (e *epochMaker) begin(ctx context.Context) (domain.LogEpoch, error) {
	last, err := e.lastKnown(ctx)
	if err != nil {
		return domain.LogEpoch{}, err
	}
	number, err := e.next(ctx, last)
	if err != nil {
		return domain.LogEpoch{}, err
	}
	var begun domain.LogEpoch
	err = e.store.Instance(ctx, func(tx *store.Tx) (err error) {
		begun, e.keys.LogKeys, err = newEpoch(tx, e.keys.Vault, number, ledger.Origin(e.keys.Epochs[0].Origin, number))
		if err != nil {
			return err
		}
		begun.Previous = last.note
		tx.Note(store.Note{
			Installation: e.keys.Installation, Kind: store.LogEpoch, Name: ledger.EpochName(number),
			Status: last.text(), Digest: last.digest(),
		})
		return tx.BeginEpoch(e.keys.Installation, begun)
	})
	if err != nil {
		return domain.LogEpoch{}, err
	}
	e.keys.Epochs = append(e.keys.Epochs, begun)
	if err := noteRestored(ctx, e.store, e.Config, e.keys.Installation); err != nil {
		return begun, err
	}
	// The first entries are put into the new tree at once, so that what is remembered
	// outside of the database is of the new log.
	begins := ledger.New(ledger.Config{
		Store: e.store, Keys: e.keys.LogKeys, Log: e.log, Now: time.Now, Node: ids.New(),
		Installation: e.keys.Installation, Epochs: e.keys.Epochs, Quorum: e.Log.Quorum, Memory: e.keys.State,
		OnRefusal: func(string) {},
	})
	if err := begins.Finish(ctx); err != nil {
		return begun, err
	}
	if why := begins.Refusal(); why != "" {
		return begun, errors.New(why)
	}
	return begun, nil
}

// knownCheckpoint is a signed checkpoint, and the epoch that it is of.
type knownCheckpoint struct {
	translog.Checkpoint
	note  string
	epoch int64
}

func (k knownCheckpoint) text() string {
	if k.note == "" {
		return ""
	}
	return k.Text()
}

func (k knownCheckpoint) digest() string {
	if k.note == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(k.note))
	return hex.EncodeToString(sum[:])
}

// lastKnown is the newest checkpoint that is remembered in the database, outside of
// it, or by a witness.
func (e *epochMaker) lastKnown(ctx context.Context) (last knownCheckpoint, err error) {
	current := e.keys.Epochs[len(e.keys.Epochs)-1]
	published, err := ledger.Published(ctx, e.store, current.Number)
	if err != nil {
		return last, err
	}
	notes := []string{string(published), e.keys.State.Checkpoint()}
	for _, w := range e.witnesses {
		latest, err := w.Latest(ctx, current.Origin, e.keys.LogKeys.VerifierKeys())
		switch {
		case err != nil:
			e.log.Warn("a witness does not say what it knows of the log", "witness", w.Name(), "error", err)
		case latest != nil:
			notes = append(notes, string(latest.Note()))
		}
	}
	last.epoch = current.Number
	for _, note := range notes {
		if note == "" {
			continue
		}
		known, err := translog.PeekCheckpoint([]byte(note))
		if err != nil {
			return last, err
		}
		epoch := epochOf(e.keys.Epochs[0].Origin, known.Origin)
		if epoch > last.epoch || epoch == last.epoch && (last.note == "" || known.Size > last.Size) {
			last = knownCheckpoint{known, note, epoch}
		}
	}
	return last, nil
}

// epochOf is the number of the epoch whose log has a name; 0: it is another log.
func epochOf(first, origin string) int64 {
	if origin == first {
		return 1
	}
	number, ok := strings.CutPrefix(origin, first+"/epoch-")
	n, err := strconv.ParseInt(number, 10, 64)
	if !ok || err != nil {
		return 0
	}
	return n
}

// next is a number that no epoch had: the database may be from before some of them.
func (e *epochMaker) next(ctx context.Context, last knownCheckpoint) (int64, error) {
	number := last.epoch + 1
	for _, w := range e.witnesses {
		for {
			known, err := w.Knows(ctx, ledger.Origin(e.keys.Epochs[0].Origin, number))
			if err != nil {
				e.log.Warn("a witness does not say whether it knows a later epoch", "witness", w.Name(), "error", err)
			}
			if !known {
				break
			}
			if number++; number > last.epoch+1000 {
				return 0, fmt.Errorf("witness %s claims to know every epoch", w.Name())
			}
		}
	}
	return number, nil
}
