package notify

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"path/filepath"
	"strings"
	"testing"

	"latchkey/internal/test/golden"
)

var testFrom = mail.Address{Name: "Wallets", Address: "login@wallets.example"}

// TestGolden pins what recipients read.
func TestGolden(t *testing.T) {
	templates := builtin(t)
	for _, k := range kinds {
		for name, m := range map[string]*Message{"short": message(k), "full": fullMessage(k)} {
			t.Run(string(k)+"/"+name, func(t *testing.T) {
				var got []byte
				if k == OTPSMS {
					c, err := templates.render(m)
					if err != nil {
						t.Fatal(err)
					}
					got = []byte(c.text + "\n")
				} else {
					var err error
					if got, err = templates.mail(m, testFrom); err != nil {
						t.Fatal(err)
					}
				}
				golden.File(t, filepath.Join("testdata", string(k)+"."+name+".golden"), got)
			})
		}
	}
}

// parsed is a mail as its reader gets it.
type parsed struct {
	header     mail.Header
	text, html string
}

// parseMail reads a mail and checks the form that all of them have.
func parseMail(t testing.TB, raw []byte) parsed {
	t.Helper()
	for line := range bytes.SplitSeq(bytes.TrimSuffix(raw, []byte("\r\n")), []byte("\r\n")) {
		if len(line) > 998 || bytes.ContainsAny(line, "\r\n\x00") {
			t.Fatalf("a line that no server takes: %q", line)
		}
	}
	m, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	kind, parameters, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("content type %s: %v", kind, err)
	}
	p := parsed{header: m.Header}
	parts := multipart.NewReader(m.Body, parameters["boundary"])
	for _, want := range []struct {
		kind string
		to   *string
	}{{"text/plain; charset=utf-8", &p.text}, {"text/html; charset=utf-8", &p.html}} {
		part, err := parts.NextPart()
		if err != nil {
			t.Fatalf("%v\n%s", err, raw)
		}
		if got := part.Header.Get("Content-Type"); got != want.kind {
			t.Errorf("part of type %s, want %s", got, want.kind)
		}
		text, err := io.ReadAll(part)
		if err != nil {
			t.Fatal(err)
		}
		*want.to = string(text)
	}
	if _, err := parts.NextPart(); err != io.EOF {
		t.Errorf("a third part: %v", err)
	}
	return p
}

func decoded(t testing.TB, h mail.Header, name string) string {
	t.Helper()
	text, err := new(mime.WordDecoder).DecodeHeader(h.Get(name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestMailHeader(t *testing.T) {
	templates := builtin(t)
	for _, tt := range []struct {
		name   string
		change func(*Message)
		want   map[string]string // after decoding; empty: absent
	}{
		{"plain", func(*Message) {}, map[string]string{
			"From": `"Wallets" <login@wallets.example>`, "To": "<alice@example.com>", "Reply-To": "", "Subject": "Your code",
			"Date": "Wed, 04 Mar 2026 05:06:07 +0000", "Message-ID": "<019a0000-0000-7000-8000-000000000001@wallets.example>",
			"Auto-Submitted": "auto-generated",
		}},
		{"other sender without a name", func(m *Message) { m.FromAddress = "a@b.example" }, map[string]string{
			"From": `"Notifications" <a@b.example>`, "Message-ID": "<019a0000-0000-7000-8000-000000000001@wallets.example>",
		}},
		{"other name", func(m *Message) { m.FromName = `Bob "B" Söhne, Inc.` }, map[string]string{"From": `Bob "B" Söhne, Inc. <login@wallets.example>`}},
		{"reply to", func(m *Message) { m.ReplyTo = "a@b.example" }, map[string]string{"Reply-To": "<a@b.example>"}},
		{"name beyond ASCII", func(m *Message) { m.AppName = "Кошелёк ✓" }, map[string]string{"Subject": "Your Кошелёк ✓ code"}},
		{"long name", func(m *Message) { m.AppName = strings.Repeat("long ", 50) + "name" }, map[string]string{
			"Subject": "Your " + strings.Repeat("long ", 38) + "long…",
		}},
		{"long name beyond ASCII", func(m *Message) { m.AppName = strings.Repeat("é", 180) }, map[string]string{
			"Subject": "Your " + strings.Repeat("é", 180) + " code",
		}},
		{"address beyond ASCII", func(m *Message) { m.To = "ålice@example.com" }, map[string]string{"To": "<ålice@example.com>"}},
		{"encoded word as a name", func(m *Message) { m.AppName = "=?utf-8?q?a=0D=0ABcc:_x?=" }, map[string]string{
			"Subject": "Your =?utf-8?q?a=0D=0ABcc:_x?= code",
		}},
		{"encoded word as the sender", func(m *Message) { m.FromName = "=?utf-8?q?Bank?=" }, map[string]string{
			"From": "=?utf-8?q?Bank?= <login@wallets.example>",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := message(OTPEmail)
			tt.change(m)
			if err := m.Check(); err != nil {
				t.Fatal(err)
			}
			raw, err := templates.mail(m, testFrom)
			if err != nil {
				t.Fatal(err)
			}
			p := parseMail(t, raw)
			for name, want := range tt.want {
				if got := decoded(t, p.header, name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			head, _, _ := bytes.Cut(raw, []byte("\r\n\r\n"))
			for line := range strings.SplitSeq(string(head), "\r\n") {
				if len(line) > 76 {
					t.Errorf("not folded: %s", line)
				}
			}
		})
	}
}

// The last guard holds even for a message that was not checked.
func TestHeaderGuard(t *testing.T) {
	templates := builtin(t)
	for name, corrupt := range map[string]func(*Message){
		"to":       func(m *Message) { m.To = "a@example.com\r\nBcc: b@example.com" },
		"reply-to": func(m *Message) { m.ReplyTo = "a@example.com\nBcc: b@example.com" },
		"from":     func(m *Message) { m.FromAddress = "a@example.com\rBcc: b@example.com" },
		"id":       func(m *Message) { m.ID = "a\r\n\r\nbody" },
	} {
		m := message(OTPEmail)
		corrupt(m)
		raw, err := templates.mail(m, testFrom)
		if err == nil && bytes.Contains(raw, []byte("\nBcc:")) {
			t.Errorf("%s: a header was injected:\n%s", name, raw)
		}
		if err != nil {
			wantPermanent(t, err, true)
		}
	}
}
