package load

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestReadReply(t *testing.T) {
	tests := []struct {
		name, text string
		status     int
		body       string // "" with status 0: refused
	}{
		{"plain", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", 200, "ab"},
		{"empty", "HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n", 500, ""},
		{"no reason", "HTTP/1.1 200\r\ncontent-length:2\r\n\r\nab", 200, "ab"},
		{"other headers", "HTTP/1.1 403 Forbidden\r\nDate: x\r\nContent-Length: 1 \r\nX: y\r\n\r\na", 403, "a"},
		{"chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\n\r\n", 200, "abc"},
		{"trailer", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: y\r\n\r\n", 200, "a"},
		{"nothing", "", 0, ""},
		{"not HTTP", "SSH-2.0-x\r\n\r\n", 0, ""},
		{"older", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", 0, ""},
		{"no number", "HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n", 0, ""},
		{"long number", "HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n", 0, ""},
		{"interim", "HTTP/1.1 100 Continue\r\nContent-Length: 0\r\n\r\n", 0, ""},
		{"no content", "HTTP/1.1 204 No Content\r\n\r\n", 0, ""},
		{"until the end", "HTTP/1.1 200 OK\r\n\r\nab", 0, ""},
		{"short", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", 0, ""},
		{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nab", 0, ""},
		{"both", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0, ""},
		{"signed length", "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nab", 0, ""},
		{"huge", "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n", 0, ""},
		{"zipped", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", 0, ""},
		{"no colon", "HTTP/1.1 200 OK\r\nContent-Length 2\r\n\r\n", 0, ""},
		{"many headers", "HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", 101) + "\r\n", 0, ""},
		{"broken chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			const next = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext"
			text := tt.text
			if tt.status != 0 {
				text += next
			}
			r := bufio.NewReader(strings.NewReader(text))
			status, body, err := readReply(r, make([]byte, 0, 1))
			if tt.status == 0 {
				if err == nil {
					t.Fatalf("accepted as %d %q", status, body)
				}
				return
			}
			if err != nil || status != tt.status || string(body) != tt.body {
				t.Fatalf("got %d %q, %v", status, body, err)
			}
			// And the next reply is where it should be.
			if _, body, err := readReply(r, nil); err != nil || string(body) != "next" {
				t.Errorf("after it: %q, %v", body, err)
			}
		})
	}
}

// FuzzReadReply checks that what is accepted means the same to net/http, and
// ends at the same place.
func FuzzReadReply(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabHTTP"))
	f.Add([]byte("HTTP/1.1 403 Forbidden\r\nX: y\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: y\r\n\r\nrest"))
	f.Add([]byte("HTTP/1.1 200\ncontent-length: 0\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		ours := bufio.NewReader(bytes.NewReader(text))
		status, body, err := readReply(ours, nil)
		if err != nil {
			return
		}
		theirs := bufio.NewReader(bytes.NewReader(text))
		response, err := http.ReadResponse(theirs, nil)
		if err != nil {
			return // net/http also looks at headers that are nothing to us
		}
		defer response.Body.Close()
		want, err := io.ReadAll(response.Body)
		if err != nil {
			return
		}
		if status != response.StatusCode || !bytes.Equal(body, want) {
			t.Fatalf("got %d %q, want %d %q", status, body, response.StatusCode, want)
		}
		left, _ := io.ReadAll(ours)
		if leftWant, _ := io.ReadAll(theirs); !bytes.Equal(left, leftWant) {
			t.Fatalf("left %q, want %q", left, leftWant)
		}
	})
}
