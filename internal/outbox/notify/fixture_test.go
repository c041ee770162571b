package notify

import (
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	testCode     = "7K2M9QX4P"
	testBundle   = "w99a5xV6A75TfoAUkZn869fVyDYvgVsKrawMALZXmrauZd8hEv66EkPU1Z42CUaHESQjcA5bqd8dynTGBMLWB9ewtXWPEVbZvocB4Tw2K1vQVp7uwjf"
	testPassword = "correct horse battery staple"
)

var testTime = time.Date(2026, 3, 4, 5, 6, 7, 890e6, time.UTC)

// message is a good message of a kind, with nothing that is optional.
func message(k Kind) *Message {
	m := &Message{ID: "019a0000-0000-7000-8000-000000000001", Kind: k, To: "alice@example.com", CreatedAt: testTime}
	if k == OTPSMS {
		m.To = "+15550100"
	}
	if k.isOTP() {
		m.Code = testCode
	} else {
		m.Bundle = testBundle
	}
	return m
}

// fullMessage is one with everything that is optional.
func fullMessage(k Kind) *Message {
	m := message(k)
	m.OrganizationID, m.UserID = "019a0000-0000-7000-8000-00000000000a", "019a0000-0000-7000-8000-00000000000b"
	m.ExpiresAt = testTime.Add(5 * time.Minute)
	m.AppName = `Zoë & <b>"Söhne"</b>`
	m.LogoURL = "https://app.example.com/logo.png?a=1&b=2"
	m.MagicLinkTemplate = "https://app.example.com/login?a=%20b&bundle=%s#top"
	m.TemplateVariables = `{"greeting":"Hello <i>there</i>"}`
	m.FromAddress, m.FromName, m.ReplyTo = "login@tenant.example", "Zoë", "help@tenant.example"
	return m
}

// loadBuiltin loads once: templates do not change.
var loadBuiltin = sync.OnceValues(func() (*Templates, error) { return LoadTemplates("") })

func builtin(t testing.TB) *Templates {
	t.Helper()
	templates, err := loadBuiltin()
	if err != nil {
		t.Fatal(err)
	}
	return templates
}

// noSecret fails when a text repeats a secret of the tests.
func noSecret(t testing.TB, text string) {
	t.Helper()
	for _, secret := range []string{testCode, testBundle, testPassword} {
		if strings.Contains(text, secret) {
			t.Errorf("a secret is shown: %s", text)
		}
	}
}

// wantPermanent checks an error's kind, and that it keeps secrets.
func wantPermanent(t testing.TB, err error, want bool) {
	t.Helper()
	if err == nil {
		t.Fatal("there is no error")
	}
	noSecret(t, err.Error())
	if got := IsPermanent(err); got != want {
		t.Errorf("permanent is %t: %v", got, err)
	}
}
