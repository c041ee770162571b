package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/ids"
	"latchkey/internal/store"
	"latchkey/internal/store/sqlite"
	"latchkey/internal/store/storetest"
)

// This file holds what happens while a bulk is read.

// slowBulks has each step of a bulk wait, until its context ends.
type slowBulks struct {
	store.Driver
	reads, goOn chan struct{}
	ended       atomic.Bool
}

func (d *slowBulks) ScanIndex(ctx context.Context, org, kind string, r store.Range, of store.Reference) ([]store.IndexRow, error) {
	if r.Limit > 1 {
		d.reads <- struct{}{}
		select {
		case <-d.goOn:
		case <-ctx.Done():
			time.Sleep(10 * time.Millisecond) // so that a caller that does not wait is ahead
			d.ended.Store(true)
		}
	}
	return d.Driver.ScanIndex(ctx, org, kind, r, of)
}

// TestBulkEndsWithStore: a bulk that is being read ends before the database is closed.
func TestBulkEndsWithStore(t *testing.T) {
	eachDriver(t, func(t *testing.T, first *store.Store, driver store.Driver, org string) {
		b := shelf{t, org}
		b.fill(first, 20)
		d := &slowBulks{Driver: keptOpen{driver}, reads: make(chan struct{}), goOn: make(chan struct{})}
		s := b.bulking(d)
		<-d.reads
		must(t, s.Close())
		if !d.ended.Load() {
			t.Error("the store is closed, and a bulk is being read")
		}
	})
}

// keptOpen is a driver that others use too.
type keptOpen struct{ store.Driver }

func (keptOpen) Close() error { return nil }

// TestBulkOfLostVersion: what another server changed while a bulk was read is not used
// when that change was lost with the database, before this process learned of it.
func TestBulkOfLostVersion(t *testing.T) {
	folder := t.TempDir()
	open := func(name string) store.Driver {
		db, err := sqlite.Open(t.Context(), filepath.Join(folder, name), sqlite.Config{})
		must(t, err)
		return db
	}
	primary := open("primary")
	other, b := storetest.Store(t, primary), shelf{t, ids.New()}
	must(t, other.CreateOrganization(t.Context(), b.org, func(tx *store.Tx) error {
		return tx.Organizations().Insert(&domain.Organization{ID: b.org, Name: "Test"})
	}))
	b.fill(other, 20)
	must(t, other.Close())
	content, err := os.ReadFile(filepath.Join(folder, "primary"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(folder, "standby"), content, 0o600))

	primary = open("primary")
	other = storetest.Store(t, primary)
	d := &failover{Driver: primary, standby: open("standby")}
	slow := &slowBulks{Driver: d, reads: make(chan struct{}), goOn: make(chan struct{})}
	s := b.bulking(slow)
	<-slow.reads
	b.change(other, func(tx *store.Tx) error { return tx.Ciphertexts().Seal("key/n11", []byte("lost")) })
	slow.goOn <- struct{}{}
	s.AwaitBulk()
	d.over.Store(true)
	b.want(s, word(11), ofWord(11))
	must(t, errors.Join(s.Close(), primary.Close()))
}

// failover is a driver that goes over to a server which lacks the last commits.
type failover struct {
	store.Driver
	standby store.Driver
	over    atomic.Bool
}

func (f *failover) now() store.Driver {
	if f.over.Load() {
		return f.standby
	}
	return f.Driver
}

func (f *failover) Version(ctx context.Context, org string) (int64, error) {
	return f.now().Version(ctx, org)
}

func (f *failover) ScanIndex(ctx context.Context, org, kind string, r store.Range, of store.Reference) ([]store.IndexRow, error) {
	return f.now().ScanIndex(ctx, org, kind, r, of)
}

func (f *failover) Get(ctx context.Context, org, kind, id string) ([]byte, error) {
	return f.now().Get(ctx, org, kind, id)
}

func (f *failover) Close() error { return f.standby.Close() }
