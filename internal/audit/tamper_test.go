package audit_test

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"latchkey/internal/server"
	"latchkey/internal/store"
	"latchkey/internal/test/servertest"
)

// tampering is a change of the database by another program.
type tampering struct {
	change func(w *world, d *database)
	// refused is a request that needs what was changed, and must be answered as
	// INTEGRITY; nil: only the audit notices, and served must be answered.
	refused, served func(t testing.TB, w *world, s *servertest.Server) servertest.Reply
	kind            string // of the finding
	audited         string // of what the audit finds, if it is another kind
}

// Requests.
var (
	sign = func(c func(*world) *servertest.Caller) func(testing.TB, *world, *servertest.Server) servertest.Reply {
		return func(t testing.TB, w *world, s *servertest.Server) servertest.Reply {
			return post(t, s.As(c(w)), "sign_raw_payload", w.payload("01"))
		}
	}
	root = func(w *world) *servertest.Caller { return w.root }
	ada  = func(w *world) *servertest.Caller { return w.ada }
)

func post(t testing.TB, c *servertest.Caller, operation string, parameters any) servertest.Reply {
	t.Helper()
	return c.Post(t, operation, c.Body(t, operation, parameters))
}

func ask(operation string, parameters func(*world) m) func(testing.TB, *world, *servertest.Server) servertest.Reply {
	return func(t testing.TB, w *world, s *servertest.Server) servertest.Reply {
		return post(t, s.As(w.root), operation, parameters(w))
	}
}

func nothing(*world) m { return nil }

const updateBody = `UPDATE items SET body = $4 WHERE org = $1 AND kind = $2 AND id = $3`

// replace changes the text of a stored body.
func (d *database) replace(w *world, kind, id, from, to string) {
	d.t.Helper()
	it, ok := w.now.get(w.root.OrganizationID, kind, id)
	if !ok || !bytes.Contains(it.body, []byte(from)) {
		d.t.Fatalf("there is no %s %s with %q", kind, id, from)
	}
	d.exec(updateBody, it.org, kind, id, bytes.ReplaceAll(it.body, []byte(from), []byte(to)))
}

// find is an item whose body holds a text.
func (w *world) find(all tables, kind, text string) item {
	w.t.Helper()
	i := slices.IndexFunc(all.items, func(it item) bool {
		return it.org == w.root.OrganizationID && it.kind == kind && (bytes.Contains(it.body, []byte(text)) || strings.Contains(it.id, text))
	})
	if i < 0 {
		w.t.Fatalf("there is no %s with %q", kind, text)
	}
	return all.items[i]
}

func (w *world) putBack(d *database, it item) {
	d.exec(`DELETE FROM items WHERE org = $1 AND kind = $2 AND id = $3`, it.org, it.kind, it.id)
	d.exec(`INSERT INTO items (org, kind, id, body) VALUES ($1, $2, $3, $4)`, it.org, it.kind, it.id, it.body)
}

func column(name string, value any) func(*world, *database) {
	return func(w *world, d *database) {
		d.exec(`UPDATE activities SET `+name+` = $3 WHERE org = $1 AND id = $2`, w.root.OrganizationID, w.signed, value)
	}
}

var getSigned = ask("get_activity", func(w *world) m { return m{"activityId": w.signed} })

// listOthers lists all activities but the damaged one.
func listOthers(t testing.TB, w *world, s *servertest.Server) servertest.Reply {
	reply := post(t, s.As(w.root), "list_activities", m{"paginationOptions": m{"limit": "100"}})
	all := 0
	for _, e := range w.now.entries {
		if e.org == w.root.OrganizationID {
			all++
		}
	}
	if n := len(reply.JSON(t).Get("activities").List()); n != all-1 || bytes.Contains(reply.Body, []byte(w.signed)) {
		t.Errorf("of %d activities, one damaged, %d are listed", all, n)
	}
	return reply
}

