package notify

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestRouter(t *testing.T) {
	mailDir, smsDir := t.TempDir(), t.TempDir()
	mails, err := NewFolder(mailDir, builtin(t))
	if err != nil {
		t.Fatal(err)
	}
	texts, err := NewFolder(smsDir, builtin(t))
	if err != nil {
		t.Fatal(err)
	}
	now := testTime
	clock := func() time.Time { return now }
	r := &Router{Mail: mails, SMS: texts, Now: clock}
	for _, k := range kinds {
		m := message(k)
		m.ID = string(k)
		if err := r.Check(m); err != nil || !r.Enabled(k) {
			t.Errorf("%s: %v", k, err)
		}
		if err := r.Send(t.Context(), m); err != nil {
			t.Errorf("%s: %v", k, err)
		}
	}
	if len(names(t, mailDir)) != 3 || len(names(t, smsDir)) != 1 {
		t.Errorf("mails %v, texts %v", names(t, mailDir), names(t, smsDir))
	}

	for _, k := range kinds {
		none := &Router{Now: clock}
		if !k.IsMail() {
			none.Mail = mails
		} else {
			none.SMS = texts
		}
		want := map[bool]string{true: "mail: ", false: "sms: "}[k.IsMail()]
		for _, err := range []error{none.Check(message(k)), none.Send(t.Context(), message(k))} {
			if !errors.Is(err, ErrDisabled) || IsPermanent(err) || !strings.HasPrefix(err.Error(), want) || none.Enabled(k) {
				t.Errorf("%s: %v", k, err)
			}
		}
	}

	unknown := message(OTPEmail)
	unknown.Kind = "webhook"
	wantPermanent(t, r.Check(unknown), true)
	wantPermanent(t, r.Send(t.Context(), unknown), true)

	m := fullMessage(OTPSMS)
	now = m.ExpiresAt.Add(-1)
	if err := r.Send(t.Context(), m); err != nil {
		t.Error(err)
	}
	now = m.ExpiresAt
	err = r.Send(t.Context(), m)
	wantPermanent(t, err, true)
	if !errors.Is(err, ErrExpired) {
		t.Errorf("got %v", err)
	}
}

// Check says at submission what Send would say later.
func TestRouterCheck(t *testing.T) {
	smtp, err := NewSMTP(SMTPConfig{Host: "mail.example.com", From: "a@example.com", AllowFrom: []string{"tenant.example"}}, builtin(t))
	if err != nil {
		t.Fatal(err)
	}
	r := &Router{Mail: smtp, Now: time.Now}
	m := fullMessage(OTPEmail)
	if err := r.Check(m); err != nil {
		t.Error(err)
	}
	m.FromAddress = "ceo@example.com"
	wantPermanent(t, r.Check(m), true)
	m = message(OTPEmail)
	m.MagicLinkTemplate = "x"
	wantPermanent(t, r.Check(m), true)
}
