package floor

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"latchkey/client"
)

func start(t *testing.T, sizes map[string]int) (*Server, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "records")
	s, err := Start(Config{File: file, ReplySizes: sizes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s, file
}

func stamper(t *testing.T, c client.Curve) client.Stamper {
	t.Helper()
	key, err := client.GenerateKey(c)
	if err != nil {
		t.Fatal(err)
	}
	return key.Stamper()
}

func post(t *testing.T, url string, by client.Stamper, signed, body string) (int, []byte) {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if by != nil {
		name, value, err := by.Stamp([]byte(signed))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set(name, value)
	}
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
	s, file := start(t, map[string]int{"query/whoami": 150, "submit/sign": 1700})
	key := stamper(t, client.P256)
	for range 2 { // the second time with the parsed key
		status, reply := post(t, s.URL+"/public/v1/query/whoami", key, "{}", "{}")
		if status != 200 || len(reply) != 150 {
			t.Errorf("query: HTTP %d, %d bytes: %s", status, len(reply), reply)
		}
	}
	status, reply := post(t, s.URL+"/public/v1/submit/sign", key, "{}", "{}")
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
	s, _ := start(t, nil)
	tests := []struct {
		name   string
		by     client.Stamper
		signed string
	}{
		{"no stamp", nil, ""},
		{"other body", stamper(t, client.P256), "{ }"},
		{"other curve", stamper(t, client.Ed25519), "{}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, path := range []string{"query/whoami", "submit/sign"} {
				if status, reply := post(t, s.URL+"/public/v1/"+path, tt.by, tt.signed, "{}"); status != 401 {
					t.Errorf("%s: HTTP %d: %s", path, status, reply)
				}
			}
		})
	}
}

func TestLogGroups(t *testing.T) {
	file := filepath.Join(t.TempDir(), "records")
	synctest.Test(t, func(t *testing.T) { testLogGroups(t, file) })
}

// testLogGroups is on a clock that stands still while anybody is at work, also
// at the disk.
func testLogGroups(t *testing.T, file string) {
	const linger = 50 * time.Millisecond
	l, err := openLog(file, linger)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		l.enter()
		defer l.leave()
		if err := l.append([]byte(text)); err != nil {
			t.Error(err)
		}
	}
	// Alone, nobody waits.
	begun := time.Now()
	for i := range 10 {
		write(fmt.Sprint(i))
	}
	if waited := time.Since(begun); waited != 0 {
		t.Errorf("ten lone records waited %v", waited)
	}
	// With another request in flight that does not come, a record waits.
	l.enter()
	begun = time.Now()
	write("patient")
	if waited := time.Since(begun); waited != linger {
		t.Errorf("it waited %v for company, want %v", waited, linger)
	}
	l.leave()
	// All of many arrive.
	var writing sync.WaitGroup
	for i := range 200 {
		writing.Go(func() { write(strings.Repeat("x", i)) })
	}
	writing.Wait()
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
}

func TestLogBeginsAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records")
	l, err := openLog(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	l.offset = segment - 10 // nobody writes yet
	l.enter()
	if err := l.append([]byte("the first again")); err != nil {
		t.Fatal(err)
	}
	l.leave()
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	records, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != segment || !bytes.HasPrefix(records[4:], []byte("the first again")) {
		t.Errorf("%d bytes that begin %q", len(records), records[:20])
	}
}
