package notify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

var kinds = []Kind{OTPEmail, EmailAuth, EmailRecovery, OTPSMS}

func TestMessageCheck(t *testing.T) {
	for _, k := range kinds {
		for _, m := range []*Message{message(k), fullMessage(k)} {
			if err := m.Check(); err != nil {
				t.Errorf("%v: %v", m, err)
			}
		}
	}
	for _, tt := range []struct {
		name    string
		kind    Kind
		corrupt func(*Message)
		want    string
	}{
		{"no id", OTPEmail, func(m *Message) { m.ID = "" }, "message id"},
		{"id that leaves the folder", OTPEmail, func(m *Message) { m.ID = "../x" }, "message id"},
		{"id that hides", OTPEmail, func(m *Message) { m.ID = ".x" }, "message id"},
		{"id that ends a header", OTPEmail, func(m *Message) { m.ID = "a\r\nBcc: x" }, "message id"},
		{"long id", OTPEmail, func(m *Message) { m.ID = strings.Repeat("a", 101) }, "message id"},
		{"no time", OTPEmail, func(m *Message) { m.CreatedAt = m.ExpiresAt }, "creation time"},
		{"no kind", OTPEmail, func(m *Message) { m.Kind = "" }, "kind"},
		{"other kind", OTPEmail, func(m *Message) { m.Kind = "webhook" }, "kind"},
		{"no code", OTPEmail, func(m *Message) { m.Code = "" }, "code"},
		{"code and bundle", OTPSMS, func(m *Message) { m.Bundle = testBundle }, "no bundle"},
		{"no bundle", EmailAuth, func(m *Message) { m.Bundle = "" }, "bundle"},
		{"bundle and code", EmailRecovery, func(m *Message) { m.Code = testCode }, "no code"},
		{"code that ends a header", OTPEmail, func(m *Message) { m.Code = "1\r\nBcc: x" }, "code"},
		{"bundle that means something in a link", EmailAuth, func(m *Message) { m.Bundle = "a&b" }, "bundle"},
		{"no recipient", OTPEmail, func(m *Message) { m.To = "" }, "email address"},
		{"recipient with a name", OTPEmail, func(m *Message) { m.To = "Al <al@example.com>" }, "email address"},
		{"two recipients", OTPEmail, func(m *Message) { m.To = "a@example.com,b@example.com" }, "email address"},
		{"recipient that ends a command", OTPEmail, func(m *Message) { m.To = "a@example.com>\r\nRCPT TO:<b@example.com" }, "email address"},
		{"recipient in quotes", OTPEmail, func(m *Message) { m.To = `"a b"@example.com` }, "email address"},
		{"recipient at an address", OTPEmail, func(m *Message) { m.To = "a@[127.0.0.1]" }, "email address"},
		{"recipient at a host beyond ASCII", OTPEmail, func(m *Message) { m.To = "a@exämple.com" }, "email address"},
		{"recipient that is not UTF-8", OTPEmail, func(m *Message) { m.To = "\xff@example.com" }, "email address"},
		{"recipient with a control character", OTPEmail, func(m *Message) { m.To = "a\u0085@example.com" }, "email address"},
		{"recipient with a long name", OTPEmail, func(m *Message) { m.To = strings.Repeat("a", 65) + "@example.com" }, "email address"},
		{"recipient of mail is a phone", OTPEmail, func(m *Message) { m.To = "+15550100" }, "email address"},
		{"recipient of an SMS is an address", OTPSMS, func(m *Message) { m.To = "a@example.com" }, "phone number"},
		{"phone without a plus", OTPSMS, func(m *Message) { m.To = "15550100" }, "phone number"},
		{"phone with a space", OTPSMS, func(m *Message) { m.To = "+1 555 0100" }, "phone number"},
		{"app name of two lines", OTPEmail, func(m *Message) { m.AppName = "a\r\nBcc: x@example.com" }, "app name"},
		{"app name with one end", OTPEmail, func(m *Message) { m.AppName = "a\nb" }, "app name"},
		{"app name that is not UTF-8", OTPEmail, func(m *Message) { m.AppName = "\xff" }, "app name"},
		{"long app name", OTPEmail, func(m *Message) { m.AppName = strings.Repeat("é", 257) }, "app name"},
		{"sender name of two lines", OTPEmail, func(m *Message) { m.FromName = "a\rb" }, "sender name"},
		{"sender", OTPEmail, func(m *Message) { m.FromAddress = "x" }, "sender address"},
		{"reply-to", OTPEmail, func(m *Message) { m.ReplyTo = "a@example.com\nBcc: x" }, "reply-to address"},
		{"logo", OTPEmail, func(m *Message) { m.LogoURL = "javascript:alert(1)" }, "logo"},
		{"link", OTPEmail, func(m *Message) { m.MagicLinkTemplate = "https://example.com" }, "invalid magic link template"},
		{"variables", OTPEmail, func(m *Message) { m.TemplateVariables = "{" }, "failed to unmarshal template variables"},
		{"SMS template", OTPSMS, func(m *Message) { m.SMSTemplate = "hello" }, "invalid SMS template"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := message(tt.kind)
			tt.corrupt(m)
			err := m.Check()
			wantPermanent(t, err, true)
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want something about %s", err, tt.want)
			}
		})
	}
}

// The outbox gets back what it stored.
func TestMessageJSON(t *testing.T) {
	for _, k := range kinds {
		for _, m := range []*Message{message(k), fullMessage(k)} {
			text, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			strict, err := jsonv2.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range [][]byte{text, strict} {
				var again Message
				if err := jsonv2.Unmarshal(text, &again, jsonv2.RejectUnknownMembers(true)); err != nil {
					t.Fatal(err)
				}
				// Format hides all from cmp's reports, but not from its comparison.
				if diff := cmp.Diff(*m, again); diff != "" {
					t.Errorf("%s differs: %s", text, diff)
				}
			}
		}
	}
}

// TestRedaction prints everything in every way, and looks for the secrets.
func TestRedaction(t *testing.T) {
	templates := builtin(t)
	smtp, err := NewSMTP(SMTPConfig{Host: "mail.example.com", Username: "u", Password: testPassword, From: "a@example.com"}, templates)
	if err != nil {
		t.Fatal(err)
	}
	gateway, err := NewGateway(SMSConfig{URL: "https://sms.example.com/" + testBundle, Headers: map[string]Secret{"Authorization": testPassword}}, templates)
	if err != nil {
		t.Fatal(err)
	}
	mail, sms := fullMessage(EmailAuth), fullMessage(OTPSMS)
	values := map[string]any{
		"message": *mail, "pointer": mail, "sms": sms,
		"slice": []*Message{mail}, "struct": struct{ M Message }{*sms},
		"secret": Secret(testPassword), "config": smtp.config, "sms config": gateway.config,
		"smtp": smtp, "gateway": gateway, "router": &Router{Mail: smtp, SMS: gateway},
	}
	for name, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%t"} {
			text := fmt.Sprintf(verb, v)
			noSecret(t, name+verb+": "+text)
			if strings.Contains(text, fmt.Sprintf("%x", testPassword)) || strings.Contains(text, "alice@") {
				t.Errorf("%s%s: %s", name, verb, text)
			}
		}
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("text", "value", v)
		noSecret(t, log.String())
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("json", "message", mail, "sms", *sms, "secret", Secret(testPassword), "config", smtp.config, "sms config", gateway.config)
	noSecret(t, log.String())
	if !strings.Contains(log.String(), mail.ID) || !strings.Contains(log.String(), "email_auth") {
		t.Errorf("the log does not name the message: %s", log.String())
	}
}
