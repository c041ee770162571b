package config

import (
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"latchkey/internal/strictyaml"
)

// Whatever the bytes, Parse answers with a config inside the documented ranges
// or with problems that have a place, and twice the same.
func FuzzParse(f *testing.F) {
	if example, err := os.ReadFile("../../../deploy/latchkey.example.yaml"); err == nil {
		f.Add(example)
	}
	for _, seed := range []string{
		"", "---\n---\n", "{", "a: &b *b", "? [a]\n: b", "listen: :1\nlisten: :2\n",
		"limits: {body: 1MiB, users: 0}", "tls: {certificate: a}", "store: sqlite:x",
		"mail: {host: h, port: 25, tls: plain, from: a@b.c, allowFrom: [b.c, x@y.z]}", "mail: {allowFrom: [[], *a, {}, ]}",
		"sms: {url: 'https://h', headers: {A: b, ? [c] : d, a: }, body: '{{.To}}'}", "oidc: {maxAge: 1h}\ntemplates: t", "oauth2: {issuer: 'https://h', providers: {x: {tokenUrl: 'https://t'}}}",
		"store: \"postgres://u:p@h/d\"\nlog: {level: warn}", "%YAML 1.1\n---\n!!map {}", "\xff\xfel\x00",
	} {
		f.Add([]byte(seed))
	}
	place := regexp.MustCompile(`^f\.yaml:[1-9]\d*:[1-9]\d*: .`)
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("f.yaml", data)
		again, err2 := Parse("f.yaml", data)
		if diff := cmp.Diff(c, again); diff != "" || (err == nil) != (err2 == nil) || err != nil && err.Error() != err2.Error() {
			t.Fatalf("two readings differ: %s\n%v\n%v", diff, err, err2)
		}
		if err != nil {
			var e *strictyaml.Error
			if !errors.As(err, &e) || len(e.Problems) == 0 {
				t.Fatalf("not a list of problems: %v", err)
			}
			for line := range strings.Lines(err.Error()) {
				if !place.MatchString(line) {
					t.Fatalf("a line without its place: %q", line)
				}
			}
			return
		}
		for _, d := range []int64{
			int64(c.Timeouts.Header), int64(c.Timeouts.Body), int64(c.Timeouts.Request),
			int64(c.Timeouts.Idle), int64(c.Timeouts.Drain), c.Limits.Body, c.Limits.Header,
			int64(c.Mail.Timeout), int64(c.SMS.Timeout), int64(c.OIDC.Timeout), int64(c.OIDC.MaxAge),
		} {
			if d <= 0 {
				t.Fatalf("not positive: %+v", c)
			}
		}
		for _, n := range []int{c.Limits.Users, c.Limits.Tags, c.Limits.LongLivedAPIKeys, c.Limits.ExpiringAPIKeys, c.Limits.Policies, c.Limits.VelocityControls, c.Limits.Authenticators, c.Limits.OAuthProviders, c.Mail.Port} {
			if n < 0 {
				t.Fatalf("negative: %+v", c)
			}
		}
		if c.Listen == "" || c.Store == "" || (c.TLS.Certificate == "") != (c.TLS.Key == "") {
			t.Fatalf("incomplete: %+v", c)
		}
		if (c.Mail.Host == "") != (c.Mail.From == "") || (c.Mail.Username == "") != (c.Mail.Password == "") || c.Dev != (Dev{}) {
			t.Fatalf("mail is incomplete, or a file set what it must not: %+v", c)
		}
	})
}

// A password in the store URL stays out of every message, however the URL
// around it is broken; so do the secrets of mail and SMS.
func FuzzStorePassword(f *testing.F) {
	f.Add("postgres://u:", "@h/d")
	f.Add("postgres://u:%zz", "@h:port/d")
	f.Add("sqlite:", "?key=")
	f.Add("mysql://[", "]@")
	f.Add("", "")
	const password = "kdhUsecretWq"
	f.Fuzz(func(t *testing.T, before, after string) {
		value := strconv.QuoteToASCII(strings.ToValidUTF8(before+password+after, ""))
		for _, text := range []string{
			"store: " + value, "store: [" + value + "]", "store: {a: " + value + "}",
			"mail: {password: " + value + "}", "mail: {password: [" + value + "]}", "mail: {password: {a: " + value + "}}",
			"sms: {url: " + value + "}", "sms: {headers: {a: " + value + "}}", "sms: {headers: {a: [" + value + "]}}",
			"sms: {headers: " + value + "}", "sms: {headers: [" + value + "]}",
		} {
			if _, err := Parse("f.yaml", []byte(text)); err != nil && strings.Contains(err.Error(), password) {
				t.Fatalf("%s: %v", text, err)
			}
		}
	})
}