var tamperings = map[string]tampering{
	"another key in a user's row": {func(w *world, d *database) {
		d.replace(w, "user", w.root.UserID, w.root.Key.PublicKey(), w.stranger.Key.PublicKey())
	}, func(t testing.TB, w *world, s *servertest.Server) servertest.Reply {
		thief := *s.As(w.stranger)
		thief.OrganizationID = w.root.OrganizationID
		return post(t, &thief, "sign_raw_payload", w.payload("02"))
	}, nil, "user", ""},
	"a deposit address": {func(w *world, d *database) {
		account := w.find(w.now, "wallet-account", w.address)
		d.replace(w, "wallet-account", account.id, w.address, "0x0000000000000000000000000000000000000001")
	}, ask("get_wallet_account", func(w *world) m { return m{"walletId": w.wallet, "address": w.address} }), nil, "wallet-account", ""},
	"an address that signs": {func(w *world, d *database) {
		account := w.find(w.now, "wallet-account", w.address)
		d.replace(w, "wallet-account", account.id, w.address, "0x0000000000000000000000000000000000000001")
	}, sign(root), nil, "wallet-account", ""},
	"a DENY policy deleted": {func(w *world, d *database) {
		d.exec(`DELETE FROM items WHERE org = $1 AND kind = 'policy' AND id = $2`, w.root.OrganizationID, w.deny)
	}, sign(ada), nil, "policy", ""},
	"a DENY policy moved to another organization": {func(w *world, d *database) {
		d.exec(`UPDATE items SET org = $3 WHERE org = $1 AND kind = 'policy' AND id = $2`, w.root.OrganizationID, w.deny, w.stranger.OrganizationID)
	}, sign(ada), nil, "policy", ""},
	"a user moved to another id": {func(w *world, d *database) {
		d.exec(`UPDATE items SET id = 'another' WHERE org = $1 AND kind = 'user' AND id = $2`, w.root.OrganizationID, w.ada.UserID)
	}, sign(root), nil, "user", ""},
	"a user moved to another kind": {func(w *world, d *database) {
		d.exec(`UPDATE items SET kind = 'tag' WHERE org = $1 AND kind = 'user' AND id = $2`, w.root.OrganizationID, w.ada.UserID)
	}, sign(root), nil, "user", ""},
	"an older user put back": {func(w *world, d *database) {
		it, _ := w.earlier.get(w.root.OrganizationID, "user", w.bob.UserID)
		w.putBack(d, it)
	}, sign(root), nil, "user", ""},
	"an older wallet put back": {func(w *world, d *database) {
		it, _ := w.earlier.get(w.root.OrganizationID, "wallet", w.wallet)
		w.putBack(d, it)
	}, nil, ask("list_wallets", nothing), "rest", ""},
	"the status of an activity":      {column("status", "ACTIVITY_STATUS_FAILED"), getSigned, nil, "activity", ""},
	"the type of an activity":        {column("type", "ACTIVITY_TYPE_CREATE_WALLET"), getSigned, nil, "activity", ""},
	"the time of an activity":        {column("timestamp_ms", 1), getSigned, nil, "activity", ""},
	"the fingerprint of an activity": {column("fingerprint", []byte("short")), getSigned, nil, "activity", ""},
	"the body of an activity":        {column("body", []byte("{}")), getSigned, nil, "activity", ""},
	"an activity in a list":          {column("body", []byte("{}")), nil, listOthers, "activity", ""},
	"a short fingerprint in a list":  {column("fingerprint", []byte("short")), nil, listOthers, "activity", ""},
	"an activity that waits deleted": {func(w *world, d *database) {
		d.exec(`DELETE FROM activities WHERE org = $1 AND id = $2`, w.root.OrganizationID, w.pending.Get("id").Text())
	}, nil, ask("list_activities", nothing), "activity", ""},
	"a version raised": {func(w *world, d *database) {
		d.exec(`UPDATE organizations SET version = version + 1 WHERE org = $1`, w.root.OrganizationID)
	}, sign(root), nil, "head", ""},
	"an organization's version deleted": {func(w *world, d *database) {
		d.exec(`DELETE FROM organizations WHERE org = $1`, w.child)
	}, nil, ask("list_wallets", nothing), "", ""},
	"a head deleted": {func(w *world, d *database) {
		d.exec(`DELETE FROM items WHERE org = $1 AND kind = 'head'`, w.root.OrganizationID)
	}, sign(root), nil, "head", ""},
	"a head put back": {func(w *world, d *database) {
		it, _ := w.earlier.get(w.root.OrganizationID, "head", "head")
		w.putBack(d, it)
	}, sign(root), nil, "head", ""},
	"a head and its version put back": {func(w *world, d *database) {
		it, _ := w.earlier.get(w.root.OrganizationID, "head", "head")
		w.putBack(d, it)
		d.exec(`UPDATE organizations SET version = $2 WHERE org = $1`, it.org, w.earlier.versions[it.org])
	}, sign(root), nil, "head", ""},
	"a head of another organization": {func(w *world, d *database) {
		it, _ := w.now.get(w.stranger.OrganizationID, "head", "head")
		d.exec(updateBody, w.root.OrganizationID, "head", "head", it.body)
	}, sign(root), nil, "head", ""},
	"an index row deleted": {func(w *world, d *database) {
		it := w.find(w.now, "wallet.name", "Other")
		d.exec(`DELETE FROM items WHERE org = $1 AND kind = $2 AND id = $3`, it.org, it.kind, it.id)
	}, nil, ask("list_wallets", nothing), "wallet.name", ""},
	"an index row pointed elsewhere": {func(w *world, d *database) {
		it, other := w.find(w.now, "wallet.name", "Other"), w.find(w.now, "wallet.name", "New")
		d.exec(updateBody, it.org, it.kind, it.id, other.body)
	}, ask("create_wallet", func(*world) m { return m{"walletName": "Other", "accounts": []any{}} }), nil, "wallet.name", ""},
	"an index row of earlier put back": {func(w *world, d *database) {
		it := w.find(w.earlier, "private-key.tag", w.tag)
		d.exec(`INSERT INTO items (org, kind, id, body) VALUES ($1, $2, $3, $4)`, it.org, it.kind, it.id, it.body)
	}, nil, ask("list_private_keys", nothing), "private-key.tag", ""},
	"sealed keys swapped": {func(w *world, d *database) {
		accounts := slices.DeleteFunc(slices.Clone(w.now.items), func(it item) bool {
			return it.org != w.root.OrganizationID || it.kind != "sealed" || !strings.HasPrefix(it.id, "key")
		})
		if len(accounts) < 2 {
			w.t.Fatalf("%d sealed accounts", len(accounts))
		}
		for i := range accounts {
			d.exec(updateBody, accounts[i].org, "sealed", accounts[i].id, accounts[(i+1)%len(accounts)].body)
		}
	}, sign(root), nil, "sealed", ""},
	"a sealed key deleted": {func(w *world, d *database) {
		d.exec(`DELETE FROM items WHERE org = $1 AND kind = 'sealed' AND id LIKE 'key%'`, w.root.OrganizationID)
	}, sign(root), nil, "sealed", "rest"},
	"the data key deleted": {func(w *world, d *database) {
		d.exec(`DELETE FROM items WHERE org = $1 AND kind = 'sealed' AND id LIKE 'data-key%'`, w.root.OrganizationID)
	}, sign(root), nil, "sealed", "rest"},
	"a wallet in a list": {func(w *world, d *database) {
		d.replace(w, "wallet", w.wallet, "Renamed", "Forged!")
	}, nil, func(t testing.TB, w *world, s *servertest.Server) servertest.Reply {
		reply := post(t, s.As(w.root), "list_wallets", nil)
		if n := len(reply.JSON(t).Get("wallets").List()); n != 2 || bytes.Contains(reply.Body, []byte("Forged!")) {
			t.Errorf("of three wallets, one damaged, %d are listed: %s", n, reply.Body)
		}
		return reply
	}, "wallet", ""},
	"a row of the directory deleted": {func(w *world, d *database) {
		it := w.find(w.now, "directory", "email:owner@example.com")
		d.exec(`DELETE FROM items WHERE org = $1 AND kind = $2 AND id = $3`, it.org, it.kind, it.id)
	}, nil, ask("list_wallets", nothing), "directory", ""},
	"a row of a kind that is not ours": {func(w *world, d *database) {
		d.exec(`INSERT INTO items (org, kind, id, body) VALUES ($1, 'backdoor', 'x', $2)`, w.root.OrganizationID, []byte("{}"))
	}, nil, ask("list_wallets", nothing), "backdoor", ""},
	"a row that was added": {func(w *world, d *database) {
		d.exec(`INSERT INTO items (org, kind, id, body) VALUES ($1, 'policy', 'x', $2)`, w.root.OrganizationID, []byte(`{"effect":"EFFECT_ALLOW"}`))
	}, nil, sign(root), "policy", ""},
}

