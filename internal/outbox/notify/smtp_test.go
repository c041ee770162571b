package notify

import (
	"bufio"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"latchkey/internal/test/mailtest"
	"latchkey/internal/test/testkit"
)

// client returns a Sender for one port of the server, with its right settings
// unless change says otherwise.
func client(t *testing.T, s *mailtest.Server, port string, change func(*SMTPConfig)) *SMTP {
	t.Helper()
	host, number, err := net.SplitHostPort(port)
	if err != nil {
		t.Fatal(err)
	}
	c := SMTPConfig{
		Host: host, CAFile: s.CAFile, Username: s.Username, Password: Secret(s.Password),
		From: "login@wallets.example", FromName: "Wallets", AllowFrom: []string{"tenant.example"}, Timeout: 2 * time.Minute,
	}
	if c.Port, err = strconv.Atoi(number); err != nil {
		t.Fatal(err)
	}
	switch port {
	case s.SMTPS:
		c.TLS = TLS
	case s.Plain:
		c.TLS, c.Username, c.Password, c.CAFile = Plain, "", "", ""
	}
	if change != nil {
		change(&c)
	}
	sender, err := NewSMTP(c, builtin(t))
	if err != nil {
		t.Fatal(err)
	}
	return sender
}

func to(address string) *Message {
	m := message(OTPEmail)
	m.To = address
	return m
}

func TestSMTP(t *testing.T) {
	t.Parallel()
	s := mailtest.Start(t)
	for n, tt := range []struct {
		name      string
		port      string
		change    func(*SMTPConfig)
		encrypted string
	}{
		{"STARTTLS", s.SMTP, nil, "true"},
		{"TLS", s.SMTPS, nil, "true"},
		{"AUTH LOGIN", s.SMTP, func(c *SMTPConfig) { c.Hello = "login-only.invalid" }, "true"},
		{"on this machine", s.Plain, nil, "false"},
		{"on this machine by name", s.Plain, func(c *SMTPConfig) { c.Host = "localhost" }, "false"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sender := client(t, s, tt.port, tt.change)
			for _, k := range []Kind{OTPEmail, EmailAuth, EmailRecovery} {
				if err := sender.Send(t.Context(), fullMessage(k)); err != nil {
					t.Fatalf("%s: %v", k, err)
				}
			}
			all := s.Wait(3 * (n + 1))[3*n:]
			for i, secret := range []string{testCode, testBundle, testBundle} {
				m := all[i]
				if m.From != "login@wallets.example" || m.To != "alice@example.com" {
					t.Errorf("envelope %s to %s", m.From, m.To)
				}
				if m.Header.Get("X-Mailtest-Encrypted") != tt.encrypted || (m.Header.Get("X-Mailtest-Login") == "") != (tt.encrypted == "false") {
					t.Errorf("session %v", m.Header)
				}
				if !strings.Contains(m.Text, secret) || !strings.Contains(m.HTML, secret) {
					t.Errorf("the secret is missing in\n%s\n%s", m.Text, m.HTML)
				}
				if m.Header.Get("X-Latchkey-Code") != "" || m.Header.Get("X-Latchkey-Bundle") != "" {
					t.Errorf("a header of the development server: %v", m.Header)
				}
				// Byte for byte what was rendered, dots and all.
				want, err := sender.templates.mail(fullMessage([]Kind{OTPEmail, EmailAuth, EmailRecovery}[i]), sender.from)
				if err != nil {
					t.Fatal(err)
				}
				if !strings.HasSuffix(string(m.Raw), string(want)) {
					t.Errorf("got\n%s\nwant\n%s", m.Raw, want)
				}
			}
			if hello := all[0].Header.Get("X-Mailtest-Hello"); hello != "[127.0.0.1]" && hello != "login-only.invalid" {
				t.Errorf("greeted as %s", hello)
			}
		})
	}
}

