package api_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/client"
	"latchkey/internal/server/config"
	"latchkey/internal/test/pgtest"
	. "latchkey/internal/test/servertest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

type m = map[string]any

// patience is what a busy machine may need for anything.
const patience = 5 * time.Minute

// start runs a server on which nothing is too slow but what change says.
func start(t *testing.T, change func(*config.Timeouts)) *Server {
	t.Helper()
	c := config.Default()
	c.Timeouts = config.Timeouts{Header: patience, Body: patience, Request: patience, Idle: patience, Drain: patience}
	change(&c.Timeouts)
	return Start(t, SQLite(t), c)
}

// dial opens a connection to the server and gives up on it after a while.
func dial(t *testing.T, s *Server) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// readError reads an error reply.
func readError(t *testing.T, conn net.Conn, status int) {
	t.Helper()
	reply, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	body, _ := io.ReadAll(reply.Body)
	CheckError(t, Reply{Status: reply.StatusCode, Header: reply.Header, Body: body}, status)
}

// TestSlowRequests holds connections open in every phase: none hangs.
func TestSlowRequests(t *testing.T) {
	const short = 300 * time.Millisecond
	const head = "POST /public/v1/query/whoami HTTP/1.1\r\nHost: x\r\n"
	t.Run("header", func(t *testing.T) {
		s := start(t, func(c *config.Timeouts) { c.Header = short })
		t.Run("nothing sent", func(t *testing.T) {
			if _, err := dial(t, s).Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Errorf("the connection was not closed: %v", err)
			}
		})
		t.Run("half a header", func(t *testing.T) {
			conn := dial(t, s)
			fmt.Fprint(conn, head)
			answer, err := io.ReadAll(conn)
			if err != nil || len(answer) > 0 && !strings.Contains(string(answer), "408") {
				t.Errorf("answer %q, %v", answer, err)
			}
		})
	})
	t.Run("body", func(t *testing.T) {
		// The whole request has the sum of both, the header alone all the time
		// that a busy machine needs.
		s := start(t, func(c *config.Timeouts) { c.Body = short - c.Header })
		t.Run("half", func(t *testing.T) {
			conn := dial(t, s)
			fmt.Fprint(conn, head+"Content-Length: 100\r\n\r\n{\"organ")
			readError(t, conn, http.StatusRequestTimeout)
		})
		t.Run("a byte at a time", func(t *testing.T) {
			conn := dial(t, s)
			fmt.Fprint(conn, head+"Content-Length: 1000000\r\n\r\n")
			for {
				if _, err := fmt.Fprint(conn, " "); errors.Is(err, os.ErrDeadlineExceeded) {
					t.Fatal("a body that trickles in was read without end")
				} else if err != nil {
					return // cut off, as it should be
				}
				time.Sleep(20 * time.Millisecond)
			}
		})
	})
	t.Run("idle after a request", func(t *testing.T) {
		conn := dial(t, start(t, func(c *config.Timeouts) { c.Idle = short }))
		fmt.Fprint(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		if answer, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200") {
			t.Errorf("answer %q, %v", answer, err)
		}
	})
}

// TestRudeRequests does what no client should: the server lives on.
func TestRudeRequests(t *testing.T) {
	s := start(t, func(*config.Timeouts) {})
	const head = "POST /public/v1/query/whoami HTTP/1.1\r\nHost: x\r\n"
	t.Run("gone in the middle", func(t *testing.T) {
		conn := dial(t, s)
		fmt.Fprint(conn, head+"Content-Length: 100\r\n\r\n{\"organ")
		conn.Close()
	})
	t.Run("chunks without end", func(t *testing.T) {
		conn := dial(t, s)
		fmt.Fprint(conn, head+"Transfer-Encoding: chunked\r\n\r\n")
		chunk := "10000\r\n" + strings.Repeat("x", 0x10000) + "\r\n"
		go func() {
			for range 64 {
				if _, err := io.WriteString(conn, chunk); err != nil {
					return
				}
			}
		}()
		readError(t, conn, http.StatusRequestEntityTooLarge)
	})
	// After all that, it still works.
	s.Root.Query(t, "whoami", nil)
}

