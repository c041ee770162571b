package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"latchkey/internal/strictyaml"
)

func parse(t *testing.T, text string) *Config {
	t.Helper()
	c, err := Parse("latchkey.yaml", []byte(text))
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return c
}

func TestNothingSetIsDefault(t *testing.T) {
	want := Default()
	for _, text := range []string{
		"", "\n", "# only a comment\n", "---\n", "{}", "null", "~",
		"listen:\nstore: ~\ntls:\nlog: {}\ntimeouts:\n  # header: 1s\nlimits: {users: }\nmetrics: {listen: ''}\n",
		"mail: {host: '', port: 0, allowFrom: [], password: ''}\nsms: {url: '', headers: {}, body: }\ntemplates: ''\noidc:\n",
	} {
		if diff := cmp.Diff(&want, parse(t, text)); diff != "" {
			t.Errorf("%q is not the default (-want +got):\n%s", text, diff)
		}
	}
}

// TestListenersSideBySide: a port 0 is never that of another port 0, and two
// addresses of this machine may have the same port.
func TestListenersSideBySide(t *testing.T) {
	for _, two := range [][2]string{
		{"127.0.0.1:0", "127.0.0.1:0"},
		{":0", ":0"},
		{"localhost:00", "0.0.0.0:0"},
		{"127.0.0.1:80", "127.0.0.2:80"},
		{"127.0.0.1:80", "[::1]:80"},
		{"127.0.0.1:80", ":81"},
		{"a.example:80", "b.example:80"},
		{"a.example:80", "192.0.2.1:80"},
	} {
		c := parse(t, fmt.Sprintf("listen: '%s'\nmetrics: {listen: '%s'}", two[0], two[1]))
		if c.Listen != two[0] || c.Metrics.Listen != two[1] {
			t.Errorf("%q became %q and %q", two, c.Listen, c.Metrics.Listen)
		}
	}
}

// The example is what operators copy: it must show every setting, at its default.
func TestExample(t *testing.T) {
	data, err := os.ReadFile("../../../deploy/latchkey.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	if diff := cmp.Diff(&want, parse(t, string(data))); diff != "" {
		t.Errorf("the example is not the default (-want +got):\n%s", diff)
	}
	for section, names := range keysOf(settings(&parser{}, &Config{})) {
		for _, name := range names {
			if !strings.Contains("\n"+regexp.MustCompile(`\n +`).ReplaceAllString(string(data), "\n"), "\n"+name+":") {
				t.Errorf("the example does not show %s", strictyaml.Join(section, name))
			}
		}
	}
}

