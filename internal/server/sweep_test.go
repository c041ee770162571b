package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	. "latchkey/internal/test/servertest"
)

// Codes disappear an hour after they expired, with the keys to which they would
// have been sealed; others stay.
func TestSweepCodes(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		before, now := ciphertextNames(t, s), time.Now()
		s.Root.Submit(t, "init_otp", map[string]any{"otpType": "OTP_TYPE_EMAIL", "contact": "sealed@example.com", "appName": "Test"})
		body := s.Root.BodyOf(t, "ACTIVITY_TYPE_INIT_OTP", map[string]any{"otpType": "OTP_TYPE_EMAIL", "contact": "plain@example.com"})
		s.Root.MustPost(t, "init_otp", body)
		s.Root.Submit(t, "init_otp", map[string]any{
			"otpType": "OTP_TYPE_EMAIL", "contact": "long@example.com", "appName": "Test", "expirationSeconds": "600",
		})
		s.Sent(t)
		for _, tt := range []struct {
			name    string
			after   time.Duration
			dropped int
			sealed  int // that are left
		}{
			{"valid", 0, 0, 2},
			{"expired", 64 * time.Minute, 0, 2},
			{"an hour later", 69 * time.Minute, 2, 1}, // some minutes are for a busy machine
			{"again", 69 * time.Minute, 0, 1},
			{"the long one", 75 * time.Minute, 1, 0},
		} {
			dropped, err := server.Sweep(t.Context(), s.Store, now.Add(tt.after))
			if err != nil {
				t.Fatal(err)
			}
			if got := len(ciphertextNames(t, s)) - len(before); dropped != tt.dropped || got != tt.sealed {
				t.Errorf("%s: %d were dropped, %d keys are left; want %d and %d", tt.name, dropped, got, tt.dropped, tt.sealed)
			}
			// Only organizations with something left are visited again.
			expiring, err := s.Store.Expiring(t.Context(), "", 10)
			if err != nil || slices.Contains(expiring, s.Root.OrganizationID) != (tt.sealed > 0) {
				t.Errorf("%s: expiring: %v %v", tt.name, expiring, err)
			}
		}
	})
}