// TestPages checks what is outside the interface.
func TestPages(t *testing.T) {
	s := Start(t, SQLite(t), config.Default())
	s.Root.Query(t, "whoami", nil)
	get := func(path string) Reply { return Send(t, http.MethodGet, s.URL+path, http.Header{}, nil) }
	for path, want := range map[string]string{
		"/healthz":                   `{"status":"ok"}`,
		"/readyz":                    `{"status":"ready"}`,
		"/.well-known/latchkey.json": `"version":"test"`,
		"/openapi.json":              `"openapi": "3.1.0"`,
		"/metrics":                   `latchkey_requests_total{operation="whoami",status="200"} 1`,
	} {
		t.Run(path, func(t *testing.T) {
			reply := get(path)
			if reply.Status != http.StatusOK || !strings.Contains(string(reply.Body), want) {
				t.Errorf("HTTP %d: %.300s", reply.Status, reply.Body)
			}
			if refused := Send(t, http.MethodPost, s.URL+path, http.Header{}, nil); refused.Header.Get("Allow") != http.MethodGet {
				t.Errorf("Allow: %q", refused.Header.Get("Allow"))
			} else {
				CheckError(t, refused, http.StatusMethodNotAllowed)
			}
		})
	}
	t.Run("unknown", func(t *testing.T) {
		for path, hint := range map[string]string{
			"/":                        "/openapi.json lists them all",
			"/public/v1/query/whoam":   "did you mean /public/v1/query/whoami?",
			"/public/v1/submit/whoami": "did you mean /public/v1/query/whoami?",
			"/public/v1/query/" + strings.Repeat("x", 5000): "/openapi.json lists them all",
		} {
			reply := get(path)
			CheckError(t, reply, http.StatusNotFound)
			if got := reply.JSON(t).Get("message").Text(); !strings.Contains(got, hint) {
				t.Errorf("%.40s: %s", path, got)
			}
		}
	})
	t.Run("a base address that ends in a slash", func(t *testing.T) {
		body := s.Root.Body(t, "whoami", nil)
		name, value, err := s.Root.Stamper.Stamp(body)
		if err != nil {
			t.Fatal(err)
		}
		if reply := Send(t, http.MethodPost, s.URL+"//public/v1/query/whoami", http.Header{name: {value}}, body); reply.Status != http.StatusOK {
			t.Errorf("HTTP %d: %s", reply.Status, reply.Body)
		}
	})
}

// TestLog checks that each request is one line with what an operator needs,
// and that no body, signature or name gets in.
func TestLog(t *testing.T) {
	s := Start(t, SQLite(t), config.Default())
	ada := s.NewUser(t, s.Root, "Confidential name", client.P256)
	activity := s.Root.Submit(t, "create_user_tag", m{"userTagName": "Confidential tag", "userIds": []any{}})
	ada.Refused(t, 403, "create_user_tag", m{"userTagName": "x", "userIds": []any{}})
	s.Stranger(t, s.Root).Refused(t, 401, "whoami", nil)
	s.Root.Refused(t, 400, "create_user_tag", m{"userTagName": 5, "userIds": []any{}})

	text := s.Log.String()
	var outcomes []string
	for line := range strings.Lines(text) {
		var entry struct {
			Operation    string  `json:"operation"`
			Organization string  `json:"organization"`
			User         string  `json:"user"`
			Outcome      string  `json:"outcome"`
			Status       int     `json:"status"`
			Duration     float64 `json:"durationMs"`
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("not one JSON object a line: %v", err)
		}
		if entry.Operation == "" {
			continue // not of a request
		}
		if entry.Duration <= 0 || entry.Organization != s.Root.OrganizationID {
			t.Errorf("line: %s", line)
		}
		if entry.Outcome == "ACTIVITY_STATUS_FAILED" && entry.User != ada.UserID || entry.Status == 401 && entry.User != "" {
			t.Errorf("wrong user: %s", line)
		}
		outcomes = append(outcomes, fmt.Sprint(entry.Operation, " ", entry.Status, " ", entry.Outcome))
	}
	want := "create_users 200 ACTIVITY_STATUS_COMPLETED, create_user_tag 200 ACTIVITY_STATUS_COMPLETED, " +
		"create_user_tag 403 ACTIVITY_STATUS_FAILED, whoami 401 PUBLIC_KEY_NOT_FOUND, create_user_tag 400 REQUEST_INVALID"
	if got := strings.Join(outcomes, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !strings.Contains(text, activity.Get("id").Text()) {
		t.Errorf("the log does not name the activity")
	}
	for _, secret := range []string{"Confidential", s.Root.Key.PublicKey(), activity.Get("votes", 0, "signature").Text()} {
		if strings.Contains(text, secret) {
			t.Errorf("the log has %q", secret)
		}
	}
}

// TestReplyHeaders checks what clients compare literally.
func TestReplyHeaders(t *testing.T) {
	s := Start(t, SQLite(t), config.Default())
	reply := s.Root.Post(t, "whoami", s.Root.Body(t, "whoami", nil))
	if reply.Status != 200 || reply.Header.Get("Content-Type") != "application/json" || reply.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("HTTP %d %v", reply.Status, reply.Header)
	}
}
