// Command smtpd is the outside world of mail and SMS for tests: a mail server
// and an SMS gateway that are strict about what they are sent, keep it in
// files, and misbehave on request. Package mailtest starts it from Go and says
// how it is used; `go run ./internal/test/mailtest/smtpd` starts it from anywhere.
package main

import (
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

func main() {
	dir := flag.String("dir", "", "folder for what is received (default: a temporary one, removed at the end)")
	slow := flag.Duration("slow", 30*time.Second, "how long slow recipients take")
	flag.Parse()
	if err := run(*dir, *slow); err != nil {
		fmt.Fprintln(os.Stderr, "smtpd:", err)
		os.Exit(1)
	}
}

// listing is the first line of the output. See package mailtest.
type listing struct {
	SMTP     string `json:"smtp"`
	SMTPS    string `json:"smtps"`
	Plain    string `json:"plain"`
	SMS      string `json:"sms"`
	SMSTLS   string `json:"smsTls"`
	CAFile   string `json:"caFile"`
	MailDir  string `json:"mailDir"`
	SMSDir   string `json:"smsDir"`
	Username string `json:"username"`
	Password string `json:"password"`
	SMSToken string `json:"smsToken"`
}

func run(dir string, slow time.Duration) error {
	if dir == "" {
		temporary, err := os.MkdirTemp("", "latchkey-mailtest-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temporary)
		dir = temporary
	}
	l := listing{
		CAFile:  filepath.Join(dir, "ca.pem"),
		MailDir: filepath.Join(dir, "mail"), SMSDir: filepath.Join(dir, "sms"),
		Username: "latchkey", Password: rand.Text(), SMSToken: rand.Text(),
	}
	for _, d := range []string{l.MailDir, l.SMSDir} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
	}
	certificate, err := certify(l.CAFile)
	if err != nil {
		return err
	}
	secure := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}

	mail := &server{username: l.Username, password: l.Password, tls: secure, slow: slow, received: &folder{dir: l.MailDir}}
	sms := &gateway{token: l.SMSToken, slow: slow, received: &folder{dir: l.SMSDir}}
	// Each way of use has a port: with STARTTLS, with TLS from the start, and
	// without either.
	for _, service := range []struct {
		to     *string
		format string
		serve  func(net.Listener) error
	}{
		{&l.SMTP, "%s", func(on net.Listener) error { return mail.serve(on, offerTLS) }},
		{&l.SMTPS, "%s", func(on net.Listener) error { return mail.serve(on, startTLS) }},
		{&l.Plain, "%s", func(on net.Listener) error { return mail.serve(on, noTLS) }},
		{&l.SMS, "http://%s/sms", func(on net.Listener) error { return http.Serve(on, sms) }},
		{&l.SMSTLS, "https://%s/sms", func(on net.Listener) error { return http.Serve(tls.NewListener(on, secure), sms) }},
	} {
		on, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		*service.to = fmt.Sprintf(service.format, on.Addr())
		go func() {
			if err := service.serve(on); err != nil {
				fmt.Fprintln(os.Stderr, "smtpd:", err)
				os.Exit(1)
			}
		}()
	}
	if err := json.NewEncoder(os.Stdout).Encode(l); err != nil {
		return err
	}
	// It ends with the process that started it, however that ends.
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
