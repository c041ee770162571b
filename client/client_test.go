package client

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

type fixedStamper struct{ err error }

func (s fixedStamper) Stamp(body []byte) (header, value string, err error) {
	return "X-Stamp", "stamp of " + hex.EncodeToString(body), s.err
}
func (fixedStamper) PublicKey() string { return "" }

// serve answers every request with status and reply, and keeps what it got.
func serve(t *testing.T, status int, reply string) (base string, got *http.Request, body *bytes.Buffer) {
	t.Helper()
	got, body = new(http.Request), new(bytes.Buffer)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*got = *r.Clone(context.Background())
		_, _ = io.Copy(body, r.Body)
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, reply)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, got, body
}

func TestPost(t *testing.T) {
	tests := []struct {
		name, slash, path string
	}{
		{"plain", "", "/public/v1/query/whoami"},
		{"base with a slash", "/", "/public/v1/query/whoami"},
		{"path without", "", "public/v1/query/whoami"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, req, body := serve(t, http.StatusOK, `{"a":1}`)
			c := &Client{BaseURL: base + tt.slash, Stamper: fixedStamper{}}
			reply, err := c.Post(t.Context(), tt.path, []byte(" {}\n"))
			if err != nil || string(reply) != `{"a":1}` {
				t.Fatalf("got %q, %v", reply, err)
			}
			got := []string{req.Method, req.URL.Path, body.String(), req.Header.Get("X-Stamp"), req.UserAgent(), req.Header.Get("Content-Type")}
			want := []string{"POST", "/public/v1/query/whoami", " {}\n", "stamp of 207b7d0a", "latchkey-go", "application/json"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPostUnsigned(t *testing.T) {
	base, req, _ := serve(t, http.StatusOK, "")
	c := &Client{BaseURL: base, UserAgent: "mine/1", HTTP: http.DefaultClient}
	if _, err := c.Post(t.Context(), "/x", nil); err != nil {
		t.Fatal(err)
	}
	if req.UserAgent() != "mine/1" || req.Header["X-Stamp"] != nil {
		t.Errorf("sent %v", req.Header)
	}
}

func TestPostError(t *testing.T) {
	const full = `{"code":16,"message":"no","details":[{"@type":"t","turnkeyErrorCode":"SIGNATURE_INVALID"}],"turnkeyErrorCode":"SIGNATURE_MISSING","more":1}`
	tests := []struct {
		name   string
		status int
		reply  string
		want   Error
		text   string
	}{
		{"whole", 401, full, Error{
			Code: 16, Message: "no", Reason: "SIGNATURE_MISSING",
			Details: jsontext.Value(`[{"@type":"t","turnkeyErrorCode":"SIGNATURE_INVALID"}]`),
		}, "server replied 401 (SIGNATURE_MISSING): no"},
		{"reason in the details", 400, `{"code":3,"message":"bad","details":[{},{"turnkeyErrorCode":"INVALID_TIME"}]}`, Error{
			Code: 3, Message: "bad", Reason: "INVALID_TIME", Details: jsontext.Value(`[{},{"turnkeyErrorCode":"INVALID_TIME"}]`),
		}, "server replied 400 (INVALID_TIME): bad"},
		{"null details", 404, `{"code":5,"message":"gone","details":null}`, Error{
			Code: 5, Message: "gone", Details: jsontext.Value("null"),
		}, "server replied 404: gone"},
		{"of a proxy", 502, "<html>", Error{Message: "Bad Gateway"}, "server replied 502: Bad Gateway"},
		{"empty", 500, "", Error{Message: "Internal Server Error"}, "server replied 500: Internal Server Error"},
		{"other success", 201, `{}`, Error{Message: "Created"}, "server replied 201: Created"},
		{"redirect", 307, ``, Error{Message: "Temporary Redirect"}, "server replied 307: Temporary Redirect"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, req, _ := serve(t, tt.status, tt.reply)
			reply, err := (&Client{BaseURL: base, Stamper: fixedStamper{}}).Post(t.Context(), "/x", nil)
			got, ok := errors.AsType[*Error](err)
			if !ok || reply != nil {
				t.Fatalf("got %q, %v", reply, err)
			}
			tt.want.Status, tt.want.Body = tt.status, []byte(tt.reply)
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Error(diff)
			}
			if err.Error() != tt.text {
				t.Errorf("got %q, want %q", err, tt.text)
			}
			if req.URL.Path != "/x" {
				t.Errorf("went on to %s", req.URL.Path)
			}
		})
	}
}

func TestPostFails(t *testing.T) {
	t.Run("large reply", func(t *testing.T) {
		base, _, _ := serve(t, http.StatusOK, strings.Repeat(" ", maxReply+1))
		if _, err := (&Client{BaseURL: base}).Post(t.Context(), "/x", nil); err == nil || !strings.Contains(err.Error(), "larger than") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("largest reply", func(t *testing.T) {
		base, _, _ := serve(t, http.StatusOK, strings.Repeat(" ", maxReply))
		if reply, err := (&Client{BaseURL: base}).Post(t.Context(), "/x", nil); err != nil || len(reply) != maxReply {
			t.Errorf("got %d bytes, %v", len(reply), err)
		}
	})
	t.Run("stamper", func(t *testing.T) {
		base, req, _ := serve(t, http.StatusOK, "")
		broken := errors.New("broken")
		if _, err := (&Client{BaseURL: base, Stamper: fixedStamper{broken}}).Post(t.Context(), "/x", nil); !errors.Is(err, broken) || req.URL != nil {
			t.Errorf("got %v", err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		base, _, _ := serve(t, http.StatusOK, "")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := (&Client{BaseURL: base}).Post(ctx, "/x", nil); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no server", func(t *testing.T) {
		if _, err := (&Client{BaseURL: "http://127.0.0.1:1"}).Post(t.Context(), "/x", nil); err == nil {
			t.Error("got no error")
		}
	})
	t.Run("bad address", func(t *testing.T) {
		if _, err := (&Client{BaseURL: "http://a b"}).Post(t.Context(), "/x", nil); err == nil {
			t.Error("got no error")
		}
	})
}