// A line that begins with a dot arrives as it was.
func TestSMTPDots(t *testing.T) {
	t.Parallel()
	s := mailtest.Start(t)
	sender := client(t, s, s.SMTP, nil)
	var err error
	sender.templates, err = LoadTemplates(folder(t, map[string]string{"otp_email.txt": ".\n..\n.{{.Code}}\n.\n"}))
	if err != nil {
		t.Fatal(err)
	}
	if err := sender.Send(t.Context(), message(OTPEmail)); err != nil {
		t.Fatal(err)
	}
	if got, want := s.Wait(1)[0].Text, ".\r\n..\r\n."+testCode+"\r\n.\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestSMTPFailures has a conversation for each way in which one can end, and
// then sees that nothing was taken and no secret was shown.
func TestSMTPFailures(t *testing.T) {
	t.Parallel()
	s := mailtest.StartHanging(t)
	hello := func(name string) func(*SMTPConfig) { return func(c *SMTPConfig) { c.Hello = name + ".invalid" } }
	for _, tt := range []struct {
		name      string
		port      string
		change    func(*SMTPConfig)
		message   *Message
		permanent bool
		want      string
	}{
		{"recipient refused for now", s.SMTP, nil, to("temp-fail@example.com"), false, "RCPT was answered 450 4.2.1 mailbox of [secret]"},
		{"recipient refused", s.SMTP, nil, to("reject@example.com"), true, "RCPT was answered 550 5.1.1 no mailbox for [secret]"},
		{"message refused for now", s.SMTPS, nil, to("temp-fail-data@example.com"), false, "the message was answered 451 4.3.0"},
		{"message refused", s.SMTPS, nil, to("reject-data@example.com"), true, "the message was answered 554 5.7.1"},
		{"message repeated in the reply", s.SMTP, nil, to("echo@example.com"), true, "the message was answered 554 5.7.1"},
		{"hung up within the message", s.SMTP, nil, to("drop@example.com"), false, "the message"},
		{"slow", s.Plain, func(c *SMTPConfig) { c.Timeout = 200 * time.Millisecond }, to("slow@example.com"), false, "timeout"},
		{"sender refused", s.SMTP, func(c *SMTPConfig) { c.From = "unwelcome@example.com" }, to("a@example.com"), true, "MAIL was answered 550 5.7.1"},
		{"wrong password", s.SMTP, func(c *SMTPConfig) { c.Password = testPassword }, to("a@example.com"), false, "AUTH PLAIN was answered 535 5.7.8"},
		{"wrong password by LOGIN", s.SMTP, func(c *SMTPConfig) { c.Password, c.Hello = testPassword, "login-only.invalid" }, to("a@example.com"), false, "the password was answered 535 5.7.8"},
		{"no password", s.SMTPS, func(c *SMTPConfig) { c.Username, c.Password = "", "" }, to("a@example.com"), false, "MAIL was answered 530 5.7.0"},
		{"no way to give the password", s.SMTP, hello("no-auth"), to("a@example.com"), false, "neither AUTH PLAIN nor AUTH LOGIN"},
		{"no STARTTLS", s.SMTP, hello("no-starttls"), to("a@example.com"), false, "does not offer STARTTLS: nothing is sent in clear"},
		{"STARTTLS where there is none", s.Plain, func(c *SMTPConfig) { c.TLS = STARTTLS }, to("a@example.com"), false, "nothing is sent in clear"},
		{"reply in clear after STARTTLS", s.SMTP, hello("inject"), to("a@example.com"), false, "more in clear"},
		{"authority unknown", s.SMTP, func(c *SMTPConfig) { c.CAFile = "" }, to("a@example.com"), false, "certificate"},
		{"authority unknown over TLS", s.SMTPS, func(c *SMTPConfig) { c.CAFile = "" }, to("a@example.com"), false, "certificate"},
		{"certificate of another host", s.SMTP, func(c *SMTPConfig) { c.Host = "localhost" }, to("a@example.com"), false, "certificate"},
		{"TLS where the server greets first", s.SMTP, func(c *SMTPConfig) { c.TLS = TLS }, to("a@example.com"), false, "TLS: "},
		{"busy", s.SMTP, hello("busy"), to("a@example.com"), false, "EHLO was answered 421 4.3.2 too busy"},
		{"unwelcome", s.SMTP, hello("unwelcome"), to("a@example.com"), false, "EHLO was answered 550"},
		{"not SMTP", s.SMTP, hello("babble"), to("a@example.com"), false, "not a reply of SMTP"},
		{"endless reply", s.SMTP, hello("flood"), to("a@example.com"), false, "says too much"},
		{"no listener", testkit.Reserve(t), nil, to("a@example.com"), false, "refused"},
		{"address beyond ASCII", s.SMTP, hello("no-utf8"), to("ålice@example.com"), true, "does not offer SMTPUTF8"},
		{"bad recipient", s.SMTP, nil, to("a@example.com>\r\nRCPT TO:<b@example.com"), true, "email address"},
		{"sender not allowed", s.SMTP, nil, func() *Message { m := to("a@example.com"); m.FromAddress = "ceo@wallets.example"; return m }(), true, "not one that this server may send from"},
		{"an SMS", s.SMTP, nil, message(OTPSMS), true, "does not go by mail"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := client(t, s, tt.port, tt.change).Send(t.Context(), tt.message)
			wantPermanent(t, err, tt.permanent)
			if !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), s.Password) || strings.Contains(err.Error(), tt.message.To) && tt.message.To != "" {
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
		})
	}
	if got := s.Messages(); len(got) != 0 {
		t.Errorf("taken: %v", got)
	}
}

