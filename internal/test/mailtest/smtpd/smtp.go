package main

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"net"
	"strings"
	"time"
)

// mode is how a port treats TLS.
type mode int

const (
	offerTLS mode = iota // STARTTLS, required before anything else
	startTLS             // from the first byte
	noTLS                // never; and no authentication
)

// server is a mail server (RFC 5321). It takes mail from its one user, and on
// the plain port from any client.
type server struct {
	username, password string
	tls                *tls.Config
	slow               time.Duration
	received           *folder
	known              once
}

func (s *server) serve(on net.Listener, m mode) error {
	for {
		conn, err := on.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer conn.Close()
			if m == startTLS {
				conn = tls.Server(conn, s.tls)
			}
			c := &session{server: s, mode: m}
			c.use(conn)
			_ = c.run() // the client hung up, or was refused
		}()
	}
}

// session is one connection.
type session struct {
	*server
	mode mode
	conn net.Conn
	in   *bufio.Reader

	hello     string
	encrypted bool
	login     string
	from, to  string // of the mail that is coming
	utf8      bool   // it may hold bytes beyond ASCII
}

func (c *session) use(conn net.Conn) {
	c.conn, c.in = conn, bufio.NewReader(conn)
	_, c.encrypted = conn.(*tls.Conn)
}

// errBye ends a session on purpose.
var errBye = errors.New("bye")

func (c *session) say(lines ...string) error {
	_, err := c.conn.Write([]byte(strings.Join(lines, "\r\n") + "\r\n"))
	return err
}

// line reads one line, which must end in CRLF.
func (c *session) line() (string, error) {
	text, err := c.in.ReadString('\n')
	if err != nil {
		return "", err
	}
	line, ok := strings.CutSuffix(text, "\r\n")
	if !ok || strings.ContainsAny(line, "\r\x00") {
		return "", errors.Join(errBye, c.say("500 5.5.2 lines end in CRLF"))
	}
	return line, nil
}

func (c *session) run() error {
	if err := c.say("220 mailtest ESMTP"); err != nil {
		return err
	}
	for {
		line, err := c.line()
		if err != nil {
			return err
		}
		verb, rest, _ := strings.Cut(line, " ")
		if err := c.command(strings.ToUpper(verb), rest); err != nil {
			return err
		}
	}
}

func (c *session) command(verb, rest string) error {
	switch verb {
	case "EHLO":
		return c.greet(rest)
	case "STARTTLS":
		return c.startTLS()
	case "AUTH":
		return c.authenticate(rest)
	case "MAIL":
		return c.mail(rest)
	case "RCPT":
		return c.recipient(rest)
	case "DATA":
		return c.data()
	case "RSET":
		c.from, c.to = "", ""
		return c.say("250 2.0.0 ok")
	case "NOOP":
		return c.say("250 2.0.0 ok")
	case "QUIT":
		return errors.Join(c.say("221 2.0.0 bye"), errBye)
	}
	return c.say("502 5.5.1 unknown command")
}

func (c *session) greet(name string) error {
	if name == "" {
		return c.say("501 5.5.4 who are you?")
	}
	c.hello, c.from, c.to = name, "", ""
	switch name {
	case "busy.invalid":
		return c.say("421 4.3.2 too busy")
	case "unwelcome.invalid":
		return c.say("550 5.7.1 not you")
	case "flood.invalid":
		for {
			if err := c.say("250-" + strings.Repeat("x", 1000)); err != nil {
				return err
			}
		}
	case "babble.invalid":
		return c.say("what?")
	}
	lines := []string{"250-mailtest at your service", "250-8BITMIME"}
	if name != "no-utf8.invalid" {
		lines = append(lines, "250-SMTPUTF8")
	}
	if c.mode == offerTLS && !c.encrypted && name != "no-starttls.invalid" {
		lines = append(lines, "250-STARTTLS")
	}
	if c.encrypted {
		switch name {
		case "no-auth.invalid":
		case "login-only.invalid":
			lines = append(lines, "250-AUTH LOGIN")
		default:
			lines = append(lines, "250-AUTH PLAIN LOGIN")
		}
	}
	return c.say(append(lines, "250 SIZE 1048576")...)
}

func (c *session) startTLS() error {
	if c.mode != offerTLS || c.encrypted {
		return c.say("503 5.5.1 not now")
	}
	reply := []string{"220 2.0.0 go ahead"}
	if c.hello == "inject.invalid" { // as an attacker between the two would
		reply = append(reply, "250-mailtest", "250 AUTH PLAIN")
	}
	if err := c.say(reply...); err != nil {
		return err
	}
	if c.in.Buffered() > 0 {
		return errBye
	}
	c.use(tls.Server(c.conn, c.server.tls))
	c.hello = ""
	return nil
}

func (c *session) authenticate(rest string) error {
	mechanism, initial, _ := strings.Cut(rest, " ")
	switch {
	case !c.encrypted:
		return c.say("538 5.7.11 not without encryption")
	case c.hello == "" || c.login != "":
		return c.say("503 5.5.1 not now")
	}
	ask := func(prompt string) (string, error) {
		if err := c.say("334 " + base64.StdEncoding.EncodeToString([]byte(prompt))); err != nil {
			return "", err
		}
		return c.line()
	}
	decode := func(text string) string {
		plain, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return ""
		}
		return string(plain)
	}
	var user, password string
	switch strings.ToUpper(mechanism) {
	case "PLAIN":
		if initial == "" {
			var err error
			if initial, err = ask(""); err != nil {
				return err
			}
		}
		if parts := strings.Split(decode(initial), "\x00"); len(parts) == 3 {
			user, password = parts[1], parts[2]
		}
	case "LOGIN":
		for _, q := range []struct {
			prompt string
			to     *string
		}{{"Username:", &user}, {"Password:", &password}} {
			answer, err := ask(q.prompt)
			if err != nil {
				return err
			}
			*q.to = decode(answer)
		}
	default:
		return c.say("504 5.5.4 unknown mechanism")
	}
	if user != c.username || password != c.password {
		// Repeating the password is what a careless server would do.
		return c.say("535 5.7.8 wrong password " + strings.Map(printable, password))
	}
	c.login = user
	return c.say("235 2.7.0 welcome")
}

func printable(r rune) rune {
	if r < ' ' || r > '~' {
		return '?'
	}
	return r
}
