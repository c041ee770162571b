package baseline

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"latchkey/bench/process"
	"latchkey/client"
)

func start(t *testing.T, sizes map[string]int) (url, file string) {
	t.Helper()
	host, err := process.FreeHost()
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "records")
	if err := Start(host, file, sizes); err != nil {
		t.Fatal(err)
	}
	return "http://" + host + "/public/v1/", file
}

// post sends the body {} with a stamp over signed by a new key of a curve.
func post(t *testing.T, url string, c client.Curve, signed string) (int, []byte) {
	t.Helper()
	key, err := client.GenerateKey(c)
	if err != nil {
		t.Fatal(err)
	}
	name, value, err := key.Stamper().Stamp([]byte(signed))
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set(name, value)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	reply, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, reply
}

func TestReplies(t *testing.T) {
	url, file := start(t, map[string]int{"query/whoami": 150, "submit/sign": 1700})
	status, reply := post(t, url+"query/whoami", client.P256, "{}")
	if status != 200 || len(reply) != 150 {
		t.Errorf("query: HTTP %d, %d bytes: %s", status, len(reply), reply)
	}
	status, reply = post(t, url+"submit/sign", client.P256, "{}")
	if status != 200 || len(reply) != 1700 || !bytes.Contains(reply, []byte(`"ACTIVITY_STATUS_COMPLETED"`)) {
		t.Errorf("submit: HTTP %d, %d bytes: %s", status, len(reply), reply)
	}
	records, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(records, reply) {
		t.Error("what was replied is not in the file")
	}
}

func TestRefusals(t *testing.T) {
	url, _ := start(t, nil)
	for _, path := range []string{"query/whoami", "submit/sign"} {
		if status, reply := post(t, url+path, client.P256, "{ }"); status != 401 {
			t.Errorf("%s, stamp of another body: HTTP %d: %s", path, status, reply)
		}
		if status, reply := post(t, url+path, client.Ed25519, "{}"); status != 401 {
			t.Errorf("%s, stamp of another curve: HTTP %d: %s", path, status, reply)
		}
	}
}

// TestTake runs on a clock that only moves while all goroutines wait.
func TestTake(t *testing.T) {
	for _, tt := range []struct {
		name     string
		inFlight int
		want     time.Duration
	}{
		{"a lone record does not wait", 1, 0},
		{"a record waits for another request in flight", 2, linger},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &recordLog{linger: linger, inFlight: tt.inFlight, waiting: make([]record, 1)}
				l.wake = sync.NewCond(&l.mu)
				begun := time.Now()
				if group := l.take(); len(group) != 1 || time.Since(begun) != tt.want {
					t.Errorf("%d records after %v", len(group), time.Since(begun))
				}
			})
		})
	}
}
