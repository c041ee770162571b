package notify

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"
)

// conversation is one SMTP session (RFC 5321).
type conversation struct {
	conn       net.Conn
	text       *textproto.Conn
	extensions map[string]string // by upper-case keyword
	timeout    time.Duration
	// hide is what a reply may repeat and an error may not.
	hide []string
	// mail is set once replies are about the message, not about the session.
	mail bool
	// quiet is set where the server has just been told a password, or the
	// whole message: then an error repeats the numbers of a reply only.
	quiet bool
}

// deliver holds the whole conversation.
func (s *SMTP) deliver(ctx context.Context, m *Message, body []byte) error {
	c, err := s.connect(ctx, m)
	if err != nil {
		return err
	}
	raw := c.conn // c.conn changes when TLS begins
	defer raw.Close()
	defer context.AfterFunc(ctx, func() { _ = raw.Close() })()
	if err := s.open(ctx, c); err != nil {
		return err
	}
	if err := c.transfer(s.from.Address, m, body); err != nil {
		return err
	}
	// It is delivered, whatever the server says to this.
	_, _ = c.command("QUIT", 221, "QUIT")
	return nil
}

// Try connects to the server and logs in, as for a message, and sends none.
func (s *SMTP) Try(ctx context.Context) error {
	c, err := s.connect(ctx, &Message{})
	if err != nil {
		return fmt.Errorf("smtp: %w", err)
	}
	raw := c.conn
	defer raw.Close()
	defer context.AfterFunc(ctx, func() { _ = raw.Close() })()
	if err := s.open(ctx, c); err != nil {
		return fmt.Errorf("smtp: %w", err)
	}
	_, _ = c.command("QUIT", 221, "QUIT") // it was good, whatever the server says to this
	return nil
}

func (s *SMTP) connect(ctx context.Context, m *Message) (*conversation, error) {
	d := net.Dialer{Timeout: s.config.Timeout}
	raw, err := d.DialContext(ctx, "tcp", net.JoinHostPort(s.config.Host, strconv.Itoa(s.config.Port)))
	if err != nil {
		return nil, err
	}
	if s.config.TLS == Plain && !onThisMachine(raw) {
		return nil, errors.Join(errElsewhere, raw.Close())
	}
	c := &conversation{
		timeout: s.config.Timeout,
		hide:    slices.DeleteFunc([]string{m.Code, m.Bundle, m.To, string(s.config.Password)}, func(h string) bool { return h == "" }),
	}
	c.use(&limited{Conn: raw, left: maxReplies})
	return c, nil
}

func (c *conversation) use(conn net.Conn) {
	c.conn, c.text = conn, textproto.NewConn(conn)
}

// open brings the session to where mail can be handed over.
func (s *SMTP) open(ctx context.Context, c *conversation) error {
	if s.config.TLS == TLS {
		if err := s.encrypt(ctx, c); err != nil {
			return err
		}
	}
	if err := c.deadline(1); err != nil {
		return err
	}
	if _, err := c.reply("the greeting", 220); err != nil {
		return err
	}
	if err := s.hello(c); err != nil {
		return err
	}
	if s.config.TLS == STARTTLS {
		if _, ok := c.extensions["STARTTLS"]; !ok {
			return errors.New("the server does not offer STARTTLS: nothing is sent in clear")
		}
		if _, err := c.command("STARTTLS", 220, "STARTTLS"); err != nil {
			return err
		}
		// What came in clear with the reply could be an attacker's, and would be
		// taken for the server's protected words.
		if c.text.R.Buffered() > 0 {
			return errors.New("the server sent more in clear after agreeing to STARTTLS")
		}
		if err := s.encrypt(ctx, c); err != nil {
			return err
		}
		if err := s.hello(c); err != nil { // what it said in clear counts for nothing
			return err
		}
	}
	if s.config.Username != "" {
		return s.authenticate(c)
	}
	return nil
}

func (s *SMTP) encrypt(ctx context.Context, c *conversation) error {
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	protected := tls.Client(c.conn, s.tls)
	if err := protected.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("TLS: %w", err)
	}
	c.use(protected)
	return nil
}

