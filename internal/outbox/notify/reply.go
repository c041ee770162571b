package notify

import (
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// reply reads the answer to a step.
func (c *conversation) reply(step string, want int) (string, error) {
	_, text, err := c.text.ReadResponse(want)
	var other *textproto.Error
	switch {
	case err == nil:
		return text, nil
	case errors.As(err, &other):
		r := &replyError{step: step, code: other.Code, text: c.quote(other.Msg)}
		if c.mail && r.permanent() {
			return "", &Permanent{Err: r}
		}
		return "", r
	}
	var protocol textproto.ProtocolError
	if errors.As(err, &protocol) { // its text is the server's
		err = errors.New("not a reply of SMTP")
	}
	return "", fmt.Errorf("reading the answer to %s: %w", step, err)
}

// replyError is an answer that refuses a step.
type replyError struct {
	step string
	code int
	text string
}

func (r *replyError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("%s was answered %d %s", r.step, r.code, r.text))
}

// permanent tells a refusal of this message from one of the session. A
// password that is wrong or missing is for the operator to correct, and until
// then no message is lost for it (RFC 4954, section 6).
func (r *replyError) permanent() bool {
	return r.code/100 == 5 && !slices.Contains([]int{530, 534, 535, 538}, r.code)
}

// enhanced is the status code of RFC 3463 at the beginning of a reply.
var enhanced = regexp.MustCompile(`^[245]\.[0-9]{1,3}\.[0-9]{1,3}\b`)

const maxQuote = 200

// quote is what an error may repeat of a reply.
func (c *conversation) quote(text string) string {
	if c.quiet {
		return enhanced.FindString(text)
	}
	for _, h := range c.hide {
		text = strings.ReplaceAll(text, h, redacted)
	}
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	if len(text) > maxQuote {
		text = strings.ToValidUTF8(text[:maxQuote], "") + "…"
	}
	return text
}

// maxReplies bounds what a server may say in one conversation, TLS included.
const maxReplies = 1 << 20

// limited is a connection that ends when its peer says too much.
type limited struct {
	net.Conn
	left int
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errors.New("the server says too much")
	}
	n, err := l.Conn.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}