// TestTampering changes a row each time, restarts the server, and sees that it
// does not use the row, that it says so, that others are served as before, and
// that the audit names what was changed.
func TestTampering(t *testing.T) {
	servertest.EachStore(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		for name, c := range tamperings {
			t.Run(name, func(t *testing.T) { c.run(t, w) })
		}
	})
}

func (c tampering) run(t *testing.T, w *world) {
	w.db.t, w.t = t, t
	w.db.write(w.now)
	c.change(w, w.db)
	want := cmp.Or(c.audited, c.kind)
	if _, found := audited(t, w.url); !slices.ContainsFunc(found, func(f store.Finding) bool { return f.Kind == want }) {
		t.Errorf("the audit does not name a %q: %+v", want, found)
	}
	s := w.start(t)
	defer s.Stop(t)
	if c.refused != nil {
		checkIntegrity(t, c.refused(t, w, s))
		c.checkTold(t, s)
	} else if reply := c.served(t, w, s); reply.Status != http.StatusOK {
		t.Errorf("HTTP %d: %s", reply.Status, reply.Body)
	}
	if reply := post(t, s.As(w.stranger), "whoami", nil); reply.Status != http.StatusOK {
		t.Errorf("another organization: HTTP %d: %s", reply.Status, reply.Body)
	}
	if reply := post(t, s.As(w.stranger), "create_wallet", m{"walletName": "As before", "accounts": []any{}}); reply.Status != http.StatusOK {
		t.Errorf("another organization: HTTP %d: %s", reply.Status, reply.Body)
	}
}

