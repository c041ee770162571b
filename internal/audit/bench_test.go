package audit_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"latchkey/client"
	"latchkey/internal/domain"
	"latchkey/internal/ids"
	"latchkey/internal/proof/stamp"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
)

// BenchmarkVerify audits an organization with many activities, and then starts a
// server on it. LATCHKEY_TEST_ACTIVITIES says how many; make audit-bench takes a
// million.
func BenchmarkVerify(b *testing.B) {
	activities := testkit.Number(b, "LATCHKEY_TEST_ACTIVITIES", 20_000)
	url := servertest.SQLite(b)
	fill(b, url, activities)
	resetPeak()
	b.ResetTimer()
	used := testkit.ProcessorTime(b)
	for range b.N {
		if counts, found := audited(b, url); counts.Signatures < int64(activities) || counts.Entries < int64(activities) || len(found) > 0 {
			b.Fatalf("%+v: %.2000s", counts, fmt.Sprint(found))
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(activities), "ns/activity")
	b.ReportMetric((testkit.ProcessorTime(b)-used).Seconds()/float64(b.N), "processor-seconds")
	b.ReportMetric(peak(), "MB-at-most")
	began := time.Now()
	s := servertest.Start(b, url, config.Default())
	b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms-to-start")
	s.Stop(b)
}

// resetPeak begins to count the memory of the process anew, where the system can.
func resetPeak() {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o200)
}

// peak is the largest amount of memory of the process since, in megabytes; 0 where
// it is not known.
func peak() (megabytes float64) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	_, _ = fmt.Sscan(rest, &megabytes)
	return megabytes / 1024
}

// fill records activities, each with a signature of its own.
func fill(b testing.TB, url string, activities int) {
	s := servertest.Start(b, url, config.Default())
	key, err := client.GenerateKey(client.P256)
	if err != nil {
		b.Fatal(err)
	}
	const writers = 64
	var working sync.WaitGroup
	for first := range writers {
		working.Go(func() {
			for n := first; n < activities; n += writers {
				if _, err := record(b, s.Store, s.Root, key, n); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	working.Wait()
	s.Stop(b)
}

// signature is that of a stamp over the body.
func signature(b testing.TB, key client.PrivateKey, body string) string {
	name, value, err := key.Stamper().Stamp([]byte(body))
	if err != nil {
		b.Fatal(err)
	}
	sent, err := stamp.Read(http.Header{name: {value}})
	if err != nil {
		b.Fatal(err)
	}
	return sent.Signature
}

// record records an activity that signs, and returns its id.
func record(b testing.TB, s *store.Store, root *servertest.Caller, key client.PrivateKey, n int) (string, error) {
	now := time.Now()
	body := fmt.Sprintf(`{"type":"ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2","timestampMs":"%d","organizationId":%q,"parameters":{"signWith":"0x0a4Ac4a18a97327308DE692bfc66E107753723EB","payload":"%064x","encoding":"PAYLOAD_ENCODING_HEXADECIMAL","hashFunction":"HASH_FUNCTION_NO_OP"}}`,
		now.UnixMilli(), root.OrganizationID, n)
	a := &domain.Activity{
		ID: ids.New(), OrganizationID: root.OrganizationID, Type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2",
		Status: domain.StatusCompleted, TimestampMs: now.UnixMilli(), Fingerprint: sha256.Sum256([]byte(body)),
		Body: body, Intent: []byte(`{}`), Result: []byte(`{"r":"00","s":"00","v":"00"}`), CreatedAt: now, UpdatedAt: now,
		Votes: []domain.Vote{{
			ID: ids.New(), UserID: root.UserID, UserName: "Root user", Selection: domain.VoteApproved,
			PublicKey: key.PublicKey(), Signature: signature(b, key, body), Scheme: string(stamp.P256), CreatedAt: now,
		}},
	}
	digests, err := catalog().LogDigests(a)
	if err != nil {
		return "", err
	}
	return a.ID, s.Update(b.Context(), root.OrganizationID, func(tx *store.Tx) error { return tx.Record(a, digests) })
}
