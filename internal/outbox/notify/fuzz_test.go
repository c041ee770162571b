package notify

import (
	"bytes"
	"encoding/json"
	"html"
	"maps"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// Whatever a message holds, checked or not, its mail has exactly the headers
// that a mail has, and ends where it should. A checked message also arrives as
// it was meant.
func FuzzRender(f *testing.F) {
	add := func(kind uint8, change func(*Message)) {
		m := message(kinds[kind])
		change(m)
		f.Add(kind, m.ID, m.To, m.Code+m.Bundle, m.AppName, m.LogoURL, m.MagicLinkTemplate, m.TemplateVariables, m.FromAddress, m.FromName, m.ReplyTo)
	}
	add(0, func(*Message) {})
	add(1, func(m *Message) { *m = *fullMessage(EmailAuth) })
	add(2, func(m *Message) { *m = *fullMessage(EmailRecovery) })
	add(0, func(m *Message) { m.AppName = "a\r\nBcc: x@example.com\r\n\r\nbody" })
	add(0, func(m *Message) { m.AppName = "=?utf-8?q?a=0D=0ABcc:_x?=" })
	add(0, func(m *Message) { m.FromName = "\"\r\nBcc: x@example.com" })
	add(0, func(m *Message) { m.FromName = strings.Repeat("é", 256) })
	add(0, func(m *Message) { m.FromName = strings.Repeat("\xbf", 200) })
	add(0, func(m *Message) { m.To = "a@example.com\nBcc: x@example.com" })
	add(0, func(m *Message) { m.To = "ålice@example.com" })
	add(0, func(m *Message) { m.ReplyTo = "\"a\\\r\nb\"@example.com" })
	add(0, func(m *Message) { m.FromAddress = "a@example.com\rx" })
	add(0, func(m *Message) { m.ID = "a>\r\nBcc: x@example.com" })
	add(1, func(m *Message) { m.MagicLinkTemplate = "javascript://%0aalert(1)//%s" })
	add(1, func(m *Message) { m.MagicLinkTemplate = "myapp://x?%s'&a" })
	add(0, func(m *Message) { m.TemplateVariables = `{"greeting":"a\r\nBcc: x"}` })
	add(2, func(m *Message) { m.Bundle = "\r\n.\r\nMAIL FROM:<x>" })

	// A subject of nothing but what the client says is the hardest case.
	templates, err := LoadTemplates("")
	if err != nil {
		f.Fatal(err)
	}
	if err := templates.add("otp_email.subject.txt", "-{{.Vars.greeting}}{{.AppName}}"); err != nil {
		f.Fatal(err)
	}
	want := []string{"Auto-Submitted", "Content-Type", "Date", "From", "Message-Id", "Mime-Version", "Subject", "To"}
	f.Fuzz(func(t *testing.T, kind uint8, id, to, secret, app, logo, link, vars, from, name, reply string) {
		m := &Message{
			ID: id, Kind: kinds[kind%3], To: to, CreatedAt: testTime, AppName: app, LogoURL: logo,
			MagicLinkTemplate: link, TemplateVariables: vars, FromAddress: from, FromName: name, ReplyTo: reply,
		}
		if m.Kind.isOTP() {
			m.Code = secret
		} else {
			m.Bundle = secret
		}
		checked := m.Check()
		raw, err := templates.mail(m, testFrom)
		if err != nil {
			if checked == nil {
				t.Fatalf("a checked message fails: %v", err)
			}
			return
		}
		read, err := mail.ReadMessage(bytes.NewReader(raw))
		if err != nil {
			t.Fatalf("%v\n%q", err, raw)
		}
		headers := slices.Clone(want)
		if reply != "" {
			headers = append(headers, "Reply-To")
		}
		slices.Sort(headers)
		if diff := cmp.Diff(headers, slices.Sorted(maps.Keys(read.Header))); diff != "" {
			t.Fatalf("headers (-want +got):\n%s\n%q", diff, raw)
		}
		for header, values := range read.Header {
			if len(values) != 1 {
				t.Fatalf("%s is there %d times", header, len(values))
			}
		}
		if checked != nil {
			return
		}
		p := parseMail(t, raw)
		if ascii(to+from+reply) && !ascii(string(raw)) {
			t.Errorf("not ASCII: %q", raw)
		}
		if got := decoded(t, p.header, "Subject"); strings.ContainsAny(got, "\r\n") || got != subject(got) || got == "" {
			t.Errorf("subject %q", got)
		}
		wantFrom := mail.Address{Name: name, Address: from}
		if from == "" {
			wantFrom.Address = testFrom.Address
		}
		switch got, err := mail.ParseAddress(p.header.Get("From")); {
		case err != nil:
			t.Errorf("from %q: %v", p.header.Get("From"), err)
		case got.Address != wantFrom.Address, strings.TrimSpace(name) != "" && strings.Join(strings.Fields(got.Name), " ") != strings.Join(strings.Fields(name), " "):
			t.Errorf("from %q, want %q", got, wantFrom)
		}
		if got, err := mail.ParseAddress(p.header.Get("To")); err != nil || got.Address != to {
			t.Errorf("to %v, %v", got, err)
		}
		if !strings.Contains(p.text, secret) || !strings.Contains(p.html, secret) {
			t.Errorf("the secret is missing:\n%s\n%s", p.text, p.html)
		}
	})
}

// What CheckSMSTemplate accepts is copied with the code in its places, and
// nothing in it is executed.
func FuzzSMSTemplate(f *testing.F) {
	for _, seed := range []string{
		"{{.OtpCode}}", "Your code is {{.OtpCode}}, {{.OtpCode}}", "{{.OtpCode}}{{.OtpCode}}", "{{{.OtpCode}}}", "{{ .OtpCode }}", "{{{{.OtpCode}}.OtpCode}}",
		"{{.OtpCode}}{{printf \"%s\" .}}", "{{.OtpCode}}\n", "{{.OtpCode}}\x00", "\"\\{{.OtpCode}}", "é{{.OtpCode}}\xff",
	} {
		f.Add(seed)
	}
	templates, err := LoadTemplates("")
	if err != nil {
		f.Fatal(err)
	}
	gateway, err := NewGateway(SMSConfig{URL: "https://sms.example.com"}, templates)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if err := CheckSMSTemplate(text); err != nil {
			if !strings.HasPrefix(err.Error(), "invalid SMS template: ") {
				t.Fatalf("got %v", err)
			}
			return
		}
		m := message(OTPSMS)
		m.SMSTemplate = text
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
		c, err := templates.render(m)
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Join(strings.Split(text, "{{.OtpCode}}"), testCode); c.text != want || !strings.Contains(want, testCode) || !utf8.ValidString(want) {
			t.Fatalf("got %q, want %q", c.text, want)
		}
		body, err := gateway.render(sms{To: m.To, Text: c.text, ID: m.ID})
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ To, Text, ID string }
		if err := json.Unmarshal(body, &got); err != nil || got.Text != c.text || got.To != m.To {
			t.Fatalf("body %s: %v", body, err)
		}
	})
}

