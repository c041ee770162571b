package domain

import (
	"math"
	"testing"
	"time"
)

func TestQuorumReached(t *testing.T) {
	for _, c := range []struct {
		name      string
		quorum    Quorum
		approvers []string
		want      bool
	}{
		{"one of one", Quorum{1, []string{"a"}}, []string{"a"}, true},
		{"another user", Quorum{1, []string{"a"}}, []string{"b"}, false},
		{"no one", Quorum{1, []string{"a"}}, nil, false},
		{"one of two needed", Quorum{2, []string{"a", "b"}}, []string{"a"}, false},
		{"both", Quorum{2, []string{"a", "b"}}, []string{"b", "a"}, true},
		{"one twice is one", Quorum{2, []string{"a", "b"}}, []string{"a", "a"}, false},
		{"a member listed twice is one", Quorum{2, []string{"a", "a"}}, []string{"a"}, false},
		{"threshold zero is closed", Quorum{0, []string{"a"}}, []string{"a"}, false},
		{"threshold zero without members is closed", Quorum{0, nil}, nil, false},
		{"negative threshold is closed", Quorum{-1, []string{"a"}}, []string{"a"}, false},
		{"threshold above the members is closed", Quorum{3, []string{"a", "b"}}, []string{"a", "b"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.quorum.Reached(c.approvers...); got != c.want {
				t.Errorf("Reached = %v, want %v", got, c.want)
			}
		})
	}
}

func TestExpired(t *testing.T) {
	created := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		seconds uint64
		after   time.Duration
		want    bool
	}{
		{"no end", 0, 1000 * time.Hour, false},
		{"fresh", 60, 59 * time.Second, false},
		{"at its end", 60, 60 * time.Second, true},
		{"long past", 60, time.Hour, true},
		{"an end beyond all times", math.MaxUint64, 200 * 365 * 24 * time.Hour, false},
		{"a clock that went back", 60, -time.Hour, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			key := APIKey{ExpirationSeconds: c.seconds, CreatedAt: created}
			if got := key.Expired(created.Add(c.after)); got != c.want {
				t.Errorf("Expired = %v, want %v", got, c.want)
			}
			if left := key.SecondsLeft(created.Add(c.after)); c.seconds > 0 && (left == 0) != c.want || left > c.seconds {
				t.Errorf("%d seconds are left", left)
			}
		})
	}
}

func TestCanLogIn(t *testing.T) {
	mail := &Organization{Features: []Feature{{Name: FeatureEmailAuth}}}
	sms := &Organization{Features: []Feature{{Name: FeatureSMSAuth}}}
	for _, c := range []struct {
		name string
		org  *Organization
		user User
		want bool
	}{
		{"nothing", mail, User{}, false},
		{"lasting key", &Organization{}, User{APIKeys: []APIKey{{}}}, true},
		{"expiring key", mail, User{APIKeys: []APIKey{{ExpirationSeconds: 5}}}, false},
		{"passkey", &Organization{}, User{Authenticators: []Authenticator{{}}}, true},
		{"mail", mail, User{Email: "a@example.com"}, true},
		{"mail that is switched off", sms, User{Email: "a@example.com"}, false},
		{"phone", sms, User{PhoneNumber: "+14155550100"}, true},
		{"phone that is switched off", mail, User{PhoneNumber: "+14155550100"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.user.CanLogIn(c.org); got != c.want {
				t.Errorf("CanLogIn = %v, want %v", got, c.want)
			}
		})
	}
}

func TestNonceOf(t *testing.T) {
	for key, want := range map[string]string{
		"0394e549c71fa99dd5cf752fba623090be314949b74e4cdf7ca72031dd638e281a": "1663bba492a323085b13895634a3618792c4ec6896f3c34ef3c26396df22ef82",
		"": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
	} {
		if got := NonceOf(key); got != want {
			t.Errorf("NonceOf(%q) = %s", key, got)
		}
	}
}

// TestNormalEmail: letters that only look like those of an address are not it.
func TestNormalEmail(t *testing.T) {
	for text, want := range map[string]string{
		"Kate.I@Example.COM":    "kate.i@example.com",
		"\u212aate@example.com": "\u212aate@example.com", // KELVIN SIGN
		"\u0130an@example.com":  "\u0130an@example.com",  // I WITH DOT ABOVE
		"\u017fue@example.com":  "\u017fue@example.com",  // LONG S
		"M\u00dcLLER@x.org":     "m\u00dcller@x.org",
		"":                      "",
	} {
		if got := NormalEmail(text); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
	for _, contact := range []string{"\u212aate@example.com", "\u0130an@example.com", "\u0131an@example.com", "\u017fue@example.com"} {
		for _, email := range []string{"kate@example.com", "ian@example.com", "sue@example.com"} {
			if (&User{Email: email}).HasContact(OTPEmail, contact) {
				t.Errorf("%q is taken for %s", contact, email)
			}
		}
	}
	if !(&User{Email: "Kate@example.com"}).HasContact(OTPEmail, "kATE@EXAMPLE.com") {
		t.Error("letters of ASCII are compared by case")
	}
}

// TestWrongCodes lets wrong codes come back as fast as they may, for a day.
func TestWrongCodes(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w, now := &WrongCodes{Since: start}, start
	for range 15 {
		if next := w.NextCode(now); !next.Equal(now) {
			t.Fatalf("after %d wrong codes the next is sent at %v", w.Count, next)
		}
		w.Add(now)
	}
	if wait := w.NextCode(now).Sub(now); wait != time.Minute {
		t.Errorf("the first wait is %v", wait)
	}
	for now.Sub(start) < 24*time.Hour {
		now = w.NextCode(now)
		for range OTPAttempts {
			if now.Sub(start) < 24*time.Hour {
				w.Add(now)
			}
		}
		if wait := w.NextCode(now).Sub(now); wait < time.Minute && !w.Expired(now) || wait > time.Hour {
			t.Errorf("after %d wrong codes the wait is %v", w.Count, wait)
		}
	}
	if w.Count < 80 || w.Count > 110 {
		t.Errorf("%d wrong codes came back within a day", w.Count)
	}
	if next := w.NextCode(now); !w.Expired(now) || !next.Equal(now) {
		t.Errorf("a new day begins at %v", next)
	}
	if w.Add(now); w.Count != 1 {
		t.Errorf("%d wrong codes on the new day", w.Count)
	}
}
