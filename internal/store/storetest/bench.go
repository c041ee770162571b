package storetest

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"latchkey/internal/ids"
	"latchkey/internal/store"
	"latchkey/internal/test/testkit"
)

// BenchmarkAppend measures commits as a signature makes them, by 64 writers, to one
// organization and spread over ten thousand.
func BenchmarkAppend(b *testing.B, db store.Driver) {
	for _, orgs := range []int{1, 10_000} {
		names := make([]string, orgs)
		creation := &store.Commit{Org: ids.New()}
		for i := range names {
			names[i] = ids.New()
		}
		creation.Creates = names
		if err := db.Commit(b.Context(), creation); err != nil {
			b.Fatal(err)
		}
		rand.Shuffle(orgs, func(i, j int) { names[i], names[j] = names[j], names[i] })
		b.Run(fmt.Sprint(orgs), func(b *testing.B) { benchmarkAppend(b, db, names) })
	}
}

func benchmarkAppend(b *testing.B, db store.Driver, orgs []string) {
	const writers = 64
	var n atomic.Int64
	b.SetParallelism(max(1, writers/runtime.GOMAXPROCS(0)))
	used := testkit.ProcessorTime(b)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			err := db.Commit(b.Context(), signature(orgs[int(n.Add(1))%len(orgs)]))
			if err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
	b.ReportMetric(float64(testkit.ProcessorTime(b)-used)/float64(b.N)/1000, "cpu-µs/commit")
}

// signature is a commit with as many bytes as that of a signature.
func signature(org string) *store.Commit {
	id := ids.New()
	return &store.Commit{
		Org: org, Version: 1,
		Activity: &store.ActivityRow{
			ID: id, TimestampMs: time.Now().UnixMilli(), Fingerprint: fingerprint(id),
			Type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", Status: "ACTIVITY_STATUS_COMPLETED", Body: make([]byte, 1500),
		},
		Entries: []store.Entry{{Org: org, Activity: id, Body: make([]byte, 650)}},
	}
}

// BenchmarkAppendAlone measures one writer.
func BenchmarkAppendAlone(b *testing.B, db store.Driver) {
	org := ids.New()
	if err := db.Commit(b.Context(), &store.Commit{Org: org}); err != nil {
		b.Fatal(err)
	}
	used := testkit.ProcessorTime(b)
	b.ResetTimer()
	for range b.N {
		if err := db.Commit(b.Context(), signature(org)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
	b.ReportMetric(float64(testkit.ProcessorTime(b)-used)/float64(b.N)/1000, "cpu-µs/commit")
}

// BenchmarkGet measures point reads.
func BenchmarkGet(b *testing.B, db store.Driver) {
	c := &store.Commit{Org: "org"}
	for i := range 1000 {
		c.Changes = append(c.Changes, store.Change{Kind: "k", ID: fmt.Sprint(i), Body: make([]byte, 300)})
	}
	if err := db.Commit(b.Context(), c); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			if body, err := db.Get(b.Context(), "org", "k", fmt.Sprint(i%1000)); err != nil || body == nil {
				b.Error(body, err)
				return
			}
		}
	})
}

// BenchmarkScanIndex finds records and what belongs to them by an index, as the first
// signature of an account does, with a commit before each eight.
func BenchmarkScanIndex(b *testing.B, db store.Driver) {
	const accounts = 10_000
	org := ids.New()
	at := make([]string, accounts)
	for from := 0; from < accounts; from += 100 {
		c := &store.Commit{Org: org, Version: int64(from / 100)}
		for i := from; i < from+100; i++ {
			id := ids.New()
			at[i] = fmt.Sprintf("0x%040x", rand.Uint64())
			c.Changes = append(c.Changes,
				store.Change{Kind: "account", ID: id, Body: make([]byte, 420)},
				store.Change{Kind: "sealed", ID: "key/" + id, Body: make([]byte, 120)},
				store.Change{Kind: "account.signer", ID: at[i] + "\x1f" + id, Body: make([]byte, 53)})
		}
		if err := db.Commit(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
	rand.Shuffle(len(at), func(i, j int) { at[i], at[j] = at[j], at[i] })
	for i := 0; b.Loop(); i++ {
		if i%8 == 0 {
			b.StopTimer()
			c := signature(org)
			c.Version = accounts / 100
			if err := db.Commit(b.Context(), c); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
		name := at[i%accounts]
		found, err := db.ScanIndex(b.Context(), org, "account.signer", store.Range{From: name + "\x1f", To: name + "\x20", Limit: 1},
			store.Reference{Prefix: name + "\x1f", Kind: "account", WithKind: "sealed", WithPrefix: "key/"})
		if err != nil || len(found) != 1 || found[0].Record == nil || found[0].With == nil {
			b.Fatal(found, err)
		}
	}
}

// BenchmarkList measures a page of activities.
func BenchmarkList(b *testing.B, db store.Driver) {
	if err := db.Commit(b.Context(), &store.Commit{Org: "org"}); err != nil {
		b.Fatal(err)
	}
	for i := range 200 {
		if err := db.Commit(b.Context(), &store.Commit{Org: "org", Version: 1, Activity: activity(fmt.Sprintf("%016d", i))}); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	for b.Loop() {
		if list, err := db.Activities(b.Context(), "org", store.ActivityQuery{Limit: 10}); err != nil || len(list) != 10 {
			b.Fatal(len(list), err)
		}
	}
}
