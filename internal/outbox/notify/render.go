package notify

import (
	"fmt"
	htmltemplate "html/template"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// data is what a template sees. All but the secret and To may be empty.
type data struct {
	AppName        string
	Code           string // otp kinds
	Bundle         string // the other kinds
	Link           htmltemplate.URL
	LogoURL        string
	Expires        string
	To             string
	OrganizationID string
	UserID         string
	Vars           map[string]string
}

const variables = ".AppName, .Code, .Bundle, .Link, .LogoURL, .Expires, .To, .OrganizationID, .UserID and .Vars.NAME"

// expiresLayout says the time of day and the zone: minutes that are left would
// be wrong by the time that the message arrives.
const expiresLayout = "2 January 2006, 15:04 MST"

// samples are messages of a kind with and without each optional variable.
func samples(k Kind) []*data {
	var all []*data
	for without := range 1 << 7 {
		d := &data{To: "name@example.com"}
		if k.isOTP() {
			d.Code = "7K2M9QX4P"
		} else {
			d.Bundle = "w99a5xV6A75TfoAUkZn869fVyDYvgVsKrawMALZXmrauZd8hEv66EkPU1Z42CUaHESQjcA5bqd8dynTGBMLWB9ewtXWPEVbZvocB4Tw2K1vQVp7uwjf"
		}
		for i, set := range []func(){
			func() { d.AppName = "Example" },
			func() { d.Link = htmltemplate.URL("https://app.example.com/?s=" + d.Code + d.Bundle) },
			func() { d.LogoURL = "https://app.example.com/logo.png" },
			func() { d.Expires = "2 January 2026, 15:04 UTC" },
			func() { d.OrganizationID = "019a0000-0000-7000-8000-000000000001" },
			func() { d.UserID = "019a0000-0000-7000-8000-000000000002" },
			func() { d.Vars = map[string]string{"greeting": "Hello"} },
		} {
			if without>>i&1 == 0 {
				set()
			}
		}
		all = append(all, d)
	}
	return all
}

func (m *Message) data() (*data, error) {
	d := &data{
		AppName: m.AppName, Code: m.Code, Bundle: m.Bundle, LogoURL: m.LogoURL,
		To: m.To, OrganizationID: m.OrganizationID, UserID: m.UserID,
	}
	if m.MagicLinkTemplate != "" {
		// The type tells html/template that the scheme has been checked; it
		// would allow web links only.
		d.Link = htmltemplate.URL(fillLink(m.MagicLinkTemplate, m.secret()))
	}
	if !m.ExpiresAt.IsZero() {
		d.Expires = m.ExpiresAt.UTC().Format(expiresLayout)
	}
	if m.TemplateVariables != "" {
		var err error
		if d.Vars, err = parseVariables(m.TemplateVariables); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// content is a rendered message; an SMS is its text only.
type content struct {
	subject, text, html string
}

// render expects a checked message. An error is the template's fault, not the
// message's: the operator can correct it, so it is temporary.
func (t *Templates) render(m *Message) (*content, error) {
	if m.Kind == OTPSMS && m.SMSTemplate != "" {
		return &content{text: fillSMS(m.SMSTemplate, m.Code)}, nil
	}
	d, err := m.data()
	if err != nil {
		return nil, &Permanent{Err: err}
	}
	var c content
	parts := map[string]*string{partText: &c.text}
	if m.Kind.IsMail() {
		parts[partSubject], parts[partHTML] = &c.subject, &c.html
	}
	for part, to := range parts {
		var out strings.Builder
		name := string(m.Kind) + part
		if err := t.files[name].Execute(&out, d); err != nil {
			// The reason of an execution may quote what it was about to print.
			return nil, fmt.Errorf("the template %s failed on this message", name)
		}
		*to = out.String()
	}
	c.subject = subject(c.subject)
	if m.Kind == OTPSMS {
		c.text = strings.TrimSpace(c.text)
	}
	return &c, nil
}

// maxSubject keeps a subject readable, whatever a variable puts into it.
const maxSubject = 200

// subject makes one line of what a template wrote.
func subject(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) > maxSubject {
		text = string([]rune(text)[:maxSubject-1]) + "…"
	}
	return text
}

func date(t time.Time) string { return t.UTC().Format("Mon, 02 Jan 2006 15:04:05 -0700") }
