// Package storetest is the contract of [store.Driver] as tests. Every driver
// runs [Run], [RunReopen] and [RunKill]; a behaviour that callers rely on and
// that is not tested here is not part of the contract.
package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"latchkey/internal/store"
)

// Run tests a driver. open returns a driver over a fresh, empty database; Run
// closes it.
func Run(t *testing.T, open func(t *testing.T) store.Driver) {
	run(t, open, []test{
		{"version", testVersion},
		{"create twice", testCreateTwice},
		{"create without changes", testCreateWithoutChanges},
		{"empty commit", testEmptyCommit},
		{"conflict leaves nothing", testConflictLeavesNothing},
		{"recorded leaves nothing", testRecordedLeavesNothing},
		{"recorded id", testRecordedID},
		{"append at old version", testAppendAtOldVersion},
		{"upsert and delete", testUpsertAndDelete},
		{"replace", testReplace},
		{"create others", testCreateOthers},
		{"create others at once", testCreateOthersAtOnce},
		{"items elsewhere", testItemsElsewhere},
		{"new items", testNewItems},
		{"follows together", testFollowsTogether},
		{"follows changes", testFollowsChanges},
		{"get", testGet},
		{"organizations", testOrganizations},
		{"kinds", testKinds},
		{"replace bodies", testReplaceBodies},
		{"bodies", testBodies},
		{"scan", testScan},
		{"scan order", testScanOrder},
		{"isolation", testIsolation},
		{"case", testCase},
		{"activity", testActivity},
		{"recorded", testRecorded},
		{"activities", testActivities},
		{"entries", testEntries},
		{"cancelled", testCancelled},
		{"cancelled in the queue", testCancelledInQueue},
		{"reads interrupted", testReadsInterrupted},
		{"ready", testReady},
		{"model", testModel},
	})
	RunContention(t, open)
	t.Run("closed", func(t *testing.T) { testClosed(t, open) })
	t.Run("close drains", func(t *testing.T) { testCloseDrains(t, open) })
	t.Run("no goroutine left", func(t *testing.T) { testNoLeak(t, open) })
}

// RunContention is that part of [Run] in which commits compete.
func RunContention(t *testing.T, open func(t *testing.T) store.Driver) {
	run(t, open, []test{
		{"parallel appends", testParallelAppends},
		{"same fingerprint at once", testSameFingerprintAtOnce},
		{"same id at once", testSameIDAtOnce},
		{"entries at once", testEntriesAtOnce},
		{"two writers", testTwoWriters},
		{"replace at once", testReplaceAtOnce},
		{"follows", testFollows},
		{"follows at once", testFollowsAtOnce},
		{"create at once", testCreateAtOnce},
		{"new items at once", testNewItemsAtOnce},
		{"commits of one group", testCommitsOfOneGroup},
		{"one state between equal versions", testOneState},
		{"version after acknowledgement", testVersionAfterAck},
		{"versions at once", testVersionsAtOnce},
	})
}

// test is a part of the contract, over a database of its own.
type test struct {
	name string
	test func(t *testing.T, db store.Driver)
}

func run(t *testing.T, open func(t *testing.T) store.Driver, tests []test) {
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			db := open(t)
			defer func() {
				if err := db.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			}()
			tc.test(t, db)
		})
	}
}

// fingerprint makes one out of anything.
func fingerprint(v ...any) store.Fingerprint { return sha256.Sum256(fmt.Append(nil, v...)) }

// activity returns one that differs from every other with another id.
func activity(id string) *store.ActivityRow {
	return &store.ActivityRow{
		ID: id, TimestampMs: 1_700_000_000_000, Fingerprint: fingerprint(id),
		Type: "ACTIVITY_TYPE_SIGN", Status: "ACTIVITY_STATUS_COMPLETED", Body: []byte(`{"id":"` + id + `"}`),
	}
}

func put(kind, id, body string) store.Change {
	return store.Change{Kind: kind, ID: id, Body: []byte(body)}
}

func del(kind, id string) store.Change { return store.Change{Kind: kind, ID: id} }

// commit commits and expects the outcome.
func commit(t *testing.T, db store.Driver, c *store.Commit, want error) {
	t.Helper()
	if err := db.Commit(t.Context(), c); !errors.Is(err, want) {
		t.Fatalf("Commit at version %d: got %v, want %v", c.Version, err, want)
	}
}

// create creates an organization with one item.
func create(t *testing.T, db store.Driver, org string) {
	t.Helper()
	commit(t, db, &store.Commit{Org: org, Changes: []store.Change{put("initial", "item", org)}}, nil)
}

func wantVersion(t *testing.T, db store.Driver, org string, want int64) {
	t.Helper()
	got, err := db.Version(t.Context(), org)
	if err != nil || got != want {
		t.Fatalf("Version(%s) = %d, %v; want %d", org, got, err, want)
	}
}

// wantItem expects a body; nil expects that there is none.
func wantItem(t *testing.T, db store.Driver, org, kind, id string, want []byte) {
	t.Helper()
	got, err := db.Get(t.Context(), org, kind, id)
	if err != nil {
		t.Fatalf("Get: %v", err)
	}
	if (got == nil) != (want == nil) || !bytes.Equal(got, want) {
		t.Fatalf("Get(%s, %s, %s) = %q, want %q", org, kind, id, got, want)
	}
}

// wantActivity expects an activity; nil expects that there is none.
func wantActivity(t *testing.T, db store.Driver, org, id string, want *store.ActivityRow) {
	t.Helper()
	got, err := db.Activity(t.Context(), org, id)
	if err != nil {
		t.Fatalf("Activity: %v", err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("Activity(%s, %s), -want +got:\n%s", org, id, diff)
	}
}

// countActivities returns how many there are.
func countActivities(t *testing.T, db store.Driver, org string) int {
	t.Helper()
	list, err := db.Activities(t.Context(), org, store.ActivityQuery{})
	if err != nil {
		t.Fatalf("Activities: %v", err)
	}
	return len(list)
}

// retry commits an append at whatever version the organization has, again
// after each conflict.
func retry(ctx context.Context, db store.Driver, org string, make func(version int64) *store.Commit) error {
	for {
		v, err := db.Version(ctx, org)
		if err != nil {
			return err
		}
		if err := db.Commit(ctx, make(v)); !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
}
