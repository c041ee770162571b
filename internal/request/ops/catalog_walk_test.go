package ops_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"latchkey/client"
	"latchkey/internal/domain"
	"latchkey/internal/ids"
	"latchkey/internal/request/decide"
	"latchkey/internal/schema"
	"latchkey/internal/store"
	. "latchkey/internal/test/servertest"
)

// world is an organization with the callers that the walk needs.
type world struct {
	*Server
	stranger  *Caller // a key that is unknown
	foreigner *Caller // root of another organization
	member    *Caller // no root user
	expired   *Caller // root user whose key has ended
	brief     bool    // of what is wrong by its form alone, one of each kind is enough
}

func newWorld(t *testing.T, s *Server) *world {
	w := &world{Server: s, stranger: s.Stranger(t, s.Root), foreigner: s.CreateOrganization(t, "Another organization")}
	w.foreigner.OrganizationID = s.Root.OrganizationID
	w.member = s.NewUser(t, s.Root, "Member", client.P256)
	w.expired = s.Stranger(t, s.Root)
	addKey(t, s, s.Root, domain.APIKey{
		Name: "short", PublicKey: w.expired.Key.PublicKey(), Type: domain.CredentialP256,
		ExpirationSeconds: 60, CreatedAt: time.Now().Add(-time.Hour),
	})
	return w
}

