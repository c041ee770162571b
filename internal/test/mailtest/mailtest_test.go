package mailtest_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/smtp"
	"net/textproto"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"latchkey/internal/test/mailtest"
)

// The server is judged by the standard library's client, not by ours.

func roots(t *testing.T, s *mailtest.Server) *tls.Config {
	t.Helper()
	text, err := os.ReadFile(s.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		t.Fatal("no certificate")
	}
	return &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}
}

// login returns a client that may send.
func login(t *testing.T, s *mailtest.Server) *smtp.Client {
	t.Helper()
	c, err := smtp.Dial(s.SMTP)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.StartTLS(roots(t, s)); err != nil {
		t.Fatal(err)
	}
	if err := c.Auth(smtp.PlainAuth("", s.Username, s.Password, "127.0.0.1")); err != nil {
		t.Fatal(err)
	}
	return c
}

func send(c *smtp.Client, to, text string) error {
	if err := c.Mail("from@example.com"); err != nil {
		return err
	}
	if err := c.Rcpt(to); err != nil {
		return err
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write([]byte(text)); err != nil {
		return err
	}
	return w.Close()
}

const hello = "Subject: hello\r\n\r\n.one\r\n..two\r\n"

func TestMail(t *testing.T) {
	s := mailtest.Start(t)
	c := login(t, s)
	if err := send(c, "to@example.com", hello); err != nil {
		t.Fatal(err)
	}
	if err := c.Quit(); err != nil {
		t.Fatal(err)
	}

	conn, err := tls.Dial("tcp", s.SMTPS, roots(t, s))
	if err != nil {
		t.Fatal(err)
	}
	if c, err = smtp.NewClient(conn, "127.0.0.1"); err != nil {
		t.Fatal(err)
	}
	if err := c.Mail("from@example.com"); code(err) != 530 {
		t.Errorf("without authentication: %v", err)
	}
	if err := c.Auth(smtp.PlainAuth("", s.Username, s.Password, "127.0.0.1")); err != nil {
		t.Fatal(err)
	}
	if err := send(c, "tls@example.com", hello); err != nil {
		t.Fatal(err)
	}

	if c, err = smtp.Dial(s.Plain); err != nil {
		t.Fatal(err)
	}
	if offers, _ := c.Extension("STARTTLS"); offers {
		t.Error("the plain port offers STARTTLS")
	}
	if err := send(c, "plain@example.com", hello); err != nil {
		t.Fatal(err)
	}

	all := s.Wait(3)
	var to []string
	for _, m := range all {
		to = append(to, m.To)
		if m.From != "from@example.com" || m.Header.Get("Subject") != "hello" || m.Text != ".one\r\n..two\r\n" {
			t.Errorf("got %+v", m)
		}
	}
	if !slices.Equal(to, []string{"to@example.com", "tls@example.com", "plain@example.com"}) {
		t.Errorf("recipients %v", to)
	}
	if all[0].Header.Get("X-Mailtest-Login") != s.Username || all[0].Header.Get("X-Mailtest-Encrypted") != "true" {
		t.Errorf("header %v", all[0].Header)
	}
	if all[2].Header.Get("X-Mailtest-Encrypted") != "false" {
		t.Errorf("header %v", all[2].Header)
	}
}

func code(err error) int {
	var reply *textproto.Error
	if errors.As(err, &reply) {
		return reply.Code
	}
	return 0
}

func TestMisbehaviour(t *testing.T) {
	s := mailtest.Start(t)
	for _, tt := range []struct {
		name, to string
		want     int // 0: no reply at all
	}{
		{"temporary", "temp-fail@example.com", 450},
		{"with a tag", "temp-fail+1@example.com", 450},
		{"permanent", "reject@example.com", 550},
		{"temporary at the end", "temp-fail-data@example.com", 451},
		{"permanent at the end", "reject-data@example.com", 554},
		{"hangs up", "drop@example.com", 0},
		{"hangs up at the end", "drop-after@example.com", 0},
		{"once", "fail-once@example.com", 451},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := send(login(t, s), tt.to, hello)
			if err == nil || code(err) != tt.want {
				t.Errorf("got %v, want %d", err, tt.want)
			}
		})
	}
	if err := send(login(t, s), "fail-once@example.com", hello); err != nil {
		t.Errorf("the second time: %v", err)
	}
	var to []string
	for _, m := range s.Messages() {
		to = append(to, m.To)
	}
	if !slices.Equal(to, []string{"drop-after@example.com", "fail-once@example.com"}) {
		t.Errorf("taken: %v", to)
	}
}

