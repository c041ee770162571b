package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/mail"
	"regexp"
	"strings"
	"time"
)

// This file holds the part of a session in which mail is handed over.

var path = regexp.MustCompile(`(?i)^(FROM|TO):<([^<> ]*)>((?: [^ ]+)*)$`)

func (c *session) mail(rest string) error {
	m := path.FindStringSubmatch(rest)
	switch {
	case c.hello == "" || c.from != "":
		return c.say("503 5.5.1 not now")
	case c.mode != noTLS && c.login == "":
		return c.say("530 5.7.0 authentication required")
	case m == nil || !strings.EqualFold(m[1], "FROM") || !address(m[2]):
		return c.say("501 5.1.7 no sender")
	case strings.HasPrefix(m[2], "unwelcome@"):
		return c.say("550 5.7.1 " + m[2] + " may not send")
	}
	c.utf8 = false
	for parameter := range strings.FieldsSeq(m[3]) {
		switch strings.ToUpper(parameter) {
		case "SMTPUTF8":
			c.utf8 = c.hello != "no-utf8.invalid"
		case "BODY=8BITMIME", "BODY=7BIT":
		default:
			return c.say("555 5.5.4 unknown parameter")
		}
	}
	if !c.utf8 && !ascii([]byte(m[2])) {
		return c.say("553 5.6.7 not in ASCII")
	}
	c.from = m[2]
	return c.say("250 2.1.0 ok")
}

func address(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.Address == s
}

func ascii(text []byte) bool {
	return !bytes.ContainsFunc(text, func(r rune) bool { return r > '~' })
}

func (c *session) recipient(rest string) error {
	m := path.FindStringSubmatch(rest)
	switch {
	case c.from == "" || c.to != "":
		return c.say("503 5.5.1 not now")
	case m == nil || !strings.EqualFold(m[1], "TO") || m[3] != "" || !address(m[2]):
		return c.say("501 5.1.3 no recipient")
	case !c.utf8 && !ascii([]byte(m[2])):
		return c.say("553 5.6.7 not in ASCII")
	}
	switch how(m[2]) {
	case "temp-fail":
		return c.say("450-4.2.1 mailbox of "+m[2], "450 4.2.1 is busy")
	case "fail-once":
		if c.known.first(m[2]) {
			return c.say("451 4.7.1 greylisted, try again")
		}
	case "reject":
		return c.say("550 5.1.1 no mailbox for " + m[2])
	case "slow":
		time.Sleep(c.slow)
	}
	c.to = m[2]
	return c.say("250 2.1.5 ok")
}

// how is the misbehaviour that a recipient asks for: its name up to a plus.
func how(recipient string) string {
	local := recipient[:strings.LastIndexByte(recipient, '@')]
	name, _, _ := strings.Cut(local, "+")
	return name
}

func (c *session) data() error {
	if c.to == "" {
		return c.say("503 5.5.1 not now")
	}
	if err := c.say("354 go ahead"); err != nil {
		return err
	}
	if how(c.to) == "drop" {
		_, err := c.line()
		return errors.Join(err, errBye)
	}
	text, err := c.message()
	if err != nil {
		return err
	}
	switch how(c.to) {
	case "temp-fail-data":
		return c.say("451 4.3.0 the disk is full")
	case "reject-data":
		return c.say("554 5.7.1 looks like spam")
	case "echo": // a server that says what it does not like
		return c.say("554 5.7.1 rejected: " + strings.Map(printable, string(text)))
	}
	envelope := fmt.Sprintf("Return-Path: <%s>\r\nDelivered-To: %s\r\nX-Mailtest-Login: %s\r\nX-Mailtest-Encrypted: %t\r\nX-Mailtest-Hello: %s\r\n",
		c.from, c.to, c.login, c.encrypted, c.hello)
	if err := c.received.put(".eml", append([]byte(envelope), text...)); err != nil {
		return err
	}
	switch how(c.to) {
	case "drop-after":
		return errBye
	case "slow-after":
		time.Sleep(c.slow)
	}
	c.from, c.to = "", ""
	return c.say("250 2.0.0 taken")
}

// message reads up to the line with the dot. It refuses what a strict server
// refuses: long lines, lines that do not end in CRLF, and bytes beyond ASCII
// that were not announced.
func (c *session) message() ([]byte, error) {
	var text bytes.Buffer
	for {
		line, err := c.in.ReadBytes('\n')
		switch {
		case err != nil:
			return nil, err
		case string(line) == ".\r\n":
			return text.Bytes(), nil
		case len(line) > 1000 || text.Len() > 1<<20:
			return nil, errors.Join(errBye, c.say("500 5.6.0 too long"))
		case !bytes.HasSuffix(line, []byte("\r\n")) || bytes.ContainsAny(line[:len(line)-2], "\r\n\x00"):
			return nil, errors.Join(errBye, c.say("550 5.6.0 lines end in CRLF"))
		case !c.utf8 && !ascii(line):
			return nil, errors.Join(errBye, c.say("550 5.6.1 not in ASCII"))
		}
		text.Write(bytes.TrimPrefix(line, []byte(".")))
	}
}
