package outbox_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/ids"
	"latchkey/internal/outbox/notify"
	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/test/mailtest"
	"latchkey/internal/test/pgtest"
	. "latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// These tests send to a real mail server and a real SMS gateway.

// configFor is the config of a server that uses them.
func configFor(t *testing.T, m *mailtest.Server, address string) config.Config {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	c.Mail.Host, c.Mail.CA, c.Mail.From = host, m.CAFile, "login@example.com"
	c.Mail.Username, c.Mail.Password = m.Username, config.Secret(m.Password)
	if c.Mail.Port, err = strconv.Atoi(port); err != nil {
		t.Fatal(err)
	}
	c.Mail.Timeout, c.SMS.Timeout = 5*time.Minute, 5*time.Minute
	c.SMS.URL, c.SMS.Headers = config.Secret(m.SMS), map[string]config.Secret{"Authorization": config.Secret("Bearer " + m.SMSToken)}
	return c
}

// requestCode asks for a one-time code, as a client does.
func requestCode(t *testing.T, c *Caller, contact string, more ...any) {
	t.Helper()
	params := map[string]any{"otpType": "OTP_TYPE_EMAIL", "contact": contact, "appName": "Test"}
	if strings.HasPrefix(contact, "+") {
		params["otpType"] = "OTP_TYPE_SMS"
	}
	for i := 0; i < len(more); i += 2 {
		params[more[i].(string)] = more[i+1]
	}
	c.Submit(t, "init_otp", params)
}

const secretCode = "SECRET77"