func TestSMTPCertificate(t *testing.T) {
	t.Parallel()
	s := mailtest.Start(t)
	var unknown x509.UnknownAuthorityError
	if err := client(t, s, s.SMTPS, func(c *SMTPConfig) { c.CAFile = "" }).Send(t.Context(), message(OTPEmail)); !errors.As(err, &unknown) {
		t.Errorf("got %v", err)
	}
	var other x509.HostnameError
	if err := client(t, s, s.SMTPS, func(c *SMTPConfig) { c.Host = "localhost" }).Send(t.Context(), message(OTPEmail)); !errors.As(err, &other) {
		t.Errorf("got %v", err)
	}
}

// When the acknowledgement is lost, the caller learns that; what it sends again
// is recognisable.
func TestSMTPUncertain(t *testing.T) {
	t.Parallel()
	s := mailtest.Start(t)
	sender := client(t, s, s.SMTP, nil)
	for range 2 {
		err := sender.Send(t.Context(), to("drop-after@example.com"))
		wantPermanent(t, err, false)
		if !errors.Is(err, ErrUncertain) {
			t.Errorf("got %v", err)
		}
	}
	all := s.Wait(2)
	for _, name := range []string{"Message-ID", "Date"} {
		if all[0].Header.Get(name) == "" || all[0].Header.Get(name) != all[1].Header.Get(name) {
			t.Errorf("%s %q and %q", name, all[0].Header.Get(name), all[1].Header.Get(name))
		}
	}
	for _, certain := range []string{"temp-fail-data@example.com", "reject-data@example.com", "temp-fail@example.com"} {
		if err := sender.Send(t.Context(), to(certain)); err == nil || errors.Is(err, ErrUncertain) {
			t.Errorf("%s: %v", certain, err)
		}
	}
}

// A server that asks to try again gets it right the second time.
func TestSMTPRetry(t *testing.T) {
	t.Parallel()
	s := mailtest.Start(t)
	sender := client(t, s, s.SMTP, nil)
	m := to("fail-once+retry@example.com")
	wantPermanent(t, sender.Send(t.Context(), m), false)
	if err := sender.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if got := s.Wait(1); len(got) != 1 {
		t.Errorf("%d mails", len(got))
	}
}

