package notify

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/mail"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// TLSMode says how a connection to a mail server is protected.
type TLSMode string

// The modes. The zero value is STARTTLS.
const (
	STARTTLS TLSMode = "starttls" // begins in clear, and ends if the server does not switch
	TLS      TLSMode = "tls"      // from the first byte
	Plain    TLSMode = "plain"    // never; to a server on this machine only, and without a password
)

// SMTPConfig is how mail is sent. The zero value sends none.
type SMTPConfig struct {
	// Host is the mail server's name or address, which its certificate must
	// bear. Empty: no mail.
	Host string
	// Port is 587 (STARTTLS), 465 (TLS) or 25 (plain) when it is zero.
	Port int
	TLS  TLSMode
	// CAFile is a PEM file of the authorities to trust instead of the system's.
	CAFile string
	// Username and Password are both set, or neither.
	Username string
	Password Secret
	// From is the address that mail comes from, and where it bounces to.
	From     string
	FromName string
	// AllowFrom lists further addresses, and domains with all their addresses,
	// that a request may name as its sender. Empty: only From. Without such a
	// limit every tenant could send in the operator's name.
	AllowFrom []string
	// Hello is the name by which to greet the server. Empty: this machine's
	// address on the connection.
	Hello string
	// Timeout bounds each step of the conversation; the server's verdict on
	// the message may take ten times as long. Zero: 30 seconds.
	Timeout time.Duration
}

// Enabled reports whether mail is configured.
func (c SMTPConfig) Enabled() bool { return c.Host != "" }

// SMTP sends mail through one server, with one connection a message.
type SMTP struct {
	config    SMTPConfig
	from      mail.Address
	tls       *tls.Config
	templates *Templates
}

const defaultTimeout = 30 * time.Second

// NewSMTP checks the settings. It does not connect.
func NewSMTP(c SMTPConfig, t *Templates) (*SMTP, error) {
	if c.TLS == "" {
		c.TLS = STARTTLS
	}
	if c.Port == 0 {
		c.Port = map[TLSMode]int{STARTTLS: 587, TLS: 465, Plain: 25}[c.TLS]
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("smtp: %w", err)
	}
	roots, err := LoadRoots(c.CAFile)
	if err != nil {
		return nil, fmt.Errorf("smtp: %w", err)
	}
	return &SMTP{
		config:    c,
		from:      mail.Address{Name: c.FromName, Address: c.From},
		tls:       &tls.Config{ServerName: c.Host, RootCAs: roots, MinVersion: tls.VersionTLS12},
		templates: t,
	}, nil
}

func (c *SMTPConfig) check() error {
	ip := net.ParseIP(c.Host)
	switch {
	case ip == nil && !hostName(c.Host):
		return errors.New("the host must be a host name or an IP address")
	case c.TLS != STARTTLS && c.TLS != TLS && c.TLS != Plain:
		return errors.New("the TLS mode must be starttls, tls or plain")
	case c.Port < 1 || c.Port > 65535:
		return errors.New("the port must be from 1 to 65535")
	case c.TLS == Plain && !loopback(c.Host):
		return errors.New("plain mode is for a server on this machine: 127.0.0.1, ::1 or localhost; use starttls or tls")
	case c.TLS == Plain && c.Username != "":
		return errors.New("a password is sent over TLS only; use starttls or tls")
	case (c.Username == "") != (c.Password == ""):
		return errors.New("user name and password must both be set, or neither")
	case strings.ContainsRune(c.Username+string(c.Password), 0):
		return errors.New("user name and password must hold no zero byte") // it separates them (RFC 4616)
	case c.Hello != "" && !hostName(c.Hello):
		return errors.New("the name to greet with must be a host name")
	case c.Timeout < 0:
		return errors.New("the timeout must be positive")
	}
	if err := checkAddress(c.From); err != nil {
		return fmt.Errorf("the sender %w", err)
	}
	if err := checkName("the sender name", c.FromName); err != nil {
		return err
	}
	for _, a := range c.AllowFrom {
		if checkAddress(a) != nil && !hostName(a) {
			return errors.New("an allowed sender must be an email address or a domain")
		}
	}
	return nil
}

// CheckFrom says whether a request may name this sender.
func (s *SMTP) CheckFrom(address string) error {
	if err := checkAddress(address); err != nil {
		return fmt.Errorf("the sender address %w", err)
	}
	_, domain := splitAddress(address)
	allowed := append(slices.Clone(s.config.AllowFrom), s.config.From)
	if slices.ContainsFunc(allowed, func(a string) bool { return sameAddress(a, address) || sameAddress(a, domain) }) {
		return nil
	}
	return errors.New("the sender address is not one that this server may send from")
}

// DefaultFrom is the address of mails that name no other sender.
func (s *SMTP) DefaultFrom() string { return s.from.Address }

// Format keeps the password out of everything that is printed.
func (s *SMTP) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "smtp to "+net.JoinHostPort(s.config.Host, strconv.Itoa(s.config.Port)))
}

// Send delivers the message to the server.
func (s *SMTP) Send(ctx context.Context, m *Message) error {
	if !m.Kind.IsMail() {
		return permanent("smtp: a message of this kind does not go by mail")
	}
	if err := m.Check(); err != nil {
		return fmt.Errorf("smtp: %w", err)
	}
	if m.FromAddress != "" {
		if err := s.CheckFrom(m.FromAddress); err != nil {
			return permanent("smtp: %w", err)
		}
	}
	body, err := s.templates.mail(m, s.from)
	if err != nil {
		return fmt.Errorf("smtp: %w", err)
	}
	if err := s.deliver(ctx, m, body); err != nil {
		if ended := ctx.Err(); ended != nil { // the rest follows from it
			err = errors.Join(ended, err)
		}
		return fmt.Errorf("smtp: %w", err)
	}
	return nil
}

// loopback reports whether a host is meant to be this machine. onThisMachine
// asks the connection, because a name may point anywhere.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

var errElsewhere = errors.New("the server is not on this machine: nothing is sent in clear")

func onThisMachine(c net.Conn) bool {
	peer, ok := c.RemoteAddr().(*net.TCPAddr)
	return ok && peer.IP.IsLoopback()
}

// LoadRoots reads the authorities to trust from a PEM file. It returns nil, the system's authorities, when no file is named.
func LoadRoots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds no certificate in PEM", file)
	}
	return roots, nil
}
