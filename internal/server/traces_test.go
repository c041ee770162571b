package server_test

import (
	"bytes"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/test/servertest"
)

// collector is one of OpenTelemetry that keeps what it is sent.
type collector struct {
	*httptest.Server
	mu      sync.Mutex
	raw     bytes.Buffer
	spans   []*tracepb.Span
	headers []http.Header
	wrong   []string
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := new(collector)
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		var sent tracepb.TracesData
		if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" || proto.Unmarshal(body, &sent) != nil {
			c.wrong = append(c.wrong, r.Method+" "+r.URL.Path)
			return
		}
		c.raw.Write(body)
		c.headers = append(c.headers, r.Header)
		for _, resource := range sent.GetResourceSpans() {
			for _, scope := range resource.GetScopeSpans() {
				c.spans = append(c.spans, scope.GetSpans()...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// attributes are those of a span, as text.
func attributes(s *tracepb.Span) map[string]string {
	all := map[string]string{}
	for _, a := range s.GetAttributes() {
		all[a.GetKey()] = a.GetValue().GetStringValue()
	}
	return all
}

// TestTraces: a collector is told of each request what the documents say, and nothing
// else: no body, no stamp, no header, no secret.
func TestTraces(t *testing.T) {
	servertest.EachStore(t, func(t *testing.T, storeURL string) {
		to := newCollector(t)
		secret := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(secret, []byte("Bearer canary-of-the-collector\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c := config.Default()
		c.Log.RequestIDs = true
		c.Traces = config.Traces{Endpoint: to.URL + "/v1/traces", Headers: map[string]config.Secret{"Authorization": config.Secret("file:" + secret)}, Sample: 1}
		s := servertest.Start(t, storeURL, c)

		const traceID, parentID = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
		send := func(path string, body []byte) servertest.Reply {
			name, stamp, err := s.Root.Stamper.Stamp(body)
			if err != nil {
				t.Fatal(err)
			}
			return servertest.Send(t, http.MethodPost, s.URL+path, http.Header{
				name: {stamp}, "Traceparent": {"00-" + traceID + "-" + parentID + "-01"}, "Tracestate": {"vendor=canary-state"},
				"Authorization": {"canary-header"}, "Baggage": {"user=canary-baggage"}, "X-Session": {"canary-session"}, "X-Request-Id": {"canary-request"},
			}, body)
		}
		body := s.Root.Body(t, "create_user_tag", map[string]any{"userTagName": "canary-name", "userIds": []any{}})
		_, stamp, err := s.Root.Stamper.Stamp(body)
		if err != nil {
			t.Fatal(err)
		}
		done := send("/public/v1/submit/create_user_tag", body)
		if done.Status != http.StatusOK {
			t.Fatal(done)
		}
		address := s.Root.Submit(t, "create_wallet", map[string]any{"walletName": "canary-wallet", "accounts": []any{map[string]any{
			"curve": "CURVE_SECP256K1", "pathFormat": "PATH_FORMAT_BIP32", "path": "m/44'/60'/0'/0/0", "addressFormat": "ADDRESS_FORMAT_ETHEREUM",
		}}}).Get("result", "createWalletResult", "addresses", 0).Text()
		s.Root.Submit(t, "sign_raw_payload", map[string]any{
			"signWith": address, "payload": "canary-payload", "encoding": "PAYLOAD_ENCODING_TEXT_UTF8", "hashFunction": "HASH_FUNCTION_SHA256",
		})
		send("/public/v1/submit/create_user_tag", []byte(`{"canary-of-a-refused-body":1}`))
		s.Stranger(t, s.Root).Refused(t, http.StatusUnauthorized, "create_user_tag", map[string]any{"userTagName": "canary-of-a-stranger", "userIds": []any{}})
		log := s.Log
		s.Stop(t)

		to.mu.Lock()
		defer to.mu.Unlock()
		if len(to.wrong) != 0 || len(to.headers) == 0 || to.headers[0].Get("Authorization") != "Bearer canary-of-the-collector" {
			t.Fatalf("the collector was sent %v, with %v", to.wrong, to.headers)
		}
		for what, text := range map[string]string{"the spans": to.raw.String(), "the log": log.String()} {
			for _, canary := range []string{"canary", address, strings.ToLower(stamp), stamp, hex.EncodeToString([]byte("canary"))} {
				if strings.Contains(text, canary) {
					t.Errorf("%s have %q", what, canary)
				}
			}
		}
		if !strings.Contains(log.String(), `"trace":"`+traceID+`"`) {
			t.Error("the log does not name the trace")
		}

		// The whole of one trace.
		known := []string{"http.response.status_code", "latchkey.activity", "latchkey.organization", "latchkey.outcome", "latchkey.request"}
		var request *tracepb.Span
		steps := map[string]bool{}
		outcomes := map[string]int{}
		for _, span := range to.spans {
			for name := range attributes(span) {
				if !slices.Contains(known, name) {
					t.Errorf("%s says %s", span.GetName(), name)
				}
			}
			if len(span.GetEvents()) != 0 || len(span.GetLinks()) != 0 || span.GetTraceState() != "" || span.GetStatus().GetMessage() != "" {
				t.Errorf("a span says more than it should: %v", span)
			}
			if span.GetKind() != tracepb.Span_SPAN_KIND_SERVER {
				continue
			}
			outcomes[span.GetName()+" "+attributes(span)["latchkey.outcome"]]++
			if hex.EncodeToString(span.GetTraceId()) == traceID && attributes(span)["latchkey.outcome"] == "ACTIVITY_STATUS_COMPLETED" {
				request = span
			}
		}
		if request == nil {
			t.Fatalf("there is no span of the request: %v", outcomes)
		}
		for _, span := range to.spans {
			if bytes.Equal(span.GetParentSpanId(), request.GetSpanId()) {
				steps[span.GetName()] = true
				if span.GetStartTimeUnixNano() < request.GetStartTimeUnixNano() || span.GetEndTimeUnixNano() > request.GetEndTimeUnixNano() {
					t.Errorf("%s is not within its request", span.GetName())
				}
			}
		}
		for _, step := range []string{"authenticate", "decide", "execute", "commit"} {
			if !steps[step] || len(steps) != 4 {
				t.Errorf("the steps are %v", steps)
			}
		}
		says := attributes(request)
		if request.GetName() != "create_user_tag" || hex.EncodeToString(request.GetParentSpanId()) != parentID ||
			says["latchkey.organization"] != s.Root.OrganizationID || len(says["latchkey.activity"]) != 36 || says["latchkey.request"] != done.Header.Get("X-Request-Id") {
			t.Errorf("the span says %v", request)
		}
		if got, want := done.Header.Get("Traceresponse"), "00-"+traceID+"-"+hex.EncodeToString(request.GetSpanId())+"-01"; got != want {
			t.Errorf("the reply names %s, not %s", got, want)
		}
		if outcomes["sign_raw_payload ACTIVITY_STATUS_COMPLETED"] != 1 || len(outcomes) < 4 {
			t.Errorf("the outcomes are %v", outcomes)
		}
	})
}

// TestTracesOff: nothing is said of traces where there are none.
func TestTracesOff(t *testing.T) {
	s := servertest.Start(t, servertest.SQLite(t), config.Default())
	reply := servertest.Send(t, http.MethodPost, s.URL+"/public/v1/query/whoami", http.Header{"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}, []byte(`{}`))
	if got := reply.Header.Get("Traceresponse"); got != "" || strings.Contains(s.Log.String(), `"trace"`) {
		t.Errorf("a trace is named: %s", got)
	}
}

// TestTracesWithoutCollector: a collector that is away costs its spans, and is told of
// once.
func TestTracesWithoutCollector(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	c := config.Default()
	c.Traces = config.Traces{Endpoint: gone.URL, Sample: 1}
	s := servertest.Start(t, servertest.SQLite(t), c)
	for _, name := range []string{"a", "b", "c"} {
		s.Root.Submit(t, "create_user_tag", map[string]any{"userTagName": name, "userIds": []any{}})
	}
	log := s.Log
	s.Stop(t)
	if n := strings.Count(log.String(), "the collector does not take traces"); n != 1 {
		t.Errorf("it is told %d times:\n%s", n, log)
	}
}

// TestTracesRefused: a secret that is not there is found before anything is made.
func TestTracesRefused(t *testing.T) {
	c := config.Default()
	c.Traces = config.Traces{Endpoint: "https://127.0.0.1:1", Headers: map[string]config.Secret{"Authorization": "env:LATCHKEY_TEST_NOT_SET"}, Sample: 1}
	c.Listen = "127.0.0.1:0"
	_, err := server.Bind(&c)
	if err == nil || !strings.Contains(err.Error(), "traces.headers.Authorization: the environment variable LATCHKEY_TEST_NOT_SET is not set") {
		t.Error(err)
	}
}
