package notify

import (
	"bytes"
	"context"
	"fmt"
	"net/mail"
	"os"
	"path/filepath"

	"latchkey/internal/secretfile"
)

// The headers that a [Folder] adds, for tests and for the users of a development
// server. A mail that is really sent does not have them.
const (
	HeaderCode   = "X-Latchkey-Code"
	HeaderBundle = "X-Latchkey-Bundle"
)

// Folder writes each message into a file that only its owner can read: mail as
// NAME.eml, as it would be sent, SMS as NAME.sms. Names sort by the time of the
// message. A file appears whole or not at all, and a message that is sent again
// replaces its file.
type Folder struct {
	dir       string
	templates *Templates
}

// NewFolder makes the folder if it is missing.
func NewFolder(dir string, t *Templates) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("outbox folder: %w", err)
	}
	return &Folder{dir: dir, templates: t}, nil
}

// fileTime sorts as text.
const fileTime = "20060102T150405.000Z"

// Send writes the file.
func (f *Folder) Send(ctx context.Context, m *Message) error {
	if err := m.Check(); err != nil {
		return fmt.Errorf("outbox folder: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("outbox folder: %w", err)
	}
	secret := header{HeaderCode, m.Code}
	if !m.Kind.isOTP() {
		secret = header{HeaderBundle, m.Bundle}
	}
	text, extension := []byte(nil), ".eml"
	var err error
	if m.Kind == OTPSMS {
		extension = ".sms"
		text, err = f.sms(m, secret)
	} else {
		text, err = f.templates.mail(m, mail.Address{Name: "Latchkey", Address: f.DefaultFrom()}, secret)
	}
	if err == nil {
		name := m.CreatedAt.UTC().Format(fileTime) + "-" + m.ID + extension
		err = secretfile.Write(filepath.Join(f.dir, name), text)
	}
	if err != nil {
		return fmt.Errorf("outbox folder: %w", err)
	}
	return nil
}

// DefaultFrom is the address of mails that name no other sender.
func (*Folder) DefaultFrom() string { return "latchkey@localhost" }

// sms renders an SMS in the form of a mail, which has room for headers.
func (f *Folder) sms(m *Message, secret header) ([]byte, error) {
	c, err := f.templates.render(m)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, h := range []header{
		{"To", m.To},
		{"Date", date(m.CreatedAt)},
		{"Message-ID", "<" + m.ID + "@localhost>"},
		{"MIME-Version", "1.0"},
		{"Content-Type", "text/plain; charset=utf-8"},
		{"Content-Transfer-Encoding", "8bit"},
		secret,
	} {
		if err := writeHeader(&b, h); err != nil {
			return nil, &Permanent{Err: err}
		}
	}
	b.WriteString("\r\n" + c.text + "\r\n")
	return b.Bytes(), nil
}
