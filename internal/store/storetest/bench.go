package storetest

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"latchkey/internal/store"
)

// BenchmarkAppend measures commits of one activity of 1 KB by 64 writers, over
// 16 organizations.
func BenchmarkAppend(b *testing.B, db store.Driver) {
	const writers, orgs = 64, 16
	body := make([]byte, 1024)
	for o := range orgs {
		if err := db.Commit(b.Context(), &store.Commit{Org: fmt.Sprint("org", o)}); err != nil {
			b.Fatal(err)
		}
	}
	var n atomic.Int64
	b.SetParallelism(max(1, writers/runtime.GOMAXPROCS(0)))
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			i := n.Add(1)
			id := fmt.Sprintf("%016d", i)
			err := db.Commit(b.Context(), &store.Commit{
				Org: fmt.Sprint("org", i%orgs), Version: 1,
				Activity: &store.Activity{
					ID: id, TimestampMs: 1_700_000_000_000 + i/10, Fingerprint: fingerprint(id),
					Type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", Status: "ACTIVITY_STATUS_COMPLETED", Body: body,
				},
			})
			if err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
}

// BenchmarkAppendAlone measures one writer.
func BenchmarkAppendAlone(b *testing.B, db store.Driver) {
	if err := db.Commit(b.Context(), &store.Commit{Org: "org"}); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for i := range b.N {
		if err := db.Commit(b.Context(), &store.Commit{Org: "org", Version: 1, Activity: activity(fmt.Sprintf("%016d", i))}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
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