// addKey gives a user a key that no operation makes.
func addKey(t *testing.T, s *Server, c *Caller, key domain.APIKey) {
	t.Helper()
	key.ID, key.UpdatedAt = ids.New(), key.CreatedAt
	err := s.Store.Update(t.Context(), c.OrganizationID, func(tx *store.Tx) error {
		return tx.Users().Edit(c.UserID, func(u *domain.User) error {
			u.APIKeys = append(u.APIKeys, key)
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// state is everything that a client can see of the organization.
func (w *world) state(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, query := range []string{"list_users", "list_user_tags", "get_organization_configs", "list_activities"} {
		fmt.Fprintln(&all, string(marshal(t, w.Root.Query(t, query, nil).Any)))
	}
	return all.String()
}

// syntax sends what is not one JSON object.
func (w *world) syntax(t *testing.T, o operation) {
	good := o.body(t, w.Root, example(t, o))
	duplicated := bytes.Replace(good, []byte("{"), []byte(`{"organizationId":"`+w.Root.OrganizationID+`",`), 1)
	inside := good
	if o.typ != "" {
		inside = bytes.Replace(good, []byte(`"parameters":{`), []byte(`"parameters":{"a":1,"a":2,`), 1)
	}
	cases := []struct {
		name string
		body []byte
	}{
		{"cut off", good[:len(good)-1]},
		{"empty", nil},
		{"not an object", []byte(`[]`)},
		{"null", []byte(`null`)},
		{"trailing data", append(slices.Clone(good), '1')},
		{"two objects", append(slices.Clone(good), good...)},
		{"duplicate member", duplicated},
		{"duplicate inside", inside},
		{"invalid UTF-8", bytes.Replace(good, []byte(w.Root.OrganizationID[:1]), []byte{0xff}, 1)},
		{"deeply nested", []byte(strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000))},
		{"a comment", append([]byte("/* hi */"), good...)},
		{"single quotes", bytes.ReplaceAll(good, []byte(`"`), []byte(`'`))},
		{"byte order mark", append([]byte("\xef\xbb\xbf"), good...)},
		{"control in a string", bytes.Replace(good, []byte(`"`), []byte("\"\n"), 1)},
	}
	if w.brief {
		cases = cases[:1]
	}
	for _, c := range cases {
		if c.name == "duplicate inside" && o.typ == "" {
			continue
		}
		t.Run("syntax/"+c.name, func(t *testing.T) {
			refusal := w.Root.RefusedBody(t, http.StatusBadRequest, o.name, c.body)
			if refusal.Get("code").Number() != 3 {
				t.Errorf("code %v, want 3", refusal.Get("code"))
			}
		})
	}
}

// envelope spoils what is around the parameters.
func (w *world) envelope(t *testing.T, o operation) {
	change := func(name string, value any) []byte {
		var body map[string]any
		unmarshal(t, o.body(t, w.Root, example(t, o)), &body)
		if body[name] = value; value == nil {
			delete(body, name)
		}
		return marshal(t, body)
	}
	now := time.Now()
	millis := func(at time.Time) string { return strconv.FormatInt(at.UnixMilli(), 10) }
	cases := []struct {
		name, field string
		body        []byte
	}{
		{"no organization", "organizationId", change("organizationId", nil)},
		{"organization of a wrong type", "organizationId", change("organizationId", 5)},
		{"malformed organization", "organizationId", change("organizationId", "not-a-uuid")},
		{"unknown member", "organisationId", change("organisationId", "x")},
		{"other case", "OrganizationId", change("OrganizationId", w.Root.OrganizationID)},
	}
	if o.typ != "" {
		cases = append(cases, []struct {
			name, field string
			body        []byte
		}{
			{"no type", "type", change("type", nil)},
			{"foreign type", "type", change("type", "ACTIVITY_TYPE_NO_SUCH_THING")},
			{"type of a wrong type", "type", change("type", true)},
			{"no time", "timestampMs", change("timestampMs", nil)},
			{"time as a number", "timestampMs", change("timestampMs", now.UnixMilli())},
			{"time not a number", "timestampMs", change("timestampMs", "yesterday")},
			{"negative time", "timestampMs", change("timestampMs", "-1")},
			{"huge time", "timestampMs", change("timestampMs", "9999999999999999")},
			{"stale", "timestampMs", change("timestampMs", millis(now.Add(-61*time.Minute)))},
			{"future", "timestampMs", change("timestampMs", millis(now.Add(30*time.Minute)))},
			{"no parameters", "parameters", change("parameters", nil)},
			{"parameters of a wrong type", "parameters", change("parameters", []any{})},
		}...)
	}
	if w.brief {
		cases = cases[:1]
	}
	for _, c := range cases {
		t.Run("envelope/"+c.name, func(t *testing.T) {
			wantField(t, w.Root.RefusedBody(t, http.StatusBadRequest, o.name, c.body), c.field)
		})
	}
}

// fields spoils every parameter in every way that its declaration forbids.
func (w *world) fields(t *testing.T, o operation) {
	full := value(t, o.params.ExampleFull())
	if problems := o.params.Decode(marshal(t, full), newValue(o.params)); len(problems) > 0 {
		t.Fatalf("the full example has problems: %v", problems)
	}
	tried := false
	try := func(name, path string, spoil func(any)) {
		if w.brief && tried {
			return
		}
		tried = true
		t.Run("field/"+path+"/"+name, func(t *testing.T) {
			parameters := clone(full)
			spoil(parameters)
			if o.newest != nil && o.newest != o.params && len(o.newest.Decode(marshal(t, parameters), newValue(o.newest))) == 0 {
				return // it is a request of the newest version now, and served as one
			}
			wantField(t, w.Root.RefusedBody(t, http.StatusBadRequest, o.name, o.body(t, w.Root, parameters)), path)
		})
	}
	set := func(path string, v any) func(any) { return func(root any) { assign(root, path, v) } }
	objects := map[string]bool{"": true}
	o.params.Walk(func(p schema.Property) {
		if p.Path == "organizationId" && o.typ == "" {
			return // the envelope's
		}
		if !reachable(full, p.Path) {
			return // below something that is not supported yet
		}
		if p.Type == "object" {
			objects[p.Path] = true
		}
		if p.Required {
			try("missing", p.Path, func(root any) { remove(root, p.Path) })
		}
		if p.Type != "raw" {
			try("wrong type", p.Path, set(p.Path, wrongType(p)))
		}
		for name, bad := range badValues(p) {
			try(name, p.Path, set(p.Path, bad))
		}
	})
	for path := range objects {
		unknown := strings.TrimPrefix(path+".surprise", ".")
		try("unknown", unknown, func(root any) { assign(root, unknown, 1) })
	}
}

// stamps sends requests without a stamp, or with a wrong one.
func (w *world) stamps(t *testing.T, o operation) {
	body := o.body(t, w.Root, example(t, o))
	url := w.URL + Path(o.name)
	stamp := func(c *Caller, over []byte) http.Header {
		name, value, err := c.Stamper.Stamp(over)
		if err != nil {
			t.Fatal(err)
		}
		return http.Header{name: {value}}
	}
	good := stamp(w.Root, body)
	tampered := bytes.Replace(body, []byte("{"), []byte("{ "), 1)
	elsewhere := bytes.Replace(body, []byte(w.Root.OrganizationID), []byte(unknownID), 1)
	cases := []struct {
		name, code string
		header     http.Header
		body       []byte
	}{
		{"missing", "SIGNATURE_MISSING", http.Header{}, body},
		{"not base64", "SIGNATURE_INVALID", http.Header{"X-Stamp": {"%%%"}}, body},
		{"not JSON", "SIGNATURE_INVALID", http.Header{"X-Stamp": {base64.RawURLEncoding.EncodeToString([]byte("hello"))}}, body},
		{"passkey not JSON", "SIGNATURE_INVALID", http.Header{"X-Stamp-Webauthn": {"hello"}}, body},
		{"twice", "SIGNATURE_INVALID", http.Header{"X-Stamp": {good.Get("X-Stamp"), good.Get("X-Stamp")}}, body},
		{"tampered body", "SIGNATURE_INVALID", good, tampered},
		{"unknown key", "PUBLIC_KEY_NOT_FOUND", stamp(w.stranger, body), body},
		{"key of another organization", "PUBLIC_KEY_NOT_FOUND", stamp(w.foreigner, body), body},
		{"organization that does not exist", "PUBLIC_KEY_NOT_FOUND", stamp(w.Root, elsewhere), elsewhere},
		{"expired key", "API_KEY_EXPIRED", stamp(w.expired, body), body},
		{"unknown passkey", "CREDENTIAL_NOT_FOUND", http.Header{"X-Stamp-Webauthn": {unknownPasskey}}, body},
	}
	for _, c := range cases {
		t.Run("stamp/"+c.name, func(t *testing.T) {
			reply := Send(t, http.MethodPost, url, c.header, c.body)
			CheckError(t, reply, http.StatusUnauthorized)
			refusal := reply.JSON(t)
			if got := refusal.Get("turnkeyErrorCode").Text(); got != c.code {
				t.Errorf("error code %s, want %s: %s", got, c.code, reply.Body)
			}
			if refusal.Get("code").Number() != 16 {
				t.Errorf("code %v, want 16", refusal.Get("code"))
			}
		})
	}
	absent := Send(t, http.MethodPost, url, stamp(w.Root, elsewhere), elsewhere)
	unknown := Send(t, http.MethodPost, url, stamp(w.stranger, body), body)
	if !bytes.Equal(absent.Body, unknown.Body) {
		t.Errorf("an organization that does not exist can be told from one that does:\n%s\n%s", absent.Body, unknown.Body)
	}
}

const unknownPasskey = `{"authenticatorData":"SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAA","clientDataJson":"eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiWkRKaE4yTXdaR0ZoTjJJME56WTBPVE0yWXpnNVpHTmlNRGhoTWpneFpEYzROVFEwTVdZME9EY3pObVptWldSbE56SXdZV0l5WldGak5EZ3hNV1ZrTVEiLCJvcmlnaW4iOiJodHRwOi8vbG9jYWxob3N0OjMwMDAiLCJjcm9zc09yaWdpbiI6ZmFsc2V9","credentialId":"AAECAwQFBgcICQoLDA0ODw","signature":"MEUCIQDVeyWXXndLxs9maTO9nlQ4GChGB8sNkNBG7WY3Xm89FAIgd-GR7O947-xuutss7Gn2JxjwIUBlev7J3Gh2SCLrrOg"}`

// transport spoils the HTTP request itself.
func (w *world) transport(t *testing.T, o operation) {
	url := w.URL + Path(o.name)
	methods := []string{http.MethodGet, http.MethodPut, http.MethodDelete, http.MethodPatch}
	if w.brief {
		methods = methods[:1]
	}
	for _, method := range methods {
		t.Run("transport/"+method, func(t *testing.T) {
			reply := Send(t, method, url, http.Header{}, nil)
			CheckError(t, reply, http.StatusMethodNotAllowed)
			if reply.Header.Get("Allow") != "POST" {
				t.Errorf("Allow is %q, want POST", reply.Header.Get("Allow"))
			}
		})
	}
	if w.brief {
		return
	}
	t.Run("transport/unknown path", func(t *testing.T) {
		CheckError(t, Send(t, http.MethodPost, url+"_", http.Header{}, nil), http.StatusNotFound)
	})
	t.Run("transport/body too large", func(t *testing.T) {
		body := append(o.body(t, w.Root, example(t, o)), bytes.Repeat([]byte(" "), 1<<20)...)
		reply := sendUnread(t, w.URL, Path(o.name), body)
		CheckError(t, reply, http.StatusRequestEntityTooLarge)
	})
	t.Run("transport/header too large", func(t *testing.T) {
		header := http.Header{"X-Padding": {strings.Repeat("x", 17<<10)}}
		CheckError(t, Send(t, http.MethodPost, url, header, nil), http.StatusRequestHeaderFieldsTooLarge)
	})
	t.Run("transport/preflight", func(t *testing.T) {
		reply := Send(t, http.MethodOptions, url, http.Header{"Origin": {"https://example.com"}}, nil)
		if reply.Status/100 != 2 || reply.Header.Get("Access-Control-Allow-Origin") != "*" ||
			!strings.Contains(reply.Header.Get("Access-Control-Allow-Headers"), "X-Stamp-Webauthn") {
			t.Errorf("preflight: HTTP %d %v", reply.Status, reply.Header)
		}
	})
}

// sendUnread posts a body that the server refuses without reading it. It then
// waits a little and hangs up, which to a client of net/http that comes late is
// an error, even with the reply at hand.
func sendUnread(t *testing.T, server, path string, body []byte) Reply {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(server, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go func() {
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n", path, len(body))
		_, _ = conn.Write(body) // mostly in vain
	}()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return Reply{Status: response.StatusCode, Header: response.Header, Body: text}
}

// ownLogin are the operations whose example logs the caller in, which needs no
// policy.
var ownLogin = map[string]bool{"ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2": true, "ACTIVITY_TYPE_STAMP_LOGIN": true}

// permission sends the request as a member without rights. It is refused, and
// the refusal is recorded: the same bytes get the same answer.
func (w *world) permission(t *testing.T, o operation) {
	if o.by == decide.Self || o.by == decide.Vote || ownLogin[o.typ] {
		return // about the caller alone, or about an activity; every user reads everything
	}
	body := o.body(t, w.member, example(t, o))
	first := w.member.Post(t, o.name, body)
	if bytes.Contains(first.Body, []byte("INVALID_OIDC_TOKEN")) {
		return // tokens are verified before anything is decided, and the example holds none
	}
	CheckError(t, first, http.StatusForbidden)
	refusal := first.JSON(t)
	if refusal.Get("code").Number() != 7 || !strings.HasPrefix(refusal.Get("message").Text(), "You don't have sufficient permissions to take this action.") {
		t.Errorf("refusal: %s", first.Body)
	}
	if got := refusal.Get("details", 1, "message").Text(); got != "No policies evaluated to outcome: Allow" {
		t.Errorf("detail: %s", got)
	}
	if again := w.member.Post(t, o.name, body); again.Status != first.Status || !bytes.Equal(again.Body, first.Body) {
		t.Errorf("the same bytes got another answer:\n%s\n%s", first.Body, again.Body)
	}
	newest := w.Root.Query(t, "list_activities", map[string]any{"paginationOptions": map[string]any{"limit": "1"}}).Get("activities", 0)
	if newest.Get("status").Text() != "ACTIVITY_STATUS_FAILED" || newest.Get("type").Text() != o.typ {
		t.Errorf("the refusal was not recorded: %v", newest)
	}
}

// wantField checks that the refusal names the field, in its details and, when
// it is the first, in its message.
func wantField(t *testing.T, refusal Value, path string) {
	t.Helper()
	var named []string
	for _, d := range refusal.Get("details").List() {
		if d.Get("@type").Text() == "type.googleapis.com/google.rpc.BadRequest" {
			for _, v := range d.Get("fieldViolations").List() {
				named = append(named, v.Get("field").Text())
				if v.Get("description").Text() == "" {
					t.Errorf("no description of %s", path)
				}
			}
		}
	}
	if !slices.Contains(named, path) {
		t.Errorf("the refusal does not name %q: %v", path, refusal)
	}
}
