// Package servertest runs the real service for tests: real store, real HTTP on
// loopback, real signatures. Nothing in it is a stand-in.
package servertest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/client"
	"latchkey/internal/domain"
	"latchkey/internal/ids"
	"latchkey/internal/request/engine"
	"latchkey/internal/request/ops"
	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/test/testkit"
)

// Server is a running service with one organization.
type Server struct {
	URL   string
	Kind  string // of the store: sqlite or postgres
	Store *store.Store
	Keys  server.KeyServices
	Whole *server.Server
	Root  *Caller // its root user
	Log   *Log    // everything that was logged
	// Outbox is the folder that messages are written to; see [Server.Mail]. Empty: the
	// config says how to send them.
	Outbox string
	Stop   func(testing.TB) // ends the server before the test does

	earlier map[string]bool // what other tests have left in the outbox
}

// Each runs a test on every store, in an organization of its own. The server is
// the test's alone, unless [Main] shares it.
func Each(t *testing.T, test func(t *testing.T, s *Server)) {
	t.Helper()
	for name, url := range stores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if s := shared.visit(t, name); s != nil {
				test(t, s)
				return
			}
			test(t, Start(t, url(t), config.Default()))
		})
	}
}

// EachStore runs a test with a fresh store of every kind.
func EachStore(t *testing.T, test func(t *testing.T, storeURL string)) {
	t.Helper()
	for name, url := range stores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, url(t))
		})
	}
}

func stores() map[string]func(testing.TB) string {
	return map[string]func(testing.TB) string{
		"sqlite":   SQLite,
		"postgres": Postgres,
	}
}

// SQLite is the URL of a fresh embedded store.
func SQLite(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "latchkey.db") }

// Start runs the service on a store until the test ends. Issuers of tokens on
// this machine are accepted, and unless the config says how to send mail or SMS,
// both are written to a folder.
func Start(t testing.TB, storeURL string, c config.Config) *Server {
	t.Helper()
	return StartWith(t, storeURL, c, MasterKey(t, storeURL), "")
}

// StartWith is [Start] with master keys of the test's own.
func StartWith(t testing.TB, storeURL string, c config.Config, master, previous string) *Server {
	t.Helper()
	running := Resume(t, storeURL, c, master, previous)
	running.Root = running.CreateOrganization(t, "Test organization")
	return running
}

// Resume is [StartWith] on a store that has organizations already: it makes none.
func Resume(t testing.TB, storeURL string, c config.Config, master, previous string) *Server {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	c.Store = storeURL
	s, err := server.OpenConfigured(ctx, &c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	c = patient(c)
	if c.Timeouts.LameDuck == config.Default().Timeouts.LameDuck {
		c.Timeouts.LameDuck = 0 // no balancer looks
	}
	c.Listen, c.Dev.LoopbackIssuers = "127.0.0.1:0", true
	if c.Mail.Host == "" && c.SMS.URL == "" && c.Dev.Outbox == "" {
		c.Dev.Outbox = filepath.Join(t.TempDir(), "outbox")
	}
	log := new(Log)
	logger := slog.New(slog.NewJSONHandler(log, nil))
	c.MasterKey, c.PreviousMasterKey = master, previous
	keys, err := server.OpenKeys(ctx, s, &c, logger)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := server.Bind(&c)
	if err != nil {
		t.Fatal(err)
	}
	srv, err := server.New(bound, s, keys, logger, "test")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	var once sync.Once
	end := func(t testing.TB) {
		once.Do(func() {
			// A server that drains waits some seconds for a connection on which
			// nothing came yet; the client keeps such ones in reserve.
			http.DefaultClient.CloseIdleConnections()
			stop()
			if err := <-done; err != nil {
				t.Errorf("the server did not stop cleanly: %v", err)
			}
			keys.Vault.Close()
			if err := s.Close(); err != nil {
				t.Errorf("closing the store: %v", err)
			}
			if t.Failed() {
				t.Logf("what the server complained about:\n%s", log.Complaints())
			}
		})
	}
	t.Cleanup(func() { end(t) })
	kind, _, _ := strings.Cut(storeURL, ":")
	return &Server{URL: srv.BaseURL(), Kind: kind, Store: s, Keys: keys, Whole: srv, Log: log, Stop: end, Outbox: c.Dev.Outbox}
}

// patient raises the time-outs that the test has left as they are: that a busy
// machine is slow is not an error.
func patient(c config.Config) config.Config {
	usual := config.Default()
	for limit, of := range map[*time.Duration]time.Duration{
		&c.Timeouts.Header: usual.Timeouts.Header, &c.Timeouts.Body: usual.Timeouts.Body,
		&c.Timeouts.Request: usual.Timeouts.Request, &c.Timeouts.Drain: usual.Timeouts.Drain,
		&c.OIDC.Timeout: usual.OIDC.Timeout,
	} {
		if *limit == of {
			*limit = testkit.Patience
		}
	}
	return c
}

// MasterKey is the same for all nodes on one store.
func MasterKey(t testing.TB, storeURL string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "master.key")
	if err := os.WriteFile(path, fmt.Appendf(nil, "%x\n", sha256.Sum256([]byte(storeURL))), 0o600); err != nil {
		t.Fatal(err)
	}
	return "file:" + path
}

