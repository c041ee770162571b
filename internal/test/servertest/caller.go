package servertest

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/client"
	"latchkey/internal/request/ops"
)

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