func TestEverySetting(t *testing.T) {
	got := parse(t, `
listen: "[::1]:0"
store:
  url: postgres://lk:pa%2Fss@db.example:5432/latchkey?sslmode=verify-full
  durability: replica
masterKey: file:keys/master
previousMasterKey: fd:3
tls: {certificate: /etc/tls/cert.pem, key: ../key.pem}
log: {format: text, level: debug, state: state/log.json}
timeouts: {header: 1s, body: 2s, request: 1m30s, idle: 500ms, drain: 24h, lameDuck: 0}
limits:
  body: 512KiB
  header: 4096
  users: 0
  tags: 1
  subOrganizationTags: 3
  longLivedApiKeys: 2
  expiringApiKeys: 2147483647
  wallets: 3
  privateKeys: 4
  secrets: 12
  policies: 5
  velocityControls: 13
  authenticators: 6
  oauthProviders: 7
  webhookEndpoints: 10
  rate: {address: 8, user: 9}
trustedProxies: [10.0.0.0/8, 192.0.2.1, '2001:db8::/32', '::1']
metrics: {listen: ':9090'}
authProxy: {listen: ':8082', limits: {signUps: 1, codes: 2, logins: 3, lookUps: 0}}
frames: {listen: ':8083'}
console: {enabled: false, listen: ':9443', rpId: example.com, origin: 'https://keys.example.com', idle: 5m}
mail:
  host: smtp.example.com
  port: 2525
  tls: tls
  ca: ca.pem
  username: latchkey
  password: file:keys/mail
  from: login@example.com
  fromName: Example Ltd.
  allowFrom: [hello@example.com, example.org]
  hello: node1.example.com
  timeout: 10s
sms:
  url: https://sms.example.com/send?token=hunter2
  headers: {Authorization: "Bearer hunter2", X-Key: 'env:SMS_KEY', x-other: file:/run/other}
  contentType: application/x-www-form-urlencoded
  body: |
    To={{urlquery .To}}&Body={{urlquery .Text}}
  ca: /etc/ca.pem
  timeout: 20s
templates: texts
oidc: {timeout: 3s, maxAge: 10m}
oauth2:
  issuer: https://keys.example.com:8443
  allow: [10.2.0.0/16]
  ca: providers.pem
  timeout: 6s
  providers:
    x: {tokenUrl: "http://10.2.0.1/token", userInfoUrl: "https://x.example/me?fields=id", subjectField: user.data.id}
    discord: {subjectField: user_id}
webhooks: {allow: [10.1.0.0/16], ca: hooks.pem, timeout: 4s, signingKey: 2}
traces: {endpoint: 'https://collector.example.com:4318', headers: {Authorization: env:COLLECTOR}, ca: collector.pem, sample: 0.05}
`)
	want := &Config{
		Listen: "[::1]:0",
		Store:  "postgres://lk:pa%2Fss@db.example:5432/latchkey?sslmode=verify-full", Durability: "replica",
		MasterKey: "file:" + filepath.Join("keys", "master"), PreviousMasterKey: "fd:3",
		TLS: TLS{Certificate: "/etc/tls/cert.pem", Key: filepath.Join("..", "key.pem")},
		Log: Log{Format: "text", Level: "debug", State: "state/log.json"},
		Timeouts: Timeouts{
			Header: time.Second, Body: 2 * time.Second, Request: 90 * time.Second,
			Idle: 500 * time.Millisecond, Drain: 24 * time.Hour, LameDuck: 0,
		},
		Limits: Limits{
			Body: 512 << 10, Header: 4096,
			Users: 0, Tags: 1, ChildTags: 3, LongLivedAPIKeys: 2, ExpiringAPIKeys: 2147483647,
			Wallets: 3, PrivateKeys: 4, Secrets: 12,
			Policies: 5, VelocityControls: 13, Authenticators: 6, OAuthProviders: 7, WebhookEndpoints: 10,
			Rate: Rate{Address: 8, User: 9},
		},
		TrustedProxies: []netip.Prefix{
			netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.1/32"),
			netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("::1/128"),
		},
		Metrics:   Metrics{Listen: ":9090"},
		AuthProxy: AuthProxy{Listen: ":8082", Limits: AuthProxyLimits{SignUps: 1, Codes: 2, Logins: 3}},
		Frames:    Frames{Listen: ":8083"},
		Console:   Console{Listen: ":9443", RelyingParty: "example.com", Origin: "https://keys.example.com", Idle: 5 * time.Minute},
		Mail: Mail{
			Host: "smtp.example.com", Port: 2525, TLS: "tls", CA: "ca.pem",
			Username: "latchkey", Password: Secret("file:" + filepath.Join("keys", "mail")),
			From: "login@example.com", FromName: "Example Ltd.", AllowFrom: []string{"hello@example.com", "example.org"},
			Hello: "node1.example.com", Timeout: 10 * time.Second,
		},
		SMS: SMS{
			URL:         "https://sms.example.com/send?token=hunter2",
			Headers:     map[string]Secret{"Authorization": "Bearer hunter2", "X-Key": "env:SMS_KEY", "x-other": "file:/run/other"},
			ContentType: "application/x-www-form-urlencoded", Body: "To={{urlquery .To}}&Body={{urlquery .Text}}\n",
			CA: "/etc/ca.pem", Timeout: 20 * time.Second,
		},
		Templates: "texts",
		OIDC:      OIDC{Timeout: 3 * time.Second, MaxAge: 10 * time.Minute},
		OAuth2: OAuth2{
			Issuer: "https://keys.example.com:8443", Allow: []netip.Prefix{netip.MustParsePrefix("10.2.0.0/16")}, CA: "providers.pem", Timeout: 6 * time.Second,
			Providers: OAuth2Providers{
				X:       OAuth2Provider{"http://10.2.0.1/token", "https://x.example/me?fields=id", "user.data.id"},
				Discord: OAuth2Provider{"https://discord.com/api/oauth2/token", "https://discord.com/api/users/@me", "user_id"},
			},
		},
		Webhooks: Webhooks{
			Allow: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}, CA: "hooks.pem", Timeout: 4 * time.Second, SigningKey: 2,
		},
		Traces: Traces{
			Endpoint: "https://collector.example.com:4318/v1/traces", Headers: map[string]Secret{"Authorization": "env:COLLECTOR"}, CA: "collector.pem", Sample: 0.05,
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !got.TLS.Enabled() || Default().TLS.Enabled() {
		t.Error("TLS.Enabled is wrong")
	}
}

func TestPathsAreRelativeToTheFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "latchkey.yaml")
	if err := os.WriteFile(file, []byte("masterKey: file:keys\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := "sqlite:" + filepath.Join(dir, "latchkey.db"); c.Store != want {
		t.Errorf("default store = %q, want %q", c.Store, want)
	}
	if want := "file:" + filepath.Join(dir, "keys"); c.MasterKey != want {
		t.Errorf("masterKey = %q, want %q", c.MasterKey, want)
	}
	for text, want := range map[string]string{
		"store: sqlite:data/x.db":   "sqlite:" + filepath.Join(dir, "data", "x.db"),
		"store: sqlite:/var/x.db":   "sqlite:/var/x.db",
		"store: {url: 'sqlite:y'}":  "sqlite:" + filepath.Join(dir, "y"),
		"store: sqlite:///var/x.db": "sqlite:/var/x.db",
	} {
		c, err := Parse(file, []byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if c.Store != want {
			t.Errorf("%s is %q, want %q", text, c.Store, want)
		}
	}
}

func TestLoadFails(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(filepath.Join(dir, "absent.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent file: %v", err)
	}
	big := filepath.Join(dir, "big.yaml")
	if err := os.WriteFile(big, []byte(strings.Repeat("#", maxFile+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(big); err == nil || !strings.Contains(err.Error(), "larger than 1 MiB") {
		t.Errorf("big file: %v", err)
	}
}

// problemCase has every message in full: they are what an operator has at three
// in the morning.
type problemCase struct{ name, text, want string }

func checkProblems(t *testing.T, cases []problemCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := Parse("f.yaml", []byte(c.text))
			if err == nil {
				t.Fatalf("accepted: %+v", got)
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", c.text, diff)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Error("the message holds the password")
			}
		})
	}
}

func TestKeyProblems(t *testing.T) {
	checkProblems(t, []problemCase{
		{"misspelt", "lisen: x", `f.yaml:1:1: unknown key "lisen"; the nearest known key is "listen"`},
		{"misspelt below", "log:\n  lvel: info", `f.yaml:2:3: unknown key "log.lvel"; the nearest known key is "log.level"`},
		{"wrong case", "masterkey: x", `f.yaml:1:1: unknown key "masterkey"; the nearest known key is "masterKey"`},
		{"wrong section", "limits:\n  drain: 1s", `f.yaml:2:3: unknown key "limits.drain"; the nearest known key is "timeouts.drain"`},
		{"merge key", "<<: {listen: x}", `f.yaml:1:1: unknown key (not a plain name); known here: allowSwap, authProxy, console, frames, limits, listen, log, mail, masterKey, metrics, oauth2, oidc, operator, previousMasterKey, seal, sms, store, templates, timeouts, tls, traces, trustedProxies, webhooks`},
		{"twice", "listen: :1\nlisten: :2", `f.yaml:2:1: listen is given twice: first on line 1`},
	})
}

func TestTypeProblems(t *testing.T) {
	checkProblems(t, []problemCase{
		{"text for all", "hello", `f.yaml:1:1: a config file holds settings (key: value), not text`},
		{"list for all", "- listen: x", `f.yaml:1:1: a config file holds settings (key: value), not a list`},
		{"text for section", "log: debug", `f.yaml:1:6: log holds settings (key: value), not text`},
		{"number for text", "listen: 8080", `f.yaml:1:9: listen must be an address such as 127.0.0.1:8080, not a number`},
		{"mapping for text", "masterKey: {a: b}", `f.yaml:1:12: masterKey must be file:PATH, passphrase:PATH, seal:PATH, env:NAME, fd:NUMBER or credential:NAME, not a mapping`},
		{"key itself for its source", "masterKey: abcdef0123", `f.yaml:1:12: masterKey must be file:PATH, passphrase:PATH, seal:PATH, env:NAME, fd:NUMBER or credential:NAME`},
		{"descriptor that is no number", "previousMasterKey: fd:x", `f.yaml:1:20: previousMasterKey must be file:PATH, passphrase:PATH, seal:PATH, env:NAME, fd:NUMBER or credential:NAME`},
		{"bool for text", "log: {format: yes}", `f.yaml:1:15: log.format must be json or text, not "yes"`},
		{"true for text", "log: {format: true}", `f.yaml:1:15: log.format must be json or text, not true or false`},
		{"own tag", "listen: !x :80", `f.yaml:1:9: a tag (!name) is not allowed; put text that begins with ! in quotes`},
		{"date", "log: {level: 2020-01-01}", `f.yaml:1:14: log.level must be debug, info, warn or error, not a date`},
	})
}

func TestValueProblems(t *testing.T) {
	checkProblems(t, []problemCase{
		{"no port", "listen: localhost", `f.yaml:1:9: listen must be an address such as 127.0.0.1:8080, not "localhost"`},
		{"empty address", "listen: ''", `f.yaml:1:9: listen must be an address such as 127.0.0.1:8080, not ""`},
		{"high port", "metrics: {listen: ':65536'}", `f.yaml:1:19: metrics.listen must end in a port from 0 to 65535, not "65536"`},
		{"named port", "listen: localhost:http", `f.yaml:1:9: listen must end in a port from 0 to 65535, not "http"`},
		{"not yes or no", "console: {enabled: maybe}", `f.yaml:1:20: console.enabled must be true or false, not text`},
		{"origin with a path", "console: {origin: 'https://a.example/console/'}", `f.yaml:1:19: console.origin must be an origin such as https://keys.example.com, without a path`},
		{"origin without TLS", "console: {origin: 'http://a.example'}", `f.yaml:1:19: console.origin must begin with https://: browsers have no passkeys on other pages, except on http://localhost`},
		{"same address", "listen: :80\nmetrics:\n  listen: :80", `f.yaml:3:11: metrics.listen is the address of listen: leave it empty to serve /metrics there`},
		{"same address in other words", "listen: LOCALHOST:080\nmetrics: {listen: 127.0.0.1:80}", `f.yaml:2:19: metrics.listen is the address of listen: leave it empty to serve /metrics there`},
		{"same name", "listen: host.example:80\nmetrics: {listen: Host.Example.:80}", `f.yaml:2:19: metrics.listen is the address of listen: leave it empty to serve /metrics there`},
		{"same as the default", "metrics: {listen: localhost:8080}", `f.yaml:1:19: metrics.listen is the address of listen: leave it empty to serve /metrics there`},
		{"beside every address", "listen: 0.0.0.0:80\nmetrics: {listen: 127.0.0.1:80}", `f.yaml:2:19: metrics.listen has the port of listen, and one of them is on every address of this machine: give it another port, or leave it empty to serve /metrics on listen`},
		{"every address beside one", "listen: '[::1]:80'\nmetrics: {listen: ':80'}", `f.yaml:2:19: metrics.listen has the port of listen, and one of them is on every address of this machine: give it another port, or leave it empty to serve /metrics on listen`},
		{"format", "log: {format: logfmt}", `f.yaml:1:15: log.format must be json or text, not "logfmt"`},
		{"level", "log:\n  level: INFO", `f.yaml:2:10: log.level must be debug, info, warn or error, not "INFO"`},
		{"no unit", "timeouts: {idle: 5}", `f.yaml:1:18: timeouts.idle must be a duration such as 5s or 2m, not a number`},
		{"bad unit", "timeouts: {idle: 5d}", `f.yaml:1:18: timeouts.idle must be a duration such as 5s or 2m, not "5d"`},
		{"zero time", "timeouts: {idle: 0s}", `f.yaml:1:18: timeouts.idle must be more than 0 and at most 24h, not "0s"`},
		{"negative time", "timeouts: {drain: -1s}", `f.yaml:1:19: timeouts.drain must be more than 0 and at most 24h, not "-1s"`},
		{"long time", "timeouts: {drain: 25h}", `f.yaml:1:19: timeouts.drain must be more than 0 and at most 24h, not "25h"`},
		{"size unit", "limits: {body: 1MB}", `f.yaml:1:16: limits.body must be a size such as 512KiB, 1MiB or a number of bytes, not "1MB"`},
		{"size fraction", "limits: {body: 1.5}", `f.yaml:1:16: limits.body must be a size such as 512KiB, 1MiB or a number of bytes, not a number`},
		{"size octal", "limits: {body: 010000}", `f.yaml:1:16: limits.body must be a size such as 512KiB, 1MiB or a number of bytes, not "010000"`},
		{"size zero", "limits: {body: 0}", `f.yaml:1:16: limits.body must be from 1KiB to 64MiB, not "0"`},
		{"size negative", "limits: {header: -5}", `f.yaml:1:18: limits.header must be from 1KiB to 1MiB, not "-5"`},
		{"size huge", "limits: {header: 99999999999999999999KiB}", `f.yaml:1:18: limits.header must be from 1KiB to 1MiB, not "99999999999999999999KiB"`},
		{"size overflow", "limits: {header: 9007199254740993MiB}", `f.yaml:1:18: limits.header must be from 1KiB to 1MiB, not "9007199254740993MiB"`},
		{"count negative", "limits: {users: -1}", `f.yaml:1:17: limits.users must be from 0 to 2147483647, not "-1"`},
		{"count huge", "limits: {tags: 2147483648}", `f.yaml:1:16: limits.tags must be from 0 to 2147483647, not "2147483648"`},
		{"count text", `limits: {users: "5"}`, `f.yaml:1:17: limits.users must be a whole number (0 = unlimited), not text`},
		{"count hex", "limits: {users: 0x10}", `f.yaml:1:17: limits.users must be a whole number (0 = unlimited), not "0x10"`},
		{"rate", "limits: {rate: {adress: 1}}", `f.yaml:1:17: unknown key "limits.rate.adress"; the nearest known key is "limits.rate.address"`},
		{"rate alone", "limits: {rate: 5}", `f.yaml:1:16: limits.rate holds settings (key: value), not a number`},
		{"proxies", "trustedProxies: 10.0.0.1", `f.yaml:1:17: trustedProxies must be a list of IP addresses and networks, not text`},
		{"proxy name", "trustedProxies: [proxy]", `f.yaml:1:18: trustedProxies[0] must be an IP address, or a network such as 10.0.0.0/8, not "proxy"`},
		{"proxy bits", "trustedProxies: [10.0.0.1/8]", `f.yaml:1:18: trustedProxies[0] must be an IP address, or a network such as 10.0.0.0/8, not "10.0.0.1/8"`},
		{"count fraction", "limits: {users: 1.5}", `f.yaml:1:17: limits.users must be a whole number (0 = unlimited), not a number`},
		{"certificate alone", "tls:\n  certificate: a", `f.yaml:1:1: tls.certificate is set without tls.key: set both or neither`},
		{"key alone", "tls: {key: a}", `f.yaml:1:1: tls.key is set without tls.certificate: set both or neither`},
		{"zero byte", `tls: {key: "a\0b"}`, `f.yaml:1:12: tls.key must be the path of a file: it holds a zero byte`},
	})
}

// The value of the store is never repeated.
func TestStoreProblems(t *testing.T) {
	checkProblems(t, []problemCase{
		{"store scheme", "store: mysql://u:hunter2@h/d", `f.yaml:1:8: store must be sqlite:PATH, postgres://…, env:NAME or file:PATH`},
		{"store list", "store: [postgres://u:hunter2@h/d]", `f.yaml:1:8: store must be sqlite:PATH, postgres://…, env:NAME or file:PATH, not a list`},
		{"store broken", "store: postgres://u:hun/ter2@h/d", `f.yaml:1:8: store is not a valid postgres:// URL (characters of a password such as : / ? # @ % must be percent-encoded)`},
		{"store escape", "store: postgres://u:hunter2%zz@h/d", `f.yaml:1:8: store is not a valid postgres:// URL (characters of a password such as : / ? # @ % must be percent-encoded)`},
		{"store no file", "store: 'sqlite:'", `f.yaml:1:8: store must name a file after sqlite:`},
		{"store memory", "store: 'sqlite::memory:'", `f.yaml:1:8: store cannot be in memory: a server would forget everything; name a file after sqlite:`},
		{"store host", "store: sqlite://x/y.db", `f.yaml:1:8: store must be sqlite:PATH without //, which would make the path's first part a host`},
		{"store options", "store: sqlite:x.db?mode=ro", `f.yaml:1:8: store takes no options after the path of the file`},
		{"store section", "store:\n  url: mysql://u:hunter2@h/d\n  durability: both", "f.yaml:2:8: store.url must be sqlite:PATH, postgres://…, env:NAME or file:PATH\n" +
			`f.yaml:3:15: store.durability must be local or replica, not "both"`},
		{"store misspelt", "store: {urls: postgres://u:hunter2@h/d}", `f.yaml:1:9: unknown key "store.urls"; the nearest known key is "store.url"`},
		{"store replica", "store: {url: 'sqlite:x.db', durability: replica}", `f.yaml:1:1: store.durability is replica, which SQLite cannot do: set store.url to postgres://…, or durability to local`},
		{"store as another setting", "listen: postgres://u:hunter2@h/d", `f.yaml:1:9: listen must be an address such as 127.0.0.1:8080, not a URL`},
		{"store as a key", "log:\n  postgres://u:hunter2@h/d: x", `f.yaml:2:3: unknown key (not a plain name); known here: format, level, origin, quorum, requestIds, state, witnesses`},
	})
}

// The secrets of mail and SMS are never repeated.
func TestMessagingProblems(t *testing.T) {
	checkProblems(t, []problemCase{
		{"mail misspelt", "mail: {pasword: hunter2}", `f.yaml:1:8: unknown key "mail.pasword"; the nearest known key is "mail.password"`},
		{"mail as text", "mail: smtp://u:hunter2@h", `f.yaml:1:7: mail holds settings (key: value), not text`},
		{"dev in a file", "dev: {outbox: x}", `f.yaml:1:1: unknown key "dev"; the nearest known key is "log"`},
		{"mail host with port", "mail: {host: 'smtp.example.com:587'}", `f.yaml:1:14: mail.host must be a host name or an IP address, without a port, not "smtp.example.com:587"`},
		{"mail host with password", "mail: {host: 'u:hunter2@h'}", `f.yaml:1:14: mail.host must be a host name or an IP address, without a port, not a URL`},
		{"mail port", "mail: {port: 65536}", `f.yaml:1:14: mail.port must be a port from 1 to 65535 (0 = the usual one), not "65536"`},
		{"mail port hex", "mail: {port: 0x19}", `f.yaml:1:14: mail.port must be a port from 1 to 65535 (0 = the usual one), not "0x19"`},
		{"mail port text", "mail: {port: smtp}", `f.yaml:1:14: mail.port must be a port from 1 to 65535 (0 = the usual one), not text`},
		{"mail tls", "mail: {tls: ssl}", `f.yaml:1:13: mail.tls must be starttls, tls or plain, not "ssl"`},
		{"mail password a number", "mail: {password: 123456}", `f.yaml:1:18: mail.password must be text, file:PATH or env:NAME, not a number`},
		{"mail password that reads as a tag", "mail:\n  password: !hunter2", `f.yaml:2:13: a tag (!name) is not allowed; put text that begins with ! in quotes`},
		{"mail password nowhere", "mail: {password: 'file:'}", `f.yaml:1:18: mail.password must name something after file:`},
		{"mail sender with a name", "mail: {from: Ada <ada@example.com>}", `f.yaml:1:14: mail.from must be an e-mail address such as login@example.com, and nothing else`},
		{"mail name of two lines", `mail: {fromName: "a\nb"}`, `f.yaml:1:18: mail.fromName must be one line without control characters`},
		{"mail senders no list", "mail: {allowFrom: example.com}", `f.yaml:1:19: mail.allowFrom must be a list of e-mail addresses and domains, not text`},
		{"mail senders wrong", "mail: {allowFrom: [example.com, '@example.org', 5]}", "f.yaml:1:33: mail.allowFrom[1] must be an e-mail address such as login@example.com, or a domain\n" +
			"f.yaml:1:49: mail.allowFrom[2] must be an e-mail address such as login@example.com, or a domain, not a number"},
		{"mail without host", "mail:\n  from: a@example.com", `f.yaml:1:1: mail.host is missing: without it no mail is sent, whatever else is set`},
		{"mail without sender", "mail:\n  host: h", `f.yaml:1:1: mail.from is missing: mail needs an address to come from`},
		{"mail without password", "mail: {host: h, from: a@example.com, username: u}", `f.yaml:1:1: mail.username is set without mail.password: set both or neither`},
		{"mail without user name", "mail: {host: h, from: a@example.com, password: hunter2}", `f.yaml:1:1: mail.password is set without mail.username: set both or neither`},
		{"sms url", "sms: {url: 'ftp://hunter2'}", `f.yaml:1:12: sms.url must be https://…, file:PATH or env:NAME`},
		{"sms without url", "sms: {headers: {Authorization: hunter2}}", `f.yaml:1:1: sms.url is missing: without it no SMS is sent, whatever else is set`},
		{"sms headers no mapping", "sms: {headers: 'Authorization: hunter2'}", `f.yaml:1:16: sms.headers must hold headers (name: value), not text`},
		{"sms header name", "sms: {headers: {'a b: hunter2': x}}", `f.yaml:1:17: sms.headers: the name of a header must be letters, digits and hyphens`},
		{"sms header twice", "sms: {headers: {X-Key: hunter2, x-key: hunter2}}", `f.yaml:1:33: sms.headers.x-key is given twice: first on line 1`},
		{"sms header a list", "sms: {headers: {X-Key: [hunter2]}}", `f.yaml:1:24: sms.headers.X-Key must be text, file:PATH or env:NAME, not a list`},
		{"templates no path", "templates: [a]", `f.yaml:1:12: templates must be the path of a folder, not a list`},
		{"webhook key", "webhooks: {signingKey: 0}", `f.yaml:1:24: webhooks.signingKey must be a whole number from 1 to 1000, not "0"`},
		{"webhook network", "webhooks: {allow: 10.0.0.0/8}", `f.yaml:1:19: webhooks.allow must be a list of IP addresses and networks, not text`},
		{"oidc time", "oidc: {maxAge: 1}", `f.yaml:1:16: oidc.maxAge must be a duration such as 5s or 2m, not a number`},
		{"oauth2 issuer by http", "oauth2: {issuer: 'http://keys.example.com'}", `f.yaml:1:18: oauth2.issuer must be the address of this server such as https://keys.example.com, without a path`},
		{"oauth2 issuer with a slash", "oauth2: {issuer: 'https://keys.example.com/'}", `f.yaml:1:18: oauth2.issuer must be the address of this server such as https://keys.example.com, without a path`},
		{"oauth2 provider", "oauth2: {providers: {y: {}}}", `f.yaml:1:22: unknown key "oauth2.providers.y"; the nearest known key is "oauth2.providers.x"`},
		{"oauth2 address", "oauth2: {providers: {x: {tokenUrl: 'api.x.com'}}}", `f.yaml:1:36: oauth2.providers.x.tokenUrl must be an address such as https://provider.example.com/oauth2/token`},
		{"oauth2 field", "oauth2: {providers: {x: {subjectField: 'a..b'}}}", `f.yaml:1:40: oauth2.providers.x.subjectField must be the place of the user's id in the user information, such as data.id`},
		{"traces to nowhere", "traces: {endpoint: 'collector:4318'}", `f.yaml:1:20: traces.endpoint must be the address of a collector such as https://collector.example.com:4318, without a password`},
		{"traces with a password", "traces: {endpoint: 'https://u:hunter2@h'}", `f.yaml:1:20: traces.endpoint must be the address of a collector such as https://collector.example.com:4318, without a password`},
		{"traces in percent", "traces: {sample: 5}", `f.yaml:1:18: traces.sample must be a number from 0 to 1, such as 0.05, not "5"`},
		{"traces as text", "traces: {sample: some}", `f.yaml:1:18: traces.sample must be a number from 0 to 1, such as 0.05, not text`},
		{"traces without endpoint", "traces: {headers: {A: env:B}}", `f.yaml:1:1: traces.endpoint is missing: without it there are no traces, whatever else is set`},
		{"trace headers in clear", "traces: {endpoint: 'http://h', headers: {A: env:B}}", `f.yaml:1:1: traces.headers are not sent in clear to another machine: traces.endpoint must begin with https://`},
		{"alias in a list", "mail: {allowFrom: [*a]}", `f.yaml:1:1: an alias (*name) is not allowed`},
	})
}

func TestDocumentProblems(t *testing.T) {
	checkProblems(t, []problemCase{
		{"anchor", "log: &a\n  level: info", `f.yaml:1:6: an anchor (&name) is not allowed`},
		{"alias", "listen: &a :1\nmetrics: {listen: *a}", "f.yaml:1:9: an anchor (&name) is not allowed\nf.yaml:2:19: an alias (*name) is not allowed"},
		{"not YAML", "log:\n\tlevel: info", `f.yaml:2:1: not valid YAML: found character that cannot start any token`},

		{
			"all at once", "lisen: :1\nlimits:\n  users: -1\n  usrs: 1\nstore: 5\ntls: {key: a}\n",
			`f.yaml:1:1: unknown key "lisen"; the nearest known key is "listen"` + "\n" +
				`f.yaml:3:10: limits.users must be from 0 to 2147483647, not "-1"` + "\n" +
				`f.yaml:4:3: unknown key "limits.usrs"; the nearest known key is "limits.users"` + "\n" +
				`f.yaml:5:8: store must be sqlite:PATH, postgres://…, env:NAME or file:PATH, not a number` + "\n" +
				`f.yaml:6:1: tls.key is set without tls.certificate: set both or neither`,
		},
	})
}

func TestSecret(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	write := func(text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("LATCHKEY_TEST_SECRET", "hunter2")
	for _, c := range []struct {
		name   string
		secret Secret
		file   string
		mode   os.FileMode
		want   string
		err    string
	}{
		{"itself", "hunter2", "", 0o600, "hunter2", ""},
		{"nothing", "", "", 0o600, "", ""},
		{"in a file", Secret("file:" + file), "hunter2\n", 0o600, "hunter2", ""},
		{"in a file with spaces", Secret("file:" + file), " a b \r\n", 0o400, " a b ", ""},
		{"in an open file", Secret("file:" + file), "hunter2\n", 0o640, "", "chmod 600"},
		{"in an empty file", Secret("file:" + file), "\n", 0o600, "", "is empty"},
		{"in no file", "file:/nonexistent", "", 0o600, "", "nonexistent"},
		{"in a variable", "env:LATCHKEY_TEST_SECRET", "", 0o600, "hunter2", ""},
		{"in no variable", "env:LATCHKEY_TEST_NOT_SET", "", 0o600, "", "LATCHKEY_TEST_NOT_SET is not set"},
	} {
		t.Run(c.name, func(t *testing.T) {
			write(c.file, c.mode)
			got, err := c.secret.Reveal()
			if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %q, %v", got, err)
			}
			for _, verb := range []string{"%s", "%v", "%+v", "%#v", "%q", "%x", "%d"} {
				if text := fmt.Sprintf(verb, c.secret); text != "[secret]" {
					t.Errorf("%s prints %s", verb, text)
				}
			}
		})
	}
	var log strings.Builder
	c := Default()
	c.Mail.Password, c.SMS.Headers = "hunter2", map[string]Secret{"A": "hunter2"}
	slog.New(slog.NewJSONHandler(&log, nil)).Info("config", "mail", c.Mail, "sms", c.SMS, "password", c.Mail.Password)
	if strings.Contains(log.String(), "hunter2") || strings.Contains(fmt.Sprintf("%+v", c), "hunter2") {
		t.Errorf("the secret is printed: %s", log.String())
	}
}

// TestDifferences names what differs by the names of the file.
func TestDifferences(t *testing.T) {
	one, other := Default(), Config{}
	got := Differences(&one, &other)
	known := keysOf(settings(&parser{}, &Config{}))[""]
	for _, name := range got {
		if !slices.Contains(known, name) {
			t.Errorf("%s is no setting", name)
		}
	}
	other = Default()
	if got := Differences(&one, &other); got != nil {
		t.Errorf("%v differ in equal configs", got)
	}
	other.TLS.Key, other.MasterKey, other.Limits.Users, other.Dev.Outbox = "k", "env:K", 1, "x"
	if got := Differences(&one, &other); !slices.Equal(got, []string{"masterKey", "tls", "limits", "dev"}) {
		t.Errorf("got %v", got)
	}
}