// CreateOrganization creates a further organization and returns its root user.
func (s *Server) CreateOrganization(t testing.TB, name string) *Caller {
	t.Helper()
	root := s.stranger(t, client.P256)
	root.OrganizationID, root.UserID = ids.New(), ids.New()
	err := engine.CreateOrganization(context.Background(), s.Store, engine.NewOrganization{
		OrganizationID: root.OrganizationID, OrganizationName: name,
		UserID: root.UserID, UserName: "Root user", APIKeyID: ids.New(), APIKeyName: "Root key",
		PublicKey: root.Key.PublicKey(), KeyType: domain.CredentialP256,
	}, true, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// Caller is a user with a key.
type Caller struct {
	OrganizationID string
	UserID         string
	Key            client.PrivateKey
	Stamper        client.Stamper
	url            string
	from           string // address, as a proxy would say; empty: it says nothing
}

// From is the caller at another address, if the server trusts proxies on this
// machine.
func (c *Caller) From(address string) *Caller {
	there := *c
	there.from = address
	return &there
}

func (s *Server) stranger(t testing.TB, c client.Curve) *Caller {
	t.Helper()
	key, err := client.GenerateKey(c)
	if err != nil {
		t.Fatal(err)
	}
	return &Caller{Key: key, Stamper: key.Stamper(), url: s.URL}
}

// As is a caller of another node, at this one.
func (s *Server) As(c *Caller) *Caller {
	here := *c
	here.url = s.URL
	return &here
}

// Stranger is a caller with an unknown key that claims to belong to the
// organization of other.
func (s *Server) Stranger(t testing.TB, other *Caller) *Caller {
	stranger := s.stranger(t, client.P256)
	stranger.OrganizationID, stranger.UserID = other.OrganizationID, other.UserID
	return stranger
}

// NewUser lets a root user create a user with a key of its own. More members
// of the key, such as expirationSeconds, may be given.
func (s *Server) NewUser(t testing.TB, root *Caller, name string, c client.Curve) *Caller {
	t.Helper()
	user := s.stranger(t, c)
	user.OrganizationID = root.OrganizationID
	activity := root.Submit(t, "create_users", map[string]any{"users": []any{map[string]any{
		"userName": name,
		"apiKeys": []any{map[string]any{
			"apiKeyName": name + "'s key", "publicKey": user.Key.PublicKey(), "curveType": c.CurveType(),
		}},
		"authenticators": []any{}, "oauthProviders": []any{}, "userTags": []any{},
	}}})
	user.UserID = activity.Get("result", "createUsersResult", "userIds", 0).Text()
	return user
}

// Reply is what came back.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
}

// JSON is the body, decoded.
func (r Reply) JSON(t testing.TB) Value {
	t.Helper()
	var v any
	if err := json.Unmarshal(r.Body, &v); err != nil {
		t.Fatalf("the reply is not JSON: %v\n%s", err, r.Body)
	}
	return Value{t, v}
}

// Body renders a request for an operation: the whole envelope for activities,
// the parameters with the organization for queries.
func (c *Caller) Body(t testing.TB, operation string, parameters any) []byte {
	t.Helper()
	path := catalog().Endpoint(operation)
	if path == nil {
		members := map[string]any{"organizationId": c.OrganizationID}
		for name, value := range asMembers(t, parameters) {
			members[name] = value
		}
		return encode(t, members)
	}
	return c.BodyOf(t, path.Newest().Type, parameters)
}

// BodyOf renders a request for an activity type.
func (c *Caller) BodyOf(t testing.TB, activityType string, parameters any) []byte {
	t.Helper()
	return encode(t, map[string]any{
		"type": activityType, "timestampMs": strconv.FormatInt(newTime(), 10),
		"organizationId": c.OrganizationID, "parameters": parameters,
	})
}

// lastTime is the one that the newest request of this process bears.
var lastTime atomic.Int64

// newTime is the time in milliseconds, and never the same twice: on a fast
// machine two equal requests would be one that was sent again.
func newTime() int64 {
	for {
		last := lastTime.Load()
		now := time.Now().UnixMilli()
		if now <= last && last-now < time.Minute.Milliseconds() { // not when a benchmark has run far ahead
			now = last + 1
		}
		if lastTime.CompareAndSwap(last, now) {
			return now
		}
	}
}

// catalog is compiled once: every request of every test asks it.
var catalog = sync.OnceValue(ops.Catalog)

// Path is the path of an operation.
func Path(operation string) string {
	if catalog().Endpoint(operation) != nil {
		return "/public/v1/submit/" + operation
	}
	return "/public/v1/query/" + operation
}

// Submit performs an activity that must complete, and returns it.
func (c *Caller) Submit(t testing.TB, operation string, parameters any) Value {
	t.Helper()
	return c.MustPost(t, operation, c.Body(t, operation, parameters)).Get("activity")
}

// Query asks a question that must be answered.
func (c *Caller) Query(t testing.TB, operation string, parameters any) Value {
	t.Helper()
	return c.MustPost(t, operation, c.Body(t, operation, parameters))
}

// Refused makes a request that must be refused with this status, and returns
// the error body.
func (c *Caller) Refused(t testing.TB, status int, operation string, parameters any) Value {
	t.Helper()
	return c.RefusedBody(t, status, operation, c.Body(t, operation, parameters))
}

// RefusedBody is [Caller.Refused] for a body as it is.
func (c *Caller) RefusedBody(t testing.TB, status int, operation string, body []byte) Value {
	t.Helper()
	reply := c.Post(t, operation, body)
	CheckError(t, reply, status)
	return reply.JSON(t)
}

// MustPost posts a body that must be accepted.
func (c *Caller) MustPost(t testing.TB, operation string, body []byte) Value {
	t.Helper()
	reply := c.Post(t, operation, body)
	if reply.Status != http.StatusOK {
		t.Fatalf("%s: HTTP %d: %s", operation, reply.Status, reply.Body)
	}
	return reply.JSON(t)
}

// Post stamps a body as it is and posts it.
func (c *Caller) Post(t testing.TB, operation string, body []byte) Reply {
	t.Helper()
	return c.stamped(t, Path(operation), body)
}

// PostTo stamps what encodes to a body and posts it to a path of our own.
func (c *Caller) PostTo(t testing.TB, path string, body any) Reply {
	t.Helper()
	return c.stamped(t, path, encode(t, body))
}

func (c *Caller) stamped(t testing.TB, path string, body []byte) Reply {
	t.Helper()
	name, value, err := c.Stamper.Stamp(body)
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{name: {value}}
	if c.from != "" {
		header.Set("X-Forwarded-For", c.from)
	}
	return Send(t, http.MethodPost, c.url+path, header, body)
}

// Send sends a request as it is.
func Send(t testing.TB, method, url string, header http.Header, body []byte) Reply {
	t.Helper()
	reply, err := send(method, url, header, body)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

func send(method, url string, header http.Header, body []byte) (Reply, error) {
	request, err := http.NewRequest(method, url, strings.NewReader(string(body)))
	if err != nil {
		return Reply{}, err
	}
	request.Header = header.Clone()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return Reply{}, err
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	return Reply{Status: response.StatusCode, Header: response.Header, Body: read}, err
}

// CheckError checks everything that every error reply must have.
func CheckError(t testing.TB, r Reply, status int) {
	t.Helper()
	if r.Status != status {
		t.Fatalf("HTTP %d, want %d: %s", r.Status, status, r.Body)
	}
	if got := r.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q, want exactly application/json", got)
	}
	body := r.JSON(t)
	if body.Get("message").Text() == "" || body.Get("code").Number() == 0 {
		t.Errorf("an error without message or code: %s", r.Body)
	}
	detail := body.Get("details", 0)
	if detail.Get("turnkeyErrorCode").Text() != body.Get("turnkeyErrorCode").Text() {
		t.Errorf("the two error codes differ: %s", r.Body)
	}
}

func asMembers(t testing.TB, parameters any) map[string]any {
	t.Helper()
	if parameters == nil {
		return nil
	}
	var members map[string]any
	if err := json.Unmarshal(encode(t, parameters), &members); err != nil {
		t.Fatal(err)
	}
	return members
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	if raw, ok := v.(jsontext.Value); ok {
		return raw
	}
	body, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// Value is a decoded JSON value that tests walk through.
type Value struct {
	t   testing.TB
	Any any
}

// Get walks down: strings are members, numbers are indexes.
func (v Value) Get(path ...any) Value {
	v.t.Helper()
	at := v.Any
	for _, step := range path {
		switch step := step.(type) {
		case string:
			members, ok := at.(map[string]any)
			if !ok {
				v.t.Fatalf("no member %q in %v", step, at)
			}
			if at, ok = members[step]; !ok {
				v.t.Fatalf("no member %q in %v", step, members)
			}
		case int:
			elements, ok := at.([]any)
			if !ok || step >= len(elements) {
				v.t.Fatalf("no element %d in %v", step, at)
			}
			at = elements[step]
		}
	}
	return Value{v.t, at}
}

// Has reports whether there is such a member.
func (v Value) Has(name string) bool {
	members, _ := v.Any.(map[string]any)
	_, ok := members[name]
	return ok
}

// Text is the value as a string.
func (v Value) Text() string {
	v.t.Helper()
	text, ok := v.Any.(string)
	if !ok {
		v.t.Fatalf("not a string: %v", v.Any)
	}
	return text
}

// Number is the value as a number.
func (v Value) Number() float64 {
	v.t.Helper()
	number, ok := v.Any.(float64)
	if !ok {
		v.t.Fatalf("not a number: %v", v.Any)
	}
	return number
}

// List is the value as a list.
func (v Value) List() []Value {
	v.t.Helper()
	elements, ok := v.Any.([]any)
	if !ok {
		v.t.Fatalf("not a list: %v", v.Any)
	}
	list := make([]Value, len(elements))
	for i, e := range elements {
		list[i] = Value{v.t, e}
	}
	return list
}

// String shows the value in messages.
func (v Value) String() string { return fmt.Sprint(v.Any) }