func checkIntegrity(t *testing.T, reply servertest.Reply) {
	t.Helper()
	servertest.CheckError(t, reply, http.StatusInternalServerError)
	body := reply.JSON(t)
	if body.Get("code").Number() != 15 || body.Get("turnkeyErrorCode").Text() != "INTEGRITY" {
		t.Errorf("it is not answered as INTEGRITY: %s", reply.Body)
	}
}

// TestRepaired: what could not be done because of a damaged row is not recorded as
// refused, so that the same bytes are carried out when the row is back.
func TestRepaired(t *testing.T) {
	servertest.EachStore(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		account := w.find(w.now, "wallet-account", w.address)
		w.db.replace(w, "wallet-account", account.id, w.address, "0x0000000000000000000000000000000000000001")
		s := w.start(t)
		caller := s.As(w.root)
		body := caller.Body(t, "sign_raw_payload", w.payload("03"))
		checkIntegrity(t, caller.Post(t, "sign_raw_payload", body))
		w.db.exec(updateBody, account.org, account.kind, account.id, account.body)
		caller.MustPost(t, "sign_raw_payload", body)
	})
}

// TestForeignTypes writes values of types that no server writes, which SQLite
// allows in every column.
func TestForeignTypes(t *testing.T) {
	w := newWorld(t, servertest.SQLite(t))
	for _, change := range []string{
		`INSERT INTO items (org, kind, id, body) VALUES ($1, 'wallet', x'ff', x'00')`,
		`UPDATE items SET body = CAST(body AS TEXT) WHERE org = $1 AND kind = 'wallet'`,
		`UPDATE items SET body = 7 WHERE org = $1 AND kind = 'user'`,
		`UPDATE activities SET id = CAST(id AS BLOB) WHERE org = $1`,
		`UPDATE activities SET timestamp_ms = 'then' WHERE org = $1`,
		`UPDATE activities SET type = x'00' WHERE org = $1`,
		`UPDATE organizations SET version = 'x' WHERE org = $1`,
		`UPDATE organizations SET org = CAST(org AS BLOB) WHERE org = $1`,
	} {
		t.Run(change, func(t *testing.T) {
			w.db.t, w.t = t, t
			w.db.write(w.now)
			w.db.exec(change, w.root.OrganizationID)
			if _, found := audited(t, w.url); len(found) == 0 {
				t.Error("the audit finds nothing")
			}
			s := w.start(t)
			defer s.Stop(t)
			for _, operation := range []string{"list_wallets", "list_users", "list_activities"} {
				post(t, s.As(w.root), operation, m{"paginationOptions": m{"limit": "1"}})
			}
			if orgs, err := s.Store.Organizations(t.Context(), "", 1); err != nil || len(orgs) != 1 || orgs[0] == "" {
				t.Errorf("organizations: %q, %v", orgs, err)
			}
			s.As(w.stranger).Query(t, "whoami", nil)
		})
	}
}

