package ops_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"latchkey/client"
	"latchkey/internal/server/config"
	. "latchkey/internal/test/servertest"
)

// behindProxy is a server that believes what this machine says of addresses.
func behindProxy(t *testing.T, url string) *Server {
	t.Helper()
	c := config.Default()
	c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	return Start(t, url, c)
}

func networks(cidrs ...string) []any {
	rules := []any{}
	for i, cidr := range cidrs {
		rules = append(rules, m{"cidr": cidr, "label": fmt.Sprint("network ", i)})
	}
	return rules
}

// TestIPAllowlist answers requests of an organization from its networks only:
// activities, votes, questions, explanations and sessions that read.
func TestIPAllowlist(t *testing.T) {
	EachStore(t, func(t *testing.T, url string) {
		s := behindProxy(t, url)
		home, away := s.Root.From("192.0.2.7"), s.Root.From("198.51.100.7")
		session := home.Submit(t, "create_read_only_session", m{}).Get("result", "createReadOnlySessionResult", "session").Text()
		child := newChild(t, s, s.Root, "Child")
		parent := as(s.Root, child.OrganizationID)

		// Staged, it restricts nothing.
		home.Submit(t, "set_ip_allowlist", m{"rules": networks("192.0.2.0/24", "2001:db8::/48")})
		away.Query(t, "whoami", m{})
		home.Submit(t, "set_ip_allowlist", m{"enabled": true, "rules": networks("192.0.2.99/24", "192.0.2.0/24", "2001:db8::1/48")})
		list := home.Query(t, "get_ip_allowlist", m{}).Get("allowlist")
		if rules := list.Get("rules").List(); len(rules) != 2 || rules[0].Get("cidr").Text() != "192.0.2.0/24" || rules[0].Get("label").Text() != "network 0" ||
			rules[1].Get("cidr").Text() != "2001:db8::/48" || list.Get("enabled").Any != true || list.Get("onEvaluationError").Text() != "DENY" || list.Has("publicKey") {
			t.Errorf("list: %v", list)
		}

		home.Query(t, "whoami", m{})
		s.Root.From("2001:db8:0:1::1").Query(t, "whoami", m{})
		s.Root.From("::ffff:192.0.2.1").Query(t, "whoami", m{})
		waiting := away.Refused(t, http.StatusForbidden, "whoami", m{})
		if waiting.Get("code").Number() != 7 || !strings.Contains(waiting.Get("message").Text(), "from 198.51.100.7") {
			t.Errorf("refusal: %v", waiting)
		}
		for _, elsewhere := range []*Caller{away, s.Root, s.Root.From("2001:db8:1::1"), s.Root.From("nonsense"), s.Root.From("192.0.2.7, nonsense")} {
			elsewhere.Refused(t, http.StatusForbidden, "create_user_tag", m{"userTagName": "tag", "userIds": []any{}})
			elsewhere.Refused(t, http.StatusForbidden, "approve_activity", m{"fingerprint": "sha256:00"})
			elsewhere.Refused(t, http.StatusForbidden, "list_users", m{})
			elsewhere.Refused(t, http.StatusForbidden, "remove_ip_allowlist", m{})
		}
		if tags := home.Query(t, "list_user_tags", m{}).Get("userTags").List(); len(tags) != 0 {
			t.Errorf("tags: %v", tags)
		}
		explain := fmt.Appendf(nil, `{"organizationId":%q,"type":"ACTIVITY_TYPE_CREATE_USER_TAG","parameters":{"userTagName":"x","userIds":[]}}`, s.Root.OrganizationID)
		name, stamp, err := s.Root.Stamper.Stamp(explain)
		if err != nil {
			t.Fatal(err)
		}
		CheckError(t, Send(t, http.MethodPost, s.URL+"/latchkey/v1/explain", http.Header{name: {stamp}, "X-Forwarded-For": {"198.51.100.7"}}, explain), http.StatusForbidden)
		read := func(from string) Reply {
			return Send(t, http.MethodPost, s.URL+"/public/v1/query/whoami", http.Header{"X-Session": {session}, "X-Forwarded-For": {from}}, home.Body(t, "whoami", m{}))
		}
		CheckError(t, read("198.51.100.7"), http.StatusForbidden)
		if r := read("192.0.2.7"); r.Status != http.StatusOK {
			t.Errorf("a session from a network of the list: %s", r.Body)
		}
		// A wrong stamp learns nothing of the list.
		s.Stranger(t, s.Root).Refused(t, http.StatusUnauthorized, "whoami", m{})

		// Sub-organizations have none; their parent's users are held to its list.
		child.From("198.51.100.7").Query(t, "whoami", m{})
		parent.From("192.0.2.7").Query(t, "list_users", m{})
		parent.From("198.51.100.7").Refused(t, http.StatusForbidden, "list_users", m{})
		refusal := child.Refused(t, http.StatusBadRequest, "set_ip_allowlist", m{"rules": networks("192.0.2.0/24")})
		if !strings.Contains(refusal.Get("message").Text(), "sub-organizations have no IP allowlist") {
			t.Errorf("refusal: %v", refusal)
		}
		if got := child.Query(t, "get_ip_allowlist", m{}).Get("allowlist", "rules").List(); len(got) != 0 {
			t.Errorf("of the child: %v", got)
		}

		home.Submit(t, "remove_ip_allowlist", m{})
		away.Query(t, "whoami", m{})
		if list := home.Query(t, "get_ip_allowlist", m{}).Get("allowlist"); len(list.Get("rules").List()) != 0 || list.Get("enabled").Any != false {
			t.Errorf("after removal: %v", list)
		}
	})
}

