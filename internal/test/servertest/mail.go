package servertest

import (
	"bytes"
	"context"
	"io"
	"net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"latchkey/internal/domain"
	"latchkey/internal/outbox/notify"
	"latchkey/internal/store"
	"latchkey/internal/test/testkit"
)

// Letter is a mail or an SMS that the server has sent.
type Letter struct {
	SMS    bool
	To     string
	Code   string // of a one-time code
	Bundle string // of a login or recovery
	Header mail.Header
	Body   string // of a mail, as it is sent: in parts, and encoded
}

// Mail returns everything that the server has written to its outbox folder,
// oldest first, after all messages of the requests that were answered so far.
func (s *Server) Mail(t testing.TB) []Letter {
	t.Helper()
	if s.Outbox == "" {
		t.Fatal("the server was started to really send messages")
	}
	s.Sent(t)
	entries, err := os.ReadDir(s.Outbox) // sorted by name, which begins with the time
	if err != nil {
		t.Fatal(err)
	}
	var letters []Letter
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || s.earlier[e.Name()] {
			continue // being written by another server, or sent for another test
		}
		letters = append(letters, readLetter(t, filepath.Join(s.Outbox, e.Name())))
	}
	return letters
}

// MailTo returns the newest message to an address or a number. There must be
// one.
func (s *Server) MailTo(t testing.TB, contact string) Letter {
	t.Helper()
	var newest *Letter
	for _, l := range s.Mail(t) {
		if l.To == contact {
			newest = &l
		}
	}
	if newest == nil {
		t.Fatalf("nothing was sent to %s", contact)
	}
	return *newest
}

// Sent waits until no message waits to be sent any more, however that ended.
func (s *Server) Sent(t testing.TB) {
	t.Helper()
	testkit.Until(t, "all messages are sent", func() bool { return len(s.Waiting(t)) == 0 })
}

// Waiting are the messages in the store that wait to be sent, or are being sent.
func (s *Server) Waiting(t testing.TB) (all []*domain.Message) {
	t.Helper()
	err := s.Store.Outbox(context.Background(), func(tx *store.Tx) (err error) {
		messages := tx.Messages()
		all, err = messages.List("", 0)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func readLetter(t testing.TB, path string) Letter {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mail.ReadMessage(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	body, err := io.ReadAll(m.Body)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	to := m.Header.Get("To")
	if a, err := mail.ParseAddress(to); err == nil {
		to = a.Address
	}
	return Letter{
		SMS: filepath.Ext(path) == ".sms", To: to, Header: m.Header, Body: string(body),
		Code: m.Header.Get(notify.HeaderCode), Bundle: m.Header.Get(notify.HeaderBundle),
	}
}
