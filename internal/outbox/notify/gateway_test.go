package notify

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"latchkey/internal/test/mailtest"
	"latchkey/internal/test/testkit"
)

func texter(t *testing.T, s *mailtest.Server, change func(*SMSConfig)) *Gateway {
	t.Helper()
	c := SMSConfig{
		URL: Secret(s.SMS), Headers: map[string]Secret{"authorization": Secret("Bearer " + s.SMSToken)}, Timeout: 2 * time.Minute,
	}
	if change != nil {
		change(&c)
	}
	g, err := NewGateway(c, builtin(t))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func number(to string) *Message {
	m := message(OTPSMS)
	m.To = to
	return m
}

func TestGateway(t *testing.T) {
	t.Parallel()
	s := mailtest.Start(t)
	nasty := number("+15550100")
	nasty.SMSTemplate = "\"{{.OtpCode}}\" \\ & = % + é\n<b>"
	text := strings.ReplaceAll(nasty.SMSTemplate, "{{.OtpCode}}", testCode)
	for i, tt := range []struct {
		name   string
		change func(*SMSConfig)
		check  func(t *testing.T, body string)
	}{
		{"built-in body", nil, func(t *testing.T, body string) {
			var got map[string]string
			if err := json.Unmarshal([]byte(body), &got); err != nil || len(got) != 3 || got["to"] != "+15550100" || got["text"] != text || got["id"] != nasty.ID {
				t.Errorf("got %s: %v", body, err)
			}
		}},
		{"https", func(c *SMSConfig) { c.URL, c.CAFile = Secret(s.SMSTLS), s.CAFile }, func(*testing.T, string) {}},
		{"form", func(c *SMSConfig) {
			c.ContentType, c.Body = "application/x-www-form-urlencoded", "From=%2B1555&To={{urlquery .To}}&Body={{urlquery .Text}}"
		}, func(t *testing.T, body string) {
			form, err := url.ParseQuery(body)
			if err != nil || form.Get("To") != "+15550100" || form.Get("Body") != text {
				t.Errorf("got %s: %v", body, err)
			}
		}},
		{"nested", func(c *SMSConfig) {
			c.Body = `{"messages":[{"destinations":[{"to":{{json .To}}}],"text":{{json .Text}}}]}`
		}, func(*testing.T, string) {}},
		{"text", func(c *SMSConfig) { c.ContentType, c.Body = "text/plain", "{{.To}} {{.Text}}" }, func(t *testing.T, body string) {
			if body != "+15550100 "+text {
				t.Errorf("got %q", body)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := texter(t, s, tt.change).Send(t.Context(), nasty); err != nil {
				t.Fatal(err)
			}
			got := s.WaitTexts(i + 1)[i]
			if got.Header.Get("Idempotency-Key") != nasty.ID {
				t.Errorf("header %v", got.Header)
			}
			tt.check(t, got.Body)
		})
	}
}

func TestGatewayFailures(t *testing.T) {
	t.Parallel()
	s := mailtest.Start(t)
	for _, tt := range []struct {
		name      string
		change    func(*SMSConfig)
		message   *Message
		permanent bool
		uncertain bool
		want      string
	}{
		{"bad request", nil, number("+15550000400"), true, false, "answered 400"},
		{"forbidden", nil, number("+15550000403"), true, false, "answered 403"},
		{"gone", nil, number("+15550000410"), true, false, "answered 410"},
		{"timed out there", nil, number("+15550000408"), false, false, "answered 408"},
		{"too many", nil, number("+15550000429"), false, false, "answered 429"},
		{"broken", nil, number("+15550000500"), false, false, "answered 500"},
		{"unavailable", nil, number("+15550000503"), false, false, "answered 503"},
		{"redirect", nil, number("+15550000302"), false, false, "answered 302"},
		{"redirect that keeps the method", nil, number("+15550000307"), false, false, "answered 307"},
		{"hung up", nil, number("+15550000001"), false, true, "EOF"},
		{"wrong token", func(c *SMSConfig) { c.Headers = map[string]Secret{"Authorization": testPassword} }, number("+15550100"), false, false, "answered 401"},
		{"authority unknown", func(c *SMSConfig) { c.URL = Secret(s.SMSTLS) }, number("+15550100"), false, false, "certificate"},
		{"no listener", func(c *SMSConfig) {
			c.URL = Secret("http://" + testkit.Reserve(t) + "/?token=" + testPassword[:7])
		}, number("+15550100"), false, false, "refused"},
		{"bad number", nil, number("+1555\r\n0100"), true, false, "phone number"},
		{"a mail", nil, message(OTPEmail), true, false, "does not go by SMS"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := texter(t, s, tt.change).Send(t.Context(), tt.message)
			wantPermanent(t, err, tt.permanent)
			if !strings.Contains(err.Error(), tt.want) || errors.Is(err, ErrUncertain) != tt.uncertain {
				t.Errorf("got %v\nwant %s, uncertain %t", err, tt.want, tt.uncertain)
			}
			if strings.Contains(err.Error(), "token") || strings.Contains(err.Error(), tt.message.To) {
				t.Errorf("it shows too much: %v", err)
			}
		})
	}
	if taken := s.Texts(); len(taken) != 0 {
		t.Errorf("taken: %+v", taken)
	}
}

// A gateway that takes the message and does not answer is given up after its
// time-out; whether it has the message is unknown.
func TestGatewayTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = time.Minute
		g, err := NewGateway(SMSConfig{URL: "http://127.0.0.1/sms", Timeout: timeout}, builtin(t))
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs := net.Pipe()
		g.client.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) { return ours, nil }
		go func() {
			defer theirs.Close()
			_, _ = io.Copy(io.Discard, theirs) // until the client hangs up
		}()
		began := time.Now()
		err = g.Send(t.Context(), number("+15550100"))
		wantPermanent(t, err, false)
		if took := time.Since(began); took != timeout || !errors.Is(err, ErrUncertain) || !strings.Contains(err.Error(), "exceeded") {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

func TestGatewayRetry(t *testing.T) {
	t.Parallel()
	s := mailtest.StartHanging(t)
	g := texter(t, s, nil)
	m := number("+15550000003")
	wantPermanent(t, g.Send(t.Context(), m), false)
	if err := g.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	err := g.Send(ctx, number("+15550000002"))
	wantPermanent(t, err, false)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestSMSConfig(t *testing.T) {
	var zero SMSConfig
	if zero.Enabled() {
		t.Error("the zero value is enabled")
	}
	for _, good := range []SMSConfig{
		{URL: "https://sms.example.com/v1"},
		{URL: "http://127.0.0.1:1/"},
		{URL: "http://[::1]:1/"},
		{URL: "http://localhost/"},
	} {
		if _, err := NewGateway(good, builtin(t)); err != nil || !good.Enabled() {
			t.Errorf("%s: %v", string(good.URL), err)
		}
	}
	for _, tt := range []struct {
		name   string
		change func(*SMSConfig)
		want   string
	}{
		{"no URL", func(c *SMSConfig) { c.URL = "" }, "https://"},
		{"not a URL", func(c *SMSConfig) { c.URL = "https://" + testPassword + "\x7f" }, "https://"},
		{"other scheme", func(c *SMSConfig) { c.URL = "ftp://sms.example.com" }, "https://"},
		{"in clear elsewhere", func(c *SMSConfig) { c.URL = "http://sms.example.com/?" + testBundle }, "must be https"},
		{"in clear to a name that looks local", func(c *SMSConfig) { c.URL = "http://localhost.example.com" }, "must be https"},
		{"header name", func(c *SMSConfig) { c.Headers = map[string]Secret{"A b": "x"} }, "name of a header"},
		{"header value", func(c *SMSConfig) { c.Headers = map[string]Secret{"Authorization": testPassword + "\r\nX: y"} }, "Authorization"},
		{"our header", func(c *SMSConfig) { c.Headers = map[string]Secret{"idempotency-key": "x"} }, "not yours"},
		{"content type", func(c *SMSConfig) { c.ContentType = "a\nb" }, "content type"},
		{"timeout", func(c *SMSConfig) { c.Timeout = -1 }, "timeout"},
		{"file", func(c *SMSConfig) { c.CAFile = "testdata/none.pem" }, "none.pem"},
		{"body does not parse", func(c *SMSConfig) { c.Body = "{{.To" }, "unclosed action"},
		{"body with an unknown variable", func(c *SMSConfig) { c.Body = `{"to":{{json .To}},"text":{{json .Code}}}` }, "the variables are .To, .Text and .ID"},
		{"body without quoting", func(c *SMSConfig) { c.Body = `{"to":"{{.To}}","text":"{{.Text}}"}` }, "{{json .Text}}"},
		{"body quoted twice", func(c *SMSConfig) { c.Body = `{"to":{{json .To}},"text":"{{json .Text}}"}` }, "without quotes around"},
		{"body without the text", func(c *SMSConfig) { c.Body = `{"to":{{json .To}}}` }, "{{json .Text}}"},
		{"body without the number", func(c *SMSConfig) { c.Body = `{"text":{{json .Text}}}` }, "{{json .To}}"},
		{"form without escapes", func(c *SMSConfig) { c.ContentType, c.Body = formType+"; charset=utf-8", "To={{.To}}&Body={{.Text}}" }, "urlquery"},
		{"other body without the text", func(c *SMSConfig) { c.ContentType, c.Body = "text/plain", "{{.To}}" }, ".Text"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := SMSConfig{URL: "https://sms.example.com"}
			tt.change(&c)
			_, err := NewGateway(c, builtin(t))
			if err == nil || !strings.HasPrefix(err.Error(), "sms: ") || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want %s", err, tt.want)
			}
			noSecret(t, err.Error())
		})
	}
}