// putMessage puts a message with a known code into the outbox.
func putMessage(t *testing.T, s *Server, to string) {
	t.Helper()
	now := time.Now()
	kind := notify.OTPEmail
	if strings.HasPrefix(to, "+") {
		kind = notify.OTPSMS
	}
	m := notify.Message{ID: ids.New(), Kind: kind, To: to, Code: secretCode, CreatedAt: now, ExpiresAt: now.Add(time.Hour)}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := s.Keys.ServerKeys.SealMessage(domain.OutboxPurpose, text)
	if err == nil {
		err = s.Store.Update(t.Context(), s.Root.OrganizationID, func(tx *store.Tx) error {
			return tx.Post(&domain.Message{
				ID: m.ID, OrganizationID: s.Root.OrganizationID, Sealed: sealed, CreatedAt: now, ExpiresAt: m.ExpiresAt,
			})
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Many messages and several servers: each message arrives. On a machine that is
// too busy to renew leases one may come twice, as the same one; but for that,
// TestEachMessageIsLeasedOnce says that it does not.
func TestEachMessageIsSent(t *testing.T) {
	t.Parallel()
	const messages = 50
	for _, tt := range []struct {
		name    string
		store   func(testing.TB) string
		servers int
	}{{"one on SQLite", SQLite, 1}, {"three on PostgreSQL", pgtest.URL, 3}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, g, url := mailtest.Start(t), NewBlockingProxy(t), tt.store(t)
			g.Listen(t, m.SMTP)
			var all []*Server
			for range tt.servers {
				all = append(all, Start(t, url, configFor(t, m, g.Address)))
			}
			// Half of them are there at once, for all servers to compete for, and
			// wait until each sends as many as it can; the rest come one by one,
			// through all servers.
			for i := range messages / 2 {
				putMessage(t, all[0], fmt.Sprintf("posted%d@example.com", i))
			}
			testkit.Until(t, "every server sends as much as it can", func() bool { return g.Came.Load() >= int32(8*tt.servers) })
			g.Open()
			var asking sync.WaitGroup
			for n, s := range all {
				asking.Go(func() {
					for i := n; i < messages/2; i += len(all) {
						requestCode(t, s.As(all[0].Root), fmt.Sprintf("asked%d@example.com", i))
					}
				})
			}
			asking.Wait()
			all[0].Sent(t)

			count, seen := 0, map[string]bool{}
			for _, mail := range m.Messages() {
				count++
				seen[mail.To], seen[mail.Header.Get("Message-ID")] = true, true
				if mail.Header.Get(notify.HeaderCode) != "" {
					t.Error("a mail that is really sent has the code in its header")
				}
			}
			if count < messages || len(seen) != 2*messages {
				t.Errorf("%d mails with %d recipients and ids", count, len(seen))
			}
			busy := 0
			for n, s := range all {
				sent := strings.Count(s.Log.String(), `"msg":"a message was sent"`)
				t.Logf("server %d sent %d", n, sent)
				if count -= sent; sent > 0 {
					busy++
				}
			}
			if count != 0 || busy != len(all) {
				t.Errorf("%d servers of %d sent messages; %d more were sent than arrived", busy, len(all), -count)
			}
		})
	}
}

// What a mail server or a gateway refuses for now is sent later; what it
// refuses for good is given up. The log tells neither codes nor recipients.
func TestRefusedMessages(t *testing.T) {
	t.Parallel()
	EachStore(t, func(t *testing.T, storeURL string) {
		m := mailtest.Start(t)
		s := Start(t, storeURL, configFor(t, m, m.SMTP))
		recipients := map[string]bool{
			"fail-once+ada@example.com": true,
			"reject+ada@example.com":    false,
			"echo+ada@example.com":      false,
			"+15550000404":              false,
		}
		for to := range recipients {
			putMessage(t, s, to)
		}
		s.Sent(t)
		arrived := map[string]int{}
		for _, mail := range m.Messages() {
			arrived[mail.To]++
		}
		for to, want := range recipients {
			if (arrived[to] == 1) != want || arrived[to] > 1 {
				t.Errorf("%s got %d messages", to, arrived[to])
			}
		}
		// The log and the metrics follow the store by a moment.
		testkit.Until(t, "three messages are given up, by the log", func() bool { return strings.Count(s.Log.String(), "is given up") >= 3 })
		var reply Reply
		testkit.Until(t, "four messages have ended, by the metrics", func() bool {
			reply = Send(t, http.MethodGet, s.URL+"/metrics", nil, nil)
			return strings.Contains(string(reply.Body), `latchkey_messages_total{outcome="failed"} 3`) &&
				strings.Contains(string(reply.Body), `latchkey_messages_total{outcome="sent"} 1`)
		})
		log := s.Log.String()
		for _, secret := range []string{secretCode, "ada@", "15550000404", m.Password, m.SMSToken} {
			if strings.Contains(log, secret) {
				t.Errorf("the log holds %s:\n%s", secret, log)
			}
		}
		if got := strings.Count(log, "is given up"); got != 3 {
			t.Errorf("%d messages were given up, by the log:\n%s", got, s.Log.Complaints())
		}
		if got := strings.Count(log, `"level":"ERROR","msg":"a message was not sent, and is given up"`); got != 3 {
			t.Errorf("%d are errors", got)
		}
		for _, want := range []string{`{outcome="sent"} 1`, `{outcome="retried"} 1`, `{outcome="failed"} 3`} {
			if !strings.Contains(string(reply.Body), "latchkey_messages_total"+want+"\n") {
				t.Errorf("the metrics do not say %s", want)
			}
		}
	})
}

// A gateway that is down for a moment gets the SMS later.
func TestSMS(t *testing.T) {
	t.Parallel()
	m := mailtest.Start(t)
	s := Start(t, SQLite(t), configFor(t, m, m.SMTP))
	putMessage(t, s, "+15550100")
	putMessage(t, s, "+15550000003")
	s.Sent(t)
	var bodies []string
	for _, sms := range m.WaitTexts(2) {
		bodies = append(bodies, sms.Body)
	}
	if all := strings.Join(bodies, " "); len(bodies) != 2 || !strings.Contains(all, `"+15550100"`) || !strings.Contains(all, `"+15550000003"`) ||
		strings.Count(all, secretCode) != 2 {
		t.Errorf("the gateway got %s", all)
	}
}

// A mail that may or may not have arrived is sent again, as the same one.
func TestUncertainMessage(t *testing.T) {
	t.Parallel()
	m := mailtest.Start(t)
	s := Start(t, SQLite(t), configFor(t, m, m.SMTP))
	requestCode(t, s.Root, "drop-after@example.com", "expirationSeconds", "600")
	all := m.Wait(2)
	for _, mail := range all {
		if id := mail.Header.Get("Message-ID"); id == "" || id != all[0].Header.Get("Message-ID") {
			t.Errorf("the copies differ: %q", id)
		}
	}
	if log := s.Log.Complaints(); !strings.Contains(log, "it will be tried again") || strings.Contains(log, "drop-after") {
		t.Errorf("the log says %s", log)
	}
}

// aMoment is a time to drain for tests that wait until it is over. It is also
// for the connections of a client that has just got its replies.
const aMoment = 3 * time.Second

// Nothing waits for a slow mail server: neither a request nor another message.
func TestSlowMailServer(t *testing.T) {
	t.Parallel()
	EachStore(t, func(t *testing.T, storeURL string) {
		m := mailtest.StartHanging(t)
		c := configFor(t, m, m.SMTP)
		c.Timeouts.Drain = aMoment // the test need not wait either
		s := Start(t, storeURL, c)
		requestCode(t, s.Root, "slow@example.com")
		requestCode(t, s.Root, "quick@example.com")
		testkit.Until(t, "one of two is sent", func() bool { return len(s.Waiting(t)) == 1 })
		// Had the requests or the quick one waited for the slow one, that would
		// have been given up by now.
		if log := s.Log.String(); strings.Contains(log, "it will be tried again") {
			t.Errorf("the quick one waited for the slow one:\n%s", log)
		}
		if all := m.Messages(); len(all) != 1 || all[0].To != "quick@example.com" {
			t.Errorf("%d mails came", len(all))
		}
	})
}

// A mail server that is away for a while gets everything when it is back.
func TestMailServerIsDown(t *testing.T) {
	t.Parallel()
	EachStore(t, func(t *testing.T, storeURL string) {
		m := mailtest.Start(t)
		g := NewBlockingProxy(t)
		g.Open()
		s := Start(t, storeURL, configFor(t, m, g.Address))
		for i := range 10 {
			requestCode(t, s.Root, fmt.Sprintf("down%d@example.com", i))
		}
		testkit.Until(t, "all were tried", func() bool { return strings.Count(s.Log.String(), "it will be tried again") >= 10 })
		g.Listen(t, m.SMTP)
		s.Sent(t)
		recipients := map[string]bool{}
		for _, mail := range m.Messages() {
			recipients[mail.To] = true
		}
		if len(recipients) != 10 || len(m.Messages()) != 10 {
			t.Errorf("%d mails came, to %v", len(m.Messages()), recipients)
		}
	})
}

// A server that stops while it sends finishes that; one that may not take the
// time leaves the message to the next one, which need not wait for a lease.
func TestStopWhileSending(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		drain time.Duration
		later bool
	}{{"in time", 5 * time.Minute, false}, {"too late", aMoment, true}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, g, storeURL := mailtest.Start(t), NewBlockingProxy(t), SQLite(t)
			g.Listen(t, m.SMTP)
			c := configFor(t, m, g.Address)
			c.Timeouts.Drain = tt.drain
			s := Start(t, storeURL, c)
			requestCode(t, s.Root, "stop@example.com")
			testkit.Until(t, "the mail is being sent", func() bool { return g.Came.Load() >= 1 })
			var left int
			if tt.later {
				s.Stop(t)
				g.Open()
				left = 1
			} else {
				stopped := make(chan struct{})
				go func() {
					defer close(stopped)
					s.Stop(t)
				}()
				testkit.Until(t, "the server stops", func() bool { return strings.Contains(s.Log.String(), "shutting down") })
				g.Open()
				<-stopped
				if len(m.Messages()) != 1 {
					t.Error("the server did not finish sending")
				}
			}
			all := leftIn(t, storeURL)
			if len(all) != left {
				t.Errorf("%d messages were left, want %d", len(all), left)
			}
			// A server that could not record it in time says so.
			recorded := !strings.Contains(s.Log.Complaints(), "the outbox cannot be read or changed")
			for _, m := range all {
				if recorded && (!m.LeasedUntil.IsZero() || m.NextAttempt.After(time.Now())) {
					t.Errorf("the next server has to wait for the message: %+v", m)
				}
			}
			next := Start(t, storeURL, c)
			next.Sent(t)
			if copies := len(m.Messages()); copies != 1 {
				t.Errorf("%d mails came", copies)
			}
		})
	}
}

// leftIn are the messages in a store that no server has open.
func leftIn(t *testing.T, storeURL string) (all []*domain.Message) {
	t.Helper()
	s, err := server.OpenStore(t.Context(), storeURL)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := server.OpenKeys(t.Context(), s, &config.Config{MasterKey: MasterKey(t, storeURL)}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer keys.Vault.Close()
	err = s.Outbox(t.Context(), func(tx *store.Tx) (err error) {
		messages := tx.Messages()
		all, err = messages.List("", 0)
		return err
	})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	return all
}