// What CheckMagicLinkTemplate accepts becomes a link that leads to the same
// host whatever the secret is, holds the secret as it is, and is the link that
// a click in the mail opens.
func FuzzMagicLink(f *testing.F) {
	for _, seed := range []string{
		"https://app.example.com/%s", "https://app.example.com/?a=%20&b=%s#c", "myapp://auth?b=%s", "http://[::1]:80/%s", "https://a@b/%s",
		"javascript://%0aalert(1)//%s", "https://%s/", "https://x/%%s41", "data://%s", "https://x/'()%s", "A://%s", "https://x/&amp;%s", "x-y+z.1:///%s",
	} {
		f.Add(seed)
	}
	templates, err := LoadTemplates("")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if err := CheckMagicLinkTemplate(text); err != nil {
			if !strings.HasPrefix(err.Error(), "invalid magic link template: ") {
				t.Fatalf("got %v", err)
			}
			return
		}
		m := message(EmailAuth)
		m.MagicLinkTemplate = text
		c, err := templates.render(m)
		if err != nil {
			t.Fatal(err)
		}
		link := strings.Replace(text, "%s", testBundle, 1)
		u, err := url.Parse(link)
		if err != nil {
			t.Fatal(err)
		}
		if other, err := url.Parse(strings.Replace(text, "%s", "41", 1)); err != nil || u.Scheme != other.Scheme || (u.Scheme == "http" || u.Scheme == "https") && u.Host != other.Host {
			t.Errorf("%s leads elsewhere than %s: %v", u, other, err)
		}
		if slices.Contains(scriptSchemes, u.Scheme) || u.User != nil {
			t.Errorf("accepted %s", text)
		}
		if !strings.Contains(c.text, "\n"+link+"\n") {
			t.Errorf("the text has not %s:\n%s", link, c.text)
		}
		_, after, _ := strings.Cut(c.html, `<a href="`)
		href, _, _ := strings.Cut(after, `"`)
		clicked, err := url.Parse(html.UnescapeString(href))
		if err != nil {
			t.Fatal(err)
		}
		same := func(a, b *url.URL) bool {
			return a.Scheme == b.Scheme && a.Host == b.Host && a.Path == b.Path && a.Opaque == b.Opaque && a.Fragment == b.Fragment && unescape(a.RawQuery) == unescape(b.RawQuery)
		}
		if !same(clicked, u) {
			t.Errorf("the button opens %s, not %s", href, link)
		}
	})
}

func unescape(query string) string {
	text, err := url.QueryUnescape(query)
	if err != nil {
		return query
	}
	return text
}
