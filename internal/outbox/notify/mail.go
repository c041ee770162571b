package notify

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"
)

// defaultSenderName is what the interface promises for a sender address
// without a name.
const defaultSenderName = "Notifications"

// header is one line of a header; its value is not yet encoded or folded.
type header struct{ name, value string }

// mail renders a checked message as bytes that any mail server accepts: lines
// end in CRLF and are short, and all but a UTF-8 address is ASCII. from is the
// sender of the installation.
func (t *Templates) mail(m *Message, from mail.Address, extra ...header) ([]byte, error) {
	c, err := t.render(m)
	if err != nil {
		return nil, err
	}
	boundary := boundary(m.ID)
	headers := []header{
		{"From", sender(m, from)},
		{"To", (&mail.Address{Address: m.To}).String()},
	}
	if m.ReplyTo != "" {
		headers = append(headers, header{"Reply-To", (&mail.Address{Address: m.ReplyTo}).String()})
	}
	headers = append(headers,
		header{"Subject", encode(c.subject)},
		header{"Date", date(m.CreatedAt)},
		header{"Message-ID", messageID(m, from)},
		// Asks for no automatic answers (RFC 3834).
		header{"Auto-Submitted", "auto-generated"},
		header{"MIME-Version", "1.0"},
		header{"Content-Type", `multipart/alternative; boundary="` + boundary + `"`},
	)
	var b bytes.Buffer
	for _, h := range append(headers, extra...) {
		if err := writeHeader(&b, h); err != nil {
			return nil, &Permanent{Err: err}
		}
	}
	for _, part := range []struct{ kind, body string }{{"text/plain", c.text}, {"text/html", c.html}} {
		b.WriteString("\r\n--" + boundary + "\r\n")
		b.WriteString("Content-Type: " + part.kind + "; charset=utf-8\r\n")
		b.WriteString("Content-Transfer-Encoding: quoted-printable\r\n\r\n")
		w := quotedprintable.NewWriter(&b)
		if _, err := w.Write([]byte(part.body)); err != nil {
			return nil, err
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
	}
	b.WriteString("\r\n--" + boundary + "--\r\n")
	return b.Bytes(), nil
}

// sender is the From of a mail, as its reader sees it.
func sender(m *Message, from mail.Address) string {
	if m.FromAddress != "" {
		from = mail.Address{Address: m.FromAddress}
	}
	if m.FromName != "" {
		from.Name = m.FromName
	}
	if from.Name == "" {
		from.Name = defaultSenderName
	}
	if name := encode(from.Name); name != from.Name {
		from.Name = ""
		return name + " " + from.String()
	}
	return from.String() // with the name in quotes
}

// wordBytes is how much goes into one encoded word: in base64 it stays below
// 76 characters even behind the name of a header (RFC 2047, section 2).
const wordBytes = 39

// encode writes what is not plain ASCII as encoded words (RFC 2047). A text
// that looks like one already is encoded too: its reader must see what was
// meant, not what the author hid in it.
func encode(text string) string {
	if ascii(text) && !strings.ContainsFunc(text, unicode.IsControl) && !strings.Contains(text, "=?") {
		return text
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	var words []string
	for text != "" {
		end := min(wordBytes, len(text))
		for end < len(text) && !utf8.RuneStart(text[end]) { // whole characters only
			end--
		}
		words = append(words, "=?utf-8?b?"+base64.StdEncoding.EncodeToString([]byte(text[:end]))+"?=")
		text = text[end:]
	}
	return strings.Join(words, " ")
}

// messageID is the same whenever the message is sent.
func messageID(m *Message, from mail.Address) string {
	_, domain := splitAddress(from.Address)
	return "<" + m.ID + "@" + domain + ">"
}

// boundary cannot occur in a part: quoted-printable has no "=_".
func boundary(id string) string {
	sum := sha256.Sum256([]byte(id))
	return "=_" + hex.EncodeToString(sum[:12])
}

// lineLength is where header lines are folded if they can be (RFC 5322,
// section 2.1.1).
const lineLength = 76

// writeHeader folds at spaces. A reader who unfolds gets the value back.
func writeHeader(b *bytes.Buffer, h header) error {
	// Everything was encoded or checked before it came here. If that ever
	// fails, there is no mail rather than a mail with another's header.
	if strings.ContainsFunc(h.value, unicode.IsControl) {
		return errors.New("the value of the header " + h.name + " holds a control character")
	}
	b.WriteString(h.name + ":")
	column := len(h.name) + 1
	for i, word := range strings.Split(h.value, " ") {
		if i > 0 && word != "" && column+1+len(word) > lineLength {
			b.WriteString("\r\n")
			column = 0
		}
		b.WriteString(" " + word)
		column += 1 + len(word)
	}
	b.WriteString("\r\n")
	return nil
}