// The count of wrong codes for a contact is kept for a day after the first one,
// longer than the code itself. Then it is deleted, and the contact may be sent
// codes as before; another contact's stays.
func TestSweepWrongCodes(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		now := time.Now()
		guess := func(contact string) {
			t.Helper()
			body := s.Root.BodyOf(t, "ACTIVITY_TYPE_INIT_OTP", map[string]any{"otpType": "OTP_TYPE_EMAIL", "contact": contact})
			id := s.Root.MustPost(t, "init_otp", body).Get("activity", "result", "initOtpResult", "otpId").Text()
			wrong := "000000"
			if s.MailTo(t, contact).Code == wrong {
				wrong = "000001"
			}
			body = s.Root.BodyOf(t, "ACTIVITY_TYPE_VERIFY_OTP", map[string]any{"otpId": id, "otpCode": wrong})
			CheckError(t, s.Root.Post(t, "verify_otp", body), http.StatusBadRequest)
		}
		counted := func(contact string) (is bool) {
			t.Helper()
			err := s.Store.View(t.Context(), s.Root.OrganizationID, func(tx *store.Tx) error {
				w, err := tx.WrongCodes().Lookup(domain.OTPContact(domain.OTPEmail, contact))
				is = w != nil
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return is
		}
		guess("early@example.com")
		guess("late@example.com")
		err := s.Store.Update(t.Context(), s.Root.OrganizationID, func(tx *store.Tx) error { // some hours later
			return tx.WrongCodes().Edit(domain.OTPContact(domain.OTPEmail, "late@example.com"), func(w *domain.WrongCodes) error {
				w.Since, w.Last = w.Since.Add(6*time.Hour), w.Last.Add(6*time.Hour)
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			name        string
			after       time.Duration
			dropped     int
			early, late bool
		}{
			{"at once", 0, 0, true, true},
			{"both codes", 23 * time.Hour, 2, true, true},
			{"the early count", 25 * time.Hour, 1, false, true},
			{"again", 25 * time.Hour, 0, false, true},
			{"the late count", 31 * time.Hour, 1, false, false},
		} {
			dropped, err := server.Sweep(t.Context(), s.Store, now.Add(tt.after))
			if err != nil || dropped != tt.dropped {
				t.Errorf("%s: %d were dropped, %v; want %d", tt.name, dropped, err, tt.dropped)
			}
			if early, late := counted("early@example.com"), counted("late@example.com"); early != tt.early || late != tt.late {
				t.Errorf("%s: counted %v and %v, want %v and %v", tt.name, early, late, tt.early, tt.late)
			}
			expiring, err := s.Store.Expiring(t.Context(), "", 10)
			if err != nil || slices.Contains(expiring, s.Root.OrganizationID) != (tt.early || tt.late) {
				t.Errorf("%s: expiring: %v %v", tt.name, expiring, err)
			}
		}
	})
}

// The use of a token is kept until an hour after the token has expired.
func TestSweepTokenUses(t *testing.T) {
	EachStore(t, func(t *testing.T, url string) {
		s := Start(t, url, config.Default())
		now := time.Now().Truncate(time.Millisecond)
		use := func(id string, lasts time.Duration) (first bool) {
			err := s.Store.Update(t.Context(), s.Root.OrganizationID, func(tx *store.Tx) (err error) {
				first, err = tx.UseToken(&domain.TokenUse{TokenID: id, ExpiresAt: now.Add(lasts), Kind: domain.UseLogin})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return first
		}
		sweep := func(after time.Duration, want int) {
			t.Helper()
			if dropped, err := server.Sweep(t.Context(), s.Store, now.Add(after)); err != nil || dropped != want {
				t.Errorf("after %v %d were dropped, %v; want %d", after, dropped, err, want)
			}
		}
		if !use("short", time.Minute) || !use("long", time.Hour) || use("short", time.Minute) || use("long", time.Hour) {
			t.Fatal("a token is used once")
		}
		sweep(time.Hour, 0)
		if use("short", time.Minute) {
			t.Error("the use was forgotten too early")
		}
		sweep(62*time.Minute, 1)
		if use("long", time.Hour) || !use("short", time.Minute) {
			t.Error("the wrong use was forgotten")
		}
		sweep(3*time.Hour, 2)
	})
}

// ciphertextNames are the names of what the vault keeps for the root user's
// organization, except the key that is there from the first use on.
func ciphertextNames(t *testing.T, s *Server) (names []string) {
	t.Helper()
	err := s.Store.View(t.Context(), s.Root.OrganizationID, func(tx *store.Tx) (err error) {
		names, err = tx.Ciphertexts().Names()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(names, func(name string) bool { return strings.Contains(name, "data-key") })
}

// What happened to mails is forgotten after a week.
func TestSweepMailEvents(t *testing.T) {
	EachStore(t, func(t *testing.T, url string) {
		s := Start(t, url, config.Default())
		now := time.Now()
		s.Root.Submit(t, "init_otp", map[string]any{"otpType": "OTP_TYPE_EMAIL", "contact": "ada@example.com", "appName": "Test"})
		s.Sent(t)
		left := func() int {
			return len(s.Root.Query(t, "list_email_events", map[string]any{"email": "ada@example.com"}).Get("emailEvents").List())
		}
		for _, tt := range []struct{ days, want int }{{domain.MailEventDays - 2, 2}, {domain.MailEventDays + 1, 0}} {
			if _, err := server.Sweep(t.Context(), s.Store, now.AddDate(0, 0, tt.days)); err != nil {
				t.Fatal(err)
			}
			if got := left(); got != tt.want {
				t.Errorf("after %d days %d events are left, want %d", tt.days, got, tt.want)
			}
		}
	})
}