// A strict server is what makes the tests of a client worth something.
func TestStrict(t *testing.T) {
	s := mailtest.Start(t)
	begin := "EHLO test\r\nMAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.com>\r\nDATA\r\n"
	for _, tt := range []struct{ name, send, want string }{
		{"a bare line feed in a command", "EHLO test\n", "500 "},
		{"a bare line feed in the message", begin + "a\nb\r\n.\r\n", "550 5.6.0"},
		{"a bare carriage return", begin + "a\rb\r\n.\r\n", "550 5.6.0"},
		{"a long line", begin + strings.Repeat("a", 999) + "\r\n.\r\n", "500 5.6.0"},
		{"bytes beyond ASCII", begin + "é\r\n.\r\n", "550 5.6.1"},
		{"an address beyond ASCII", "EHLO test\r\nMAIL FROM:<é@example.com>\r\n", "553 "},
		{"an unknown parameter", "EHLO test\r\nMAIL FROM:<a@example.com> X=1\r\n", "555 "},
		{"no sender", "EHLO test\r\nRCPT TO:<b@example.com>\r\n", "503 "},
		{"no greeting", "MAIL FROM:<a@example.com>\r\n", "503 "},
		{"AUTH in clear", "EHLO test\r\nAUTH PLAIN AGEAYg==\r\n", "538 "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", s.Plain)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := conn.Write([]byte(tt.send + "QUIT\r\n")); err != nil {
				t.Fatal(err)
			}
			text := textproto.NewReader(bufio.NewReader(conn))
			for {
				line, err := text.ReadLine()
				if err != nil {
					t.Fatalf("no reply %s: %v", tt.want, err)
				}
				if strings.HasPrefix(line, tt.want) {
					return
				}
			}
		})
	}
	if got := s.Messages(); len(got) != 0 {
		t.Errorf("taken: %v", got)
	}
}

func TestGateway(t *testing.T) {
	s := mailtest.Start(t)
	client := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: roots(t, s)},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	post := func(url, token, body string) int {
		t.Helper()
		r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := client.Do(r)
		if err != nil {
			return 0
		}
		defer answer.Body.Close()
		return answer.StatusCode
	}
	for _, tt := range []struct {
		name, url, token, number string
		want                     int
	}{
		{"taken", s.SMS, s.SMSToken, "+15550100", 202},
		{"taken over TLS", s.SMSTLS, s.SMSToken, "+15550101", 202},
		{"wrong token", s.SMS, "x", "+15550100", 401},
		{"status", s.SMS, s.SMSToken, "+15550000429", 429},
		{"redirect", s.SMS, s.SMSToken, "+15550000302", 302},
		{"hangs up", s.SMS, s.SMSToken, "+15550000001", 0},
		{"once", s.SMS, s.SMSToken, "+15550000003", 503},
		{"the second time", s.SMS, s.SMSToken, "+15550000003", 202},
		{"unknown", s.SMS, s.SMSToken, "+15550000007", 400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := post(tt.url, tt.token, `{"to":"`+tt.number+`"}`); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
	if got := post(s.SMS, s.SMSToken, "To="+url.QueryEscape("+15550000503")); got != 503 {
		t.Errorf("a form: %d", got)
	}
	texts := s.WaitTexts(3)
	if len(texts) != 3 || texts[0].Body != `{"to":"+15550100"}` || texts[0].Header.Get("Authorization") != "Bearer "+s.SMSToken {
		t.Errorf("got %+v", texts)
	}
}