// checkTold checks that the log names the row, and that it is counted.
func (c tampering) checkTold(t *testing.T, s *servertest.Server) {
	t.Helper()
	line := regexp.MustCompile(fmt.Sprintf(`"organization":"[0-9a-f-]{36}","kind":%q,"id":"[^"]*","finding":"[^"]+"`, c.kind))
	if !line.MatchString(s.Log.String()) {
		t.Errorf("the log does not name a %s:\n%s", c.kind, s.Log.Complaints())
	}
	metrics := servertest.Send(t, http.MethodGet, s.URL+"/metrics", nil, nil)
	if !regexp.MustCompile(`(?m)^latchkey_integrity_failures_total [1-9]`).Match(metrics.Body) {
		t.Error("it is not counted")
	}
}

// TestDamagedPage: activities that are damaged do not hide older ones, not even if
// they fill a page.
func TestDamagedPage(t *testing.T) {
	servertest.EachStore(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		var ids []string // newest first
		for _, e := range slices.Backward(w.now.entries) {
			if e.org == w.root.OrganizationID {
				ids = append(ids, e.id)
			}
		}
		for _, id := range ids[1:6] {
			w.db.exec(`UPDATE activities SET status = 'X' WHERE org = $1 AND id = $2`, w.root.OrganizationID, id)
		}
		s := w.start(t)
		for _, c := range []struct{ cursor, from, want string }{{"after", ids[0], ids[6]}, {"before", ids[6], ids[0]}} {
			page := s.As(w.root).Query(t, "list_activities", m{"paginationOptions": m{"limit": "2", c.cursor: c.from}}).Get("activities")
			if len(page.List()) == 0 || !strings.Contains(fmt.Sprint(page), c.want) {
				t.Errorf("%s %s: %v", c.cursor, c.from, page)
			}
		}
	})
}

// TestSweepGoesOn: an organization that is damaged, or that another program has
// made up, does not keep the secrets of others from being deleted.
func TestSweepGoesOn(t *testing.T) {
	servertest.EachStore(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		s := w.start(t)
		for _, c := range []*servertest.Caller{w.root, w.stranger} {
			s.As(c).Submit(t, "init_import_wallet", m{"userId": c.UserID})
		}
		w.db.exec(`INSERT INTO items (org, kind, id, body) VALUES ('instance', 'expiring', '0', $1)`, []byte("x"))
		w.db.exec(`DELETE FROM items WHERE org = $1 AND kind = 'head'`, w.root.OrganizationID)
		s.Stop(t)
		s = w.start(t)
		dropped, err := server.Sweep(t.Context(), s.Store, time.Now().Add(48*time.Hour))
		if err == nil || dropped != 1 {
			t.Errorf("%d were deleted of one that can be: %v", dropped, err)
		}
	})
}
