package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5"

	"latchkey/client"
	"latchkey/internal/test/mailtest"
	"latchkey/internal/test/pgtest"
	"latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
)

// TestConvert makes an installation with something of every kind on SQLite, kills its
// server, brings it to PostgreSQL while the conversion is killed again and again, goes
// on there, and brings it back. Every id, key, signature and receipt stays what it was;
// limits, cursors, webhooks and messages go on where they were.
// LATCHKEY_TEST_ACTIVITIES makes it larger: make convert.
func TestConvert(t *testing.T) {
	t.Parallel()
	n := testkit.Number(t, "LATCHKEY_TEST_ACTIVITIES", 600)
	c := newConverted(t)
	first := "sqlite:" + c.path("latchkey.db")
	process := c.start(0)
	c.setUp()
	c.fill(n)
	before := c.survey()
	cursor := c.read("")

	c.refused(first, "sqlite:"+c.path("other.db"), "in use by another latchkey process: stop it first; nothing was changed")
	if exists(c.path("other.db")) {
		t.Error("the target was made although the source is in use")
	}
	kill(t, process)

	second := pgtest.URL(t)
	c.killConversions(first, second)
	began := time.Now()
	told := c.convert(first, second)
	t.Logf("%s, the last run took %v", told, time.Since(began).Round(time.Millisecond))
	if again := c.convert(first, second); withoutRun(again) != withoutRun(told) || !strings.Contains(again, `"alreadyThere":true`) {
		t.Errorf("told again: %s", again)
	}
	c.open.Open() // the mail server answers from now on

	c.setStore(second)
	process = c.start(0)
	c.compare(before)
	c.goesOn(cursor)
	c.run("audit", "verify", "--config", c.path("latchkey.yaml"))
	before, cursor = c.survey(), c.read(cursor)
	c.refused(second, "sqlite:"+c.path("back.db"), "sessions of latchkey are on the database: stop all servers first; nothing was changed")
	stop(t, process)
	c.refused(first, second, "the target: the database is not empty, and does not hold this source")

	third := "sqlite:" + c.path("back.db")
	c.convert(second, third)
	c.setStore(third)
	process = c.start(0)
	c.compare(before)
	c.run("audit", "verify", "--config", c.path("latchkey.yaml"))
	c.checkEntries(map[string]int64{"daily": 10})
	if page, err := c.client().Events(t.Context(), client.EventsRequest{After: cursor}); err != nil || len(page.Events) != 0 {
		t.Errorf("the cursor does not hold: %v, %v", page, err)
	}
	stop(t, process)
}

func stop(t *testing.T, process *exec.Cmd) {
	t.Helper()
	if err := process.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := process.Wait(); err != nil {
		t.Fatal(err)
	}
}

// converted is an organization with limits, an endpoint for webhooks and a mail that
// waits.
type converted struct {
	*limitedProgram
	hook    *hook
	mail    *mailtest.Server
	open    *servertest.BlockingProxy
	account string
	// signed is a receipt, and keys the verifier keys of the log.
	receipt, keys string
	events        []string // ids of activities, in the order of the feed
}