// TestIPAllowlistOfKey lets a key have networks of its own, in place of the
// organization's.
func TestIPAllowlistOfKey(t *testing.T) {
	EachStore(t, func(t *testing.T, url string) {
		s := behindProxy(t, url)
		home := s.Root.From("192.0.2.7")
		robot := s.NewUser(t, s.Root, "Robot", client.P256)
		key := m{"publicKey": robot.Key.PublicKey()}
		with := func(more m) m {
			for k, v := range key {
				more[k] = v
			}
			return more
		}
		in := func(address string) { t.Helper(); robot.From(address).Query(t, "whoami", m{}) }
		out := func(address string) {
			t.Helper()
			robot.From(address).Refused(t, http.StatusForbidden, "whoami", m{})
		}
		home.Submit(t, "set_ip_allowlist", with(m{"rules": networks("203.0.113.1/32")}))
		in("198.51.100.7") // the organization's is not enabled
		home.Submit(t, "set_ip_allowlist", m{"enabled": true, "rules": networks("192.0.2.0/24")})
		in("203.0.113.1")
		out("192.0.2.7")
		home.Query(t, "whoami", m{})
		list := home.Query(t, "get_ip_allowlist", m{"publicKey": strings.ToUpper(robot.Key.PublicKey())}).Get("allowlist")
		if len(list.Get("rules").List()) != 1 || list.Has("enabled") {
			t.Errorf("list: %v", list)
		}
		home.Submit(t, "set_ip_allowlist", with(m{"rules": networks()})) // empty: the organization's counts
		in("192.0.2.7")
		out("203.0.113.1")

		// Of an address that is not known the list itself says what becomes.
		out("nonsense")
		home.Submit(t, "set_ip_allowlist", with(m{"rules": networks("203.0.113.1/32"), "onEvaluationError": "ALLOW"}))
		in("nonsense")
		home.Submit(t, "set_ip_allowlist", with(m{"rules": networks("203.0.113.1/32"), "onEvaluationError": "DENY"}))
		out("nonsense")
		home.Submit(t, "remove_ip_allowlist", key)
		in("192.0.2.7")

		stranger := s.Stranger(t, s.Root).Key.PublicKey()
		home.Refused(t, http.StatusNotFound, "set_ip_allowlist", m{"publicKey": stranger, "rules": networks("192.0.2.0/24")})
		home.Refused(t, http.StatusNotFound, "remove_ip_allowlist", m{"publicKey": stranger})
		home.Refused(t, http.StatusNotFound, "get_ip_allowlist", m{"publicKey": stranger})
		robot.From("192.0.2.7").Refused(t, http.StatusForbidden, "set_ip_allowlist", m{"rules": networks("0.0.0.0/0")})
	})
}

// TestIPAllowlistRefused refuses what is no list, and what would lock its author
// out.
func TestIPAllowlistRefused(t *testing.T) {
	EachStore(t, func(t *testing.T, url string) {
		s := behindProxy(t, url)
		home := s.Root.From("192.0.2.7")
		many := make([]string, 11)
		for i := range many {
			many[i] = fmt.Sprintf("10.0.%d.0/24", i)
		}
		own := s.Root.Key.PublicKey()
		for _, tt := range []struct {
			name   string
			params m
			want   string
		}{
			{"no network", m{"rules": networks("192.0.2.0/24", "192.0.2.7")}, "rules.1.cidr"},
			{"too long", m{"rules": networks("192.0.2.0/33")}, "rules.0.cidr"},
			{"a name", m{"rules": networks("example.com/24")}, "rules.0.cidr"},
			{"IPv4 in IPv6", m{"rules": networks("::ffff:192.0.2.0/120")}, "rules.0.cidr"},
			{"too many", m{"rules": networks(many...)}, "at most 10"},
			{"a switch for a key", m{"publicKey": own, "enabled": true, "rules": networks()}, "enabled"},
			{"another behaviour", m{"rules": networks(), "onEvaluationError": "MAYBE"}, "onEvaluationError"},
			{"lock-out", m{"enabled": true, "rules": networks("198.51.100.0/24")}, "lock out the key that sends the request, from 192.0.2.7"},
			{"lock-out by an empty list", m{"enabled": true}, "lock out"},
		} {
			refusal := home.Refused(t, http.StatusBadRequest, "set_ip_allowlist", tt.params)
			if !strings.Contains(refusal.String(), tt.want) {
				t.Errorf("%s: %v does not say %q", tt.name, refusal, tt.want)
			}
		}
		if list := home.Query(t, "get_ip_allowlist", m{}).Get("allowlist"); len(list.Get("rules").List()) != 0 {
			t.Errorf("list: %v", list)
		}
		home.Submit(t, "set_ip_allowlist", m{"enabled": true, "rules": networks(append(many[:9:9], "192.0.2.0/24", "2001:db8::/32")...)})
		home.Refused(t, http.StatusBadRequest, "set_ip_allowlist", m{"publicKey": own, "rules": networks("198.51.100.0/24")})
		s.Root.From("nonsense").Refused(t, http.StatusForbidden, "set_ip_allowlist", m{"publicKey": own, "rules": networks("198.51.100.0/24")})

		// Also where a key's own list is what lets it in.
		home.Submit(t, "set_ip_allowlist", m{"publicKey": own, "rules": networks("192.0.2.7/32", "203.0.113.0/24")})
		there := s.Root.From("203.0.113.9")
		there.Submit(t, "set_ip_allowlist", m{"enabled": true, "rules": networks("192.0.2.0/24")})
		there.Refused(t, http.StatusBadRequest, "remove_ip_allowlist", m{"publicKey": own})
		home.Submit(t, "remove_ip_allowlist", m{"publicKey": own})
		there.Refused(t, http.StatusForbidden, "whoami", m{})
	})
}