func TestSMTPCancel(t *testing.T) {
	t.Parallel()
	s := mailtest.StartHanging(t)
	sender := client(t, s, s.SMTP, nil)
	for _, tt := range []struct {
		name, to  string
		when      func() // returns when it is time to cancel
		uncertain bool
	}{
		{"before", "a@example.com", func() {}, false},
		// Usually: on a busy machine it has not come so far.
		{"while the server thinks", "slow@example.com", func() { time.Sleep(300 * time.Millisecond) }, false},
		{"while the server has it", "slow-after@example.com", func() { s.Wait(1) }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tt.name == "before" {
				cancel()
			}
			ended := make(chan error, 1)
			go func() { ended <- sender.Send(ctx, to(tt.to)) }()
			tt.when()
			cancel()
			err := <-ended
			wantPermanent(t, err, false)
			// Had nothing listened to the context, a time-out would have ended it.
			if !errors.Is(err, context.Canceled) || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, ErrUncertain) != tt.uncertain {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Each step has a time-out, and a server that is silent at one of them is given
// up. At the last of them it is unknown whether it has the message.
func TestSMTPTimeouts(t *testing.T) {
	sender, err := NewSMTP(SMTPConfig{Host: "127.0.0.1", TLS: Plain, From: "login@wallets.example"}, builtin(t))
	if err != nil {
		t.Fatal(err)
	}
	const timeout = time.Minute
	steps := []struct{ name, reply string }{
		{"the greeting", "220 hello"},
		{"EHLO", "250 hello"},
		{"MAIL", "250 ok"},
		{"RCPT", "250 ok"},
		{"DATA", "354 go ahead"},
		{"the message", "250 taken"},
	}
	for silent, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := net.Pipe()
				defer ours.Close()
				go func() {
					defer theirs.Close()
					lines := bufio.NewReader(theirs)
					for i, s := range steps[:silent] {
						if i > 0 {
							if _, err := lines.ReadString('\n'); err != nil {
								return
							}
						}
						if _, err := io.WriteString(theirs, s.reply+"\r\n"); err != nil {
							return
						}
					}
					_, _ = io.Copy(io.Discard, theirs) // until the client hangs up
				}()
				c := &conversation{timeout: timeout}
				c.use(ours)
				began := time.Now()
				err := sender.open(t.Context(), c)
				if err == nil {
					err = c.transfer(sender.from.Address, to("a@example.com"), []byte("Subject: x\r\n\r\ny\r\n"))
				}
				last := silent == len(steps)-1
				want := timeout
				if last { // the verdict may take longer
					want = 10 * timeout
				}
				if took := time.Since(began); took != want {
					t.Errorf("it took %v, want %v", took, want)
				}
				if !errors.Is(err, os.ErrDeadlineExceeded) || !strings.Contains(err.Error(), step.name) || errors.Is(err, ErrUncertain) != last {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

// An address beyond ASCII needs a server that takes it.
func TestSMTPUTF8(t *testing.T) {
	t.Parallel()
	s := mailtest.Start(t)
	sender := client(t, s, s.SMTP, nil)
	if err := sender.Send(t.Context(), to("ålice@example.com")); err != nil {
		t.Fatal(err)
	}
	m := s.Wait(1)[0]
	if m.To != "ålice@example.com" || m.Header.Get("To") != "<ålice@example.com>" {
		t.Errorf("to %s, %s", m.To, m.Header.Get("To"))
	}
}

func TestAddressLiteral(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.1:25": "[192.0.2.1]", "[2001:db8::1]:25": "[IPv6:2001:db8::1]", "[::ffff:192.0.2.1]:25": "[192.0.2.1]",
	} {
		a, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if got := addressLiteral(a); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
	here, there := net.Pipe()
	defer here.Close()
	defer there.Close()
	if got := addressLiteral(here.LocalAddr()); got != "localhost" {
		t.Errorf("got %s", got)
	}
	// Nor is a connection of which nothing is known on this machine.
	if onThisMachine(here) {
		t.Error("a pipe is taken for a connection to this machine")
	}
}

// An error repeats little of a reply, on one line, and no secret.
func TestQuote(t *testing.T) {
	c := &conversation{hide: []string{testCode, "alice@example.com"}}
	for _, tt := range []struct {
		name, text, want string
		quiet            bool
	}{
		{"plain", "5.1.1 no such user", "5.1.1 no such user", false},
		{"two lines", "5.1.1 no\nsuch\x1b[31m user", "5.1.1 no such [31m user", false},
		{"secrets", "no " + testCode + " for <alice@example.com>", "no [secret] for <[secret]>", false},
		{"long", strings.Repeat("é", 300), strings.Repeat("é", 100) + "…", false},
		{"quiet", "5.7.1 you sent " + testCode, "5.7.1", true},
		{"quiet without a status", "you sent 5.7.1 " + testCode, "", true},
		{"quiet with more digits", "5.7.1234 x", "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c.quiet = tt.quiet
			if got := c.quote(tt.text); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCheckFrom(t *testing.T) {
	sender, err := NewSMTP(SMTPConfig{Host: "mail.example.com", From: "Login@wallets.example", AllowFrom: []string{"tenant.example", "one@other.example", "kim@other.example"}}, builtin(t))
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]bool{
		"login@wallets.example": true, "a@tenant.example": true, "B@Tenant.Example": true, "one@other.example": true,
		"ceo@wallets.example": false, "two@other.example": false, "a@sub.tenant.example": false, "a@eviltenant.example": false,
		"Kim@Other.example": true, "\u212aim@other.example": false, // KELVIN SIGN
		"tenant.example": false, "": false, "a@tenant.example\r\n": false, "X <a@tenant.example>": false,
	} {
		if err := sender.CheckFrom(address); (err == nil) != want {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestSMTPConfig(t *testing.T) {
	var zero SMTPConfig
	if zero.Enabled() {
		t.Error("the zero value is enabled")
	}
	good := SMTPConfig{Host: "mail.example.com", From: "a@example.com"}
	for mode, port := range map[TLSMode]int{"": 587, STARTTLS: 587, TLS: 465, Plain: 25} {
		c := good
		c.TLS = mode
		if mode == Plain {
			c.Host = "::1"
		}
		sender, err := NewSMTP(c, builtin(t))
		if err != nil || sender.config.Port != port || !c.Enabled() {
			t.Errorf("%s: %v, %v", mode, sender, err)
		}
	}
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		change func(*SMTPConfig)
		want   string
	}{
		{"no host", func(c *SMTPConfig) { c.Host = "" }, "host"},
		{"host with a port", func(c *SMTPConfig) { c.Host = "mail.example.com:25" }, "host"},
		{"port", func(c *SMTPConfig) { c.Port = 65536 }, "port"},
		{"mode", func(c *SMTPConfig) { c.TLS = "ssl" }, "TLS mode"},
		{"in clear elsewhere", func(c *SMTPConfig) { c.TLS = Plain }, "on this machine"},
		{"in clear to a name that looks local", func(c *SMTPConfig) { c.TLS, c.Host = Plain, "localhost.example.com" }, "on this machine"},
		{"password in clear", func(c *SMTPConfig) {
			c.TLS, c.Host, c.Username, c.Password = Plain, "127.0.0.1", "u", testPassword
		}, "over TLS only"},
		{"no password", func(c *SMTPConfig) { c.Username = "u" }, "both"},
		{"no user", func(c *SMTPConfig) { c.Password = testPassword }, "both"},
		{"zero byte", func(c *SMTPConfig) { c.Username, c.Password = "u\x00v", testPassword }, "zero byte"},
		{"no sender", func(c *SMTPConfig) { c.From = "" }, "sender"},
		{"sender with a name", func(c *SMTPConfig) { c.From = "A <a@example.com>" }, "sender"},
		{"sender name", func(c *SMTPConfig) { c.FromName = "a\nb" }, "sender name"},
		{"allowed sender", func(c *SMTPConfig) { c.AllowFrom = []string{"@example.com"} }, "allowed sender"},
		{"greeting", func(c *SMTPConfig) { c.Hello = "a b" }, "greet"},
		{"timeout", func(c *SMTPConfig) { c.Timeout = -1 }, "timeout"},
		{"no such file", func(c *SMTPConfig) { c.CAFile = empty + "x" }, "empty.pemx"},
		{"no certificate", func(c *SMTPConfig) { c.CAFile = empty }, "no certificate"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := good
			tt.change(&c)
			_, err := NewSMTP(c, builtin(t))
			if err == nil || !strings.HasPrefix(err.Error(), "smtp: ") || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want %s", err, tt.want)
			}
			noSecret(t, err.Error())
		})
	}
}
