// Package mailtest gives tests a real mail server and a real SMS gateway, in a
// process of their own.
//
// The process is the command internal/test/mailtest/smtpd. Tests in another language
// start it too, with `go run ./internal/test/mailtest/smtpd [-dir DIR] [-slow 30s]`.
// It prints one line of JSON, and ends when its standard input is closed:
//
//	smtp      host:port of the mail server; STARTTLS, then AUTH, are required
//	smtps     the same with TLS from the start
//	plain     the same without TLS and without AUTH
//	username, password   what AUTH PLAIN and AUTH LOGIN accept
//	sms, smsTls          where SMS are posted, in any form; http and https
//	smsToken  the gateway wants "Authorization: Bearer TOKEN"
//	caFile    the authority to trust; its certificate is for 127.0.0.1 only
//	mailDir   NNNNNN.eml for each mail: Return-Path, Delivered-To and
//	          X-Mailtest-{Login,Encrypted,Hello}, then what was received
//	smsDir    NNNNNN.json for each SMS: {"header":{…},"body":"…"}
//
// The mail server misbehaves for some recipients, at any domain. What follows a
// plus is ignored: reject+1@example.com is reject.
//
//	temp-fail        450 to the recipient
//	fail-once        451 the first time that the address is seen, then taken
//	reject           550 to the recipient
//	slow             answers after -slow
//	drop             hangs up in the middle of the message
//	temp-fail-data   451 to the message
//	reject-data      554 to the message
//	echo             554 to the message, repeating it
//	drop-after       takes the message and hangs up without saying so
//	slow-after       takes the message and says so after -slow
//
// It refuses the sender unwelcome@, and misbehaves to clients that greet it by
// one of these names under .invalid: busy (421), unwelcome (550), babble (no
// SMTP at all), flood (an endless reply), no-starttls, no-auth, login-only,
// no-utf8 (leave an extension out), inject (adds a reply in clear to the
// agreement on STARTTLS).
//
// The gateway misbehaves for the numbers +15550000NNN: 001 hangs up, 002 is
// slow, 003 answers 503 the first time that the number is seen, and 200 to 599
// answers that status, repeating the request, and keeps nothing.
package mailtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"latchkey/internal/test/testkit"
)

// Server is a running process.
type Server struct {
	SMTP, SMTPS, Plain string // host:port
	SMS, SMSTLS        string // URLs
	CAFile             string
	MailDir, SMSDir    string
	Username, Password string
	SMSToken           string

	t testing.TB
}

// Slow is how long slow recipients of Start's server take.
const Slow = 8 * time.Second

// Start starts a process that ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	return start(t, Slow)
}

// StartHanging is Start with slow recipients that take longer than any test.
func StartHanging(t testing.TB) *Server {
	t.Helper()
	return start(t, 24*time.Hour)
}

func start(t testing.TB, slow time.Duration) *Server {
	t.Helper()
	// The flags are those of make build: what it compiled is not compiled again.
	cmd := exec.Command("go", "run", "-trimpath", "-buildvcs=false", "latchkey/internal/test/mailtest/smtpd", "-dir", t.TempDir(), "-slow", slow.String())
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatalf("mailtest: %v", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatalf("mailtest: %v", err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("mailtest: %v", err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("mailtest: %v\n%s", err, complaints.String())
		}
	})
	s := &Server{t: t}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, s) // matches names without case
	}
	if err != nil {
		t.Fatalf("mailtest: %v\n%s", err, complaints.String())
	}
	return s
}

// Mail is a mail that the server has taken.
type Mail struct {
	From, To   string // of the envelope
	Raw        []byte // with the lines that the server puts in front
	Header     mail.Header
	Text, HTML string
}

// Messages are the mails that have been taken so far, oldest first.
func (s *Server) Messages() []Mail {
	s.t.Helper()
	var all []Mail
	for _, raw := range s.files(s.MailDir, "*.eml") {
		all = append(all, s.parse(raw))
	}
	return all
}

// Wait waits until n mails have been taken, and returns all of them.
func (s *Server) Wait(n int) []Mail {
	s.t.Helper()
	return wait(s, n, s.Messages)
}

// SMS is a request that the gateway has taken.
type SMS struct {
	Header http.Header
	Body   string
}

// Texts are the SMS that have been taken so far, oldest first.
func (s *Server) Texts() []SMS {
	s.t.Helper()
	var all []SMS
	for _, raw := range s.files(s.SMSDir, "*.json") {
		var sms SMS
		if err := json.Unmarshal(raw, &sms); err != nil {
			s.t.Fatalf("mailtest: %v", err)
		}
		all = append(all, sms)
	}
	return all
}

// WaitTexts waits until n SMS have been taken, and returns all of them.
func (s *Server) WaitTexts(n int) []SMS {
	s.t.Helper()
	return wait(s, n, s.Texts)
}

func wait[T any](s *Server, n int, received func() []T) []T {
	s.t.Helper()
	var all []T
	testkit.Until(s.t, fmt.Sprintf("mailtest: %d messages come", n), func() bool {
		all = received()
		return len(all) >= n
	})
	return all
}

func (s *Server) files(dir, pattern string) [][]byte {
	s.t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern)) // sorted
	if err != nil {
		s.t.Fatalf("mailtest: %v", err)
	}
	var all [][]byte
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			s.t.Fatalf("mailtest: %v", err)
		}
		all = append(all, text)
	}
	return all
}

// parse expects a text and an HTML part, as every mail of the service has.
func (s *Server) parse(raw []byte) Mail {
	s.t.Helper()
	parsed, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		s.t.Fatalf("mailtest: %v", err)
	}
	m := Mail{Raw: raw, Header: parsed.Header, To: parsed.Header.Get("Delivered-To")}
	if from, err := mail.ParseAddress(parsed.Header.Get("Return-Path")); err == nil {
		m.From = from.Address
	}
	_, parameters, err := mime.ParseMediaType(parsed.Header.Get("Content-Type"))
	if err != nil || parameters["boundary"] == "" { // a plain mail
		text, err := io.ReadAll(parsed.Body)
		if err != nil {
			s.t.Fatalf("mailtest: %v", err)
		}
		m.Text = string(text)
		return m
	}
	parts := multipart.NewReader(parsed.Body, parameters["boundary"])
	for _, to := range []*string{&m.Text, &m.HTML} {
		part, err := parts.NextPart() // decodes quoted-printable
		if err != nil {
			s.t.Fatalf("mailtest: %v", err)
		}
		text, err := io.ReadAll(part)
		if err != nil {
			s.t.Fatalf("mailtest: %v", err)
		}
		*to = string(text)
	}
	return m
}