func (s *SMTP) hello(c *conversation) error {
	name := s.config.Hello
	if name == "" {
		name = addressLiteral(c.conn.LocalAddr())
	}
	text, err := c.command("EHLO", 250, "EHLO "+name)
	if err != nil {
		return err
	}
	c.extensions = map[string]string{}
	for line := range strings.SplitSeq(text, "\n") {
		keyword, parameters, _ := strings.Cut(line, " ")
		c.extensions[strings.ToUpper(keyword)] = strings.ToUpper(parameters)
	}
	return nil
}

// addressLiteral is the greeting of a machine without a name (RFC 5321,
// section 4.1.3).
func addressLiteral(a net.Addr) string {
	host, _, err := net.SplitHostPort(a.String())
	ip := net.ParseIP(host)
	switch {
	case err != nil || ip == nil:
		return "localhost"
	case ip.To4() != nil:
		return "[" + ip.String() + "]"
	}
	return "[IPv6:" + ip.String() + "]"
}

// authenticate runs on TLS only: the settings say so, and open comes here after
// the switch.
func (s *SMTP) authenticate(c *conversation) error {
	offered := strings.Fields(c.extensions["AUTH"])
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	user, password := s.config.Username, string(s.config.Password)
	c.quiet = true
	defer func() { c.quiet = false }()
	var err error
	switch {
	case slices.Contains(offered, "PLAIN"): // RFC 4616
		_, err = c.command("AUTH PLAIN", 235, "AUTH PLAIN "+encode("\x00"+user+"\x00"+password))
	case slices.Contains(offered, "LOGIN"):
		if _, err = c.command("AUTH LOGIN", 334, "AUTH LOGIN"); err != nil {
			break
		}
		if _, err = c.command("the user name", 334, encode(user)); err != nil {
			break
		}
		_, err = c.command("the password", 235, encode(password))
	default:
		err = errors.New("the server offers neither AUTH PLAIN nor AUTH LOGIN")
	}
	return err
}

// transfer hands the message over.
func (c *conversation) transfer(from string, m *Message, body []byte) error {
	c.mail = true
	var parameters string
	if !ascii(from + m.To + m.FromAddress + m.ReplyTo) {
		if _, ok := c.extensions["SMTPUTF8"]; !ok {
			return permanent("an address is not in ASCII, and the server does not offer SMTPUTF8")
		}
		parameters = " BODY=8BITMIME SMTPUTF8" // RFC 6531, section 3.4
	}
	if _, err := c.command("MAIL", 250, "MAIL FROM:<"+from+">"+parameters); err != nil {
		return err
	}
	if _, err := c.command("RCPT", 25, "RCPT TO:<"+m.To+">"); err != nil {
		return err
	}
	if _, err := c.command("DATA", 354, "DATA"); err != nil {
		return err
	}
	if err := c.deadline(10); err != nil {
		return err
	}
	w := c.text.DotWriter()
	if _, err := w.Write(body); err != nil {
		return fmt.Errorf("sending the message: %w", err)
	}
	c.quiet = true
	// From here on the server may have it, until it says that it has not.
	if err := w.Close(); err != nil {
		return fmt.Errorf("sending the message: %w: %w", ErrUncertain, err)
	}
	if _, err := c.reply("the message", 250); err != nil {
		var r *replyError
		if errors.As(err, &r) {
			return err
		}
		return fmt.Errorf("%w: %w", ErrUncertain, err)
	}
	return nil
}

// command sends one line, which no error repeats: it may hold a password.
func (c *conversation) command(step string, want int, line string) (string, error) {
	if err := c.deadline(1); err != nil {
		return "", err
	}
	if err := c.text.PrintfLine("%s", line); err != nil {
		return "", fmt.Errorf("sending %s: %w", step, err)
	}
	return c.reply(step, want)
}

func (c *conversation) deadline(steps time.Duration) error {
	return c.conn.SetDeadline(time.Now().Add(steps * c.timeout))
}