func newConverted(t *testing.T) *converted {
	t.Helper()
	l := newLimitedProgram(t, "sqlite:latchkey.db")
	c := &converted{limitedProgram: l, hook: newHook(t), mail: mailtest.Start(t), open: servertest.NewBlockingProxy(t)}
	c.open.Listen(t, c.mail.SMTP)
	host, port, err := net.SplitHostPort(c.open.Address)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(l.path("latchkey.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text = fmt.Appendf(text, "timeouts: {lameDuck: 0}\nmail: {host: %s, port: %s, ca: %s, username: %s, password: file:password, from: login@example.com, timeout: 2s}\n",
		host, port, c.mail.CAFile, c.mail.Username)
	for name, text := range map[string][]byte{"latchkey.yaml": text, "password": []byte(c.mail.Password + "\n")} {
		if err := os.WriteFile(l.path(name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// fill makes something of every kind, and many activities.
func (c *converted) fill(n int) {
	c.t.Helper()
	api := c.client()
	made, _, err := api.CreatePrivateKeys(c.t.Context(), client.CreatePrivateKeysParameters{PrivateKeys: []client.PrivateKeyParameters{
		{PrivateKeyName: "Cold", Curve: "CURVE_ED25519", PrivateKeyTags: []string{}, AddressFormats: []client.AddressFormat{}},
	}})
	if err != nil {
		c.t.Fatal(err)
	}
	c.account = made.PrivateKeys[0].PrivateKeyID
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			for i := w; i < n; i += 8 {
				if _, err := c.sign(strconv.Itoa(i)); err != nil {
					c.t.Errorf("signing: %v", err)
					return
				}
			}
		})
	}
	writers.Wait()
	_, _, err = api.CreateWebhookEndpoint(c.t.Context(), client.CreateWebhookEndpointParameters{
		URL: c.hook.url, Name: "Receiver", Subscriptions: []client.WebhookSubscription{{EventType: "ACTIVITY_UPDATES"}},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	public := strings.TrimSpace(c.run("keygen", "--out", c.path("child")))
	_, _, err = api.CreateSubOrganization(c.t.Context(), client.CreateSubOrganizationParameters{
		SubOrganizationName: "Child", RootQuorumThreshold: 1, RootUsers: []client.RootUserParameters{{
			UserName: "Child", APIKeys: []client.APIKeyParameters{{APIKeyName: "k", PublicKey: public, CurveType: "API_KEY_CURVE_P256"}},
			Authenticators: []client.AuthenticatorParameters{}, OAuthProviders: []client.OAuthProviderParameters{},
		}},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	for range 6 {
		c.pay(true)
	}
	c.submit("init_otp", `{"otpType":"OTP_TYPE_EMAIL","contact":"ada@example.com","appName":"Test"}`)
	activity, err := c.sign("the last")
	if err != nil {
		c.t.Fatal(err)
	}
	testkit.Until(c.t, "there is a receipt", func() bool {
		reply, err := api.Post(c.t.Context(), "/latchkey/v1/receipt", fmt.Appendf(nil, `{"organizationId":%q,"activityId":%q}`, c.organization, activity.ID))
		c.receipt = string(reply)
		return err == nil
	})
	c.keys = strings.Join(c.logKeys(), "\n")
}

// sign has a text signed.
func (c *converted) sign(text string) (*client.Activity, error) {
	_, activity, err := c.client().SignRawPayload(context.Background(), client.SignRawPayloadParameters{
		SignWith: c.account, Payload: text, Encoding: "PAYLOAD_ENCODING_TEXT_UTF8", HashFunction: "HASH_FUNCTION_NOT_APPLICABLE",
	})
	return activity, err
}

// logKeys are the verifier keys that the server publishes.
func (c *converted) logKeys() []string {
	c.t.Helper()
	reply, err := http.Get(c.url + "/.well-known/latchkey.json")
	if err != nil {
		c.t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	var known struct {
		Keys []string `json:"logVerifierKeys"`
	}
	if err := cmp.Or(err, json.Unmarshal(text, &known)); err != nil || len(known.Keys) == 0 {
		c.t.Fatalf("%v: %s", err, text)
	}
	return known.Keys
}

// pay asks for 10 USDC of 100 a day.
func (c *converted) pay(passes bool) {
	c.t.Helper()
	_, err := c.agent("daily", 0).Post(c.t.Context(), "/public/v1/submit/sign_transaction", c.payment())
	var refused *client.Error
	if passes && err != nil || !passes && (!errors.As(err, &refused) || refused.Status != http.StatusForbidden) {
		c.t.Errorf("a payment that passes (%v): %v", passes, err)
	}
}

// survey is what clients are told, by what they ask.
func (c *converted) survey() map[string]string {
	c.t.Helper()
	all := map[string]string{}
	ask := func(path, parameters string) string {
		reply, err := c.client().Post(c.t.Context(), path, []byte(`{"organizationId":"`+c.organization+`"`+parameters+`}`))
		if err != nil {
			c.t.Fatalf("%s: %v", path, err)
		}
		all[path+parameters] = string(reply)
		return string(reply)
	}
	for _, query := range []string{
		"whoami", "list_users", "list_policies", "list_wallets", "list_private_keys", "list_user_tags", "list_velocity_controls", "list_suborgs",
	} {
		ask("/public/v1/query/"+query, "")
	}
	for after := ""; ; {
		page := ask("/public/v1/query/list_activities", `,"paginationOptions":{"limit":"100"`+after+`}`)
		var list struct {
			Activities []struct {
				ID string `json:"id"`
			} `json:"activities"`
		}
		if err := json.Unmarshal([]byte(page), &list); err != nil {
			c.t.Fatal(err)
		}
		if len(list.Activities) < 100 {
			break
		}
		after = `,"after":"` + list.Activities[99].ID + `"`
	}
	reply, err := http.Get(c.url + "/.well-known/latchkey.json")
	if err != nil {
		c.t.Fatal(err)
	}
	defer reply.Body.Close()
	text, _ := io.ReadAll(reply.Body)
	all["well-known"] = string(text)
	return all
}

// compare asks the same again, has the same signed, and verifies the receipt from
// before.
func (c *converted) compare(before map[string]string) {
	c.t.Helper()
	for asked, told := range c.survey() {
		if before[asked] != told {
			c.t.Errorf("%s: now %s, before %s", asked, told, before[asked])
		}
	}
	for name, text := range map[string]string{"receipt.json": c.receipt, "keys": c.keys} {
		if err := os.WriteFile(c.path(name), []byte(text), 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
	c.run("audit", "receipt", c.path("receipt.json"), "--key", "@"+c.path("keys"))
}

// read reads the feed from a cursor to its end.
func (c *converted) read(cursor string) string {
	c.t.Helper()
	for {
		page, err := c.client().Events(c.t.Context(), client.EventsRequest{After: cursor, Limit: 100})
		if err != nil {
			c.t.Fatal(err)
		}
		for _, e := range page.Events {
			c.events = append(c.events, e.Activity.ID)
		}
		if cursor = page.Cursor; len(page.Events) == 0 {
			return cursor
		}
	}
}

// goesOn does more after the conversion: the feed, the webhooks, the limit and the
// messages go on where they were.
func (c *converted) goesOn(cursor string) {
	c.t.Helper()
	for range 4 {
		c.pay(true)
	}
	c.pay(false) // the limit knows what was spent before
	c.checkEntries(map[string]int64{"daily": 10})
	activity, err := c.sign("hello")
	if err != nil {
		c.t.Fatalf("signing: %v", err)
	}
	testkit.Until(c.t, "the feed has the newest", func() bool {
		cursor = c.read(cursor)
		return slices.Contains(c.events, activity.ID)
	})
	if unique := slices.Compact(slices.Sorted(slices.Values(c.events))); len(unique) != len(c.events) {
		c.t.Errorf("the feed has %d events, of %d activities", len(c.events), len(unique))
	}
	testkit.Until(c.t, "the newest was delivered", func() bool { return slices.Contains(c.hook.order()[c.organization], activity.ID) })
	delivered := c.hook.order()[c.organization]
	if want := c.events[len(c.events)-len(delivered):]; !slices.Equal(delivered, want) {
		c.t.Errorf("%d events were delivered, and not as they are in the feed", len(delivered))
	}
	testkit.Until(c.t, "the mail that waited has come", func() bool { return received(c.mail) == 1 })
}

// convert runs the command to its end.
func (c *converted) convert(from, to string) string {
	c.t.Helper()
	return strings.TrimSpace(c.run("convert", "--from", from, "--to", to))
}

// withoutRun is the result without what differs from one run to the next.
func withoutRun(result string) string {
	for _, word := range []string{`"resumed":true`, `"resumed":false`, `"alreadyThere":true`, `"alreadyThere":false`} {
		result = strings.ReplaceAll(result, word, "")
	}
	return result
}

func (c *converted) refused(from, to, says string) {
	c.t.Helper()
	out, err := exec.Command("latchkey", "convert", "--from", from, "--to", to).CombinedOutput()
	if err == nil || !strings.Contains(string(out), says) {
		c.t.Errorf("%v: %s", err, out)
	}
}

// setStore names another store in the config.
func (c *converted) setStore(to string) {
	c.t.Helper()
	file := c.path("latchkey.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		c.t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "store: ") {
			lines[i] = "store: " + to
		}
	}
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// killConversions kills the conversion as it starts, and then again and again while it
// writes. No server starts on what it leaves.
func (c *converted) killConversions(from, to string) {
	c.t.Helper()
	config := c.path("unfinished.yaml")
	text := "listen: 127.0.0.1:0\nstore: " + to + "\nmasterKey: file:master.key\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	c.killConversion(from, to, func(<-chan struct{}) {})
	begun := 0
	for begun < 3 {
		c.killConversion(from, to, func(ended <-chan struct{}) {
			testkit.Until(c.t, "the conversion writes", func() bool {
				select {
				case <-ended:
					return true
				default:
					return c.unfinished(to)
				}
			})
		})
		if !c.unfinished(to) {
			break // it was faster
		}
		begun++
		served, err := exec.Command("latchkey", "serve", "--config", config).CombinedOutput()
		if err == nil || !strings.Contains(string(served), "the database is the target of a conversion that is not finished: run latchkey convert again, to its end") {
			c.t.Fatalf("a server on an unfinished conversion: %v\n%s", err, served)
		}
	}
	c.t.Logf("%d conversions were killed in the middle", begun)
	if begun == 0 {
		c.t.Error("no conversion was killed in the middle")
	}
}

// killConversion kills the conversion some moments after wait, which is told when it
// ends by itself.
func (c *converted) killConversion(from, to string, wait func(ended <-chan struct{})) {
	c.t.Helper()
	command := exec.Command("latchkey", "convert", "--from", from, "--to", to)
	if err := command.Start(); err != nil {
		c.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = command.Wait() // it is killed
		close(ended)
	}()
	wait(ended)
	time.Sleep(rand.N(50 * time.Millisecond))
	_ = command.Process.Kill() // it may have ended
	<-ended
}

// unfinished reports whether a conversion into a database of PostgreSQL has begun.
func (c *converted) unfinished(url string) (begun bool) {
	c.t.Helper()
	conn, err := pgx.Connect(c.t.Context(), url)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if err := conn.QueryRow(c.t.Context(), `SELECT to_regclass('latchkey_conversion') IS NOT NULL`).Scan(&begun); err != nil {
		c.t.Fatal(err)
	}
	return begun
}
