package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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
	} {
		if diff := cmp.Diff(&want, parse(t, text)); diff != "" {
			t.Errorf("%q is not the default (-want +got):\n%s", text, diff)
		}
	}
}

// The example is what people copy: it must show every setting, at its default.
func TestExample(t *testing.T) {
	data, err := os.ReadFile("../../deploy/latchkey.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	if diff := cmp.Diff(&want, parse(t, string(data))); diff != "" {
		t.Errorf("the example is not the default (-want +got):\n%s", diff)
	}
	for _, full := range keys("", settings(&parser{}, &Config{})) {
		name := full[strings.LastIndexByte(full, '.')+1:]
		if !strings.Contains("\n"+strings.ReplaceAll(string(data), "\n  ", "\n"), "\n"+name+":") {
			t.Errorf("the example does not show %s", full)
		}
	}
}

func TestEverySetting(t *testing.T) {
	got := parse(t, `
listen: "[::1]:0"
store: postgres://lk:pa%2Fss@db.example:5432/latchkey?sslmode=verify-full
masterKey: file:keys/master
previousMasterKey: fd:3
tls: {certificate: /etc/tls/cert.pem, key: ../key.pem}
log: {format: text, level: debug}
timeouts: {header: 1s, body: 2s, request: 1m30s, idle: 500ms, drain: 24h}
limits:
  body: 512KiB
  header: 4096
  users: 0
  tags: 1
  longLivedApiKeys: 2
  expiringApiKeys: 2147483647
  wallets: 3
  privateKeys: 4
metrics: {listen: ':9090'}
`)
	want := &Config{
		Listen:    "[::1]:0",
		Store:     "postgres://lk:pa%2Fss@db.example:5432/latchkey?sslmode=verify-full",
		MasterKey: "file:" + filepath.Join("keys", "master"), PreviousMasterKey: "fd:3",
		TLS: TLS{Certificate: "/etc/tls/cert.pem", Key: filepath.Join("..", "key.pem")},
		Log: Log{Format: "text", Level: "debug"},
		Timeouts: Timeouts{
			Header: time.Second, Body: 2 * time.Second, Request: 90 * time.Second,
			Idle: 500 * time.Millisecond, Drain: 24 * time.Hour,
		},
		Limits: Limits{
			Body: 512 << 10, Header: 4096,
			Users: 0, Tags: 1, LongLivedAPIKeys: 2, ExpiringAPIKeys: 2147483647,
			Wallets: 3, PrivateKeys: 4,
		},
		Metrics: Metrics{Listen: ":9090"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
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

// Every message in full: they are what an operator has at three in the morning.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		// Keys.
		{"misspelt", "lisen: x", `f.yaml:1:1: unknown key "lisen"; the nearest known key is "listen"`},
		{"misspelt below", "log:\n  lvel: info", `f.yaml:2:3: unknown key "log.lvel"; the nearest known key is "log.level"`},
		{"wrong case", "masterkey: x", `f.yaml:1:1: unknown key "masterkey"; the nearest known key is "masterKey"`},
		{"wrong section", "limits:\n  drain: 1s", `f.yaml:2:3: unknown key "limits.drain"; the nearest known key is "timeouts.drain"`},
		{"wrong level", "certificate: a", `f.yaml:1:1: unknown key "certificate"; the nearest known key is "tls.certificate"`},
		{"merge key", "<<: {listen: x}", `f.yaml:1:1: unknown key (not a plain name); known here: limits, limits.body, limits.expiringApiKeys, limits.header, limits.longLivedApiKeys, limits.privateKeys, limits.tags, limits.users, limits.wallets, listen, log, log.format, log.level, masterKey, metrics, metrics.listen, previousMasterKey, store, timeouts, timeouts.body, timeouts.drain, timeouts.header, timeouts.idle, timeouts.request, tls, tls.certificate, tls.key`},
		{"list as key", "log:\n  ? [a]\n  : b", `f.yaml:2:5: unknown key (not a plain name); known here: log.format, log.level`},
		{"twice", "listen: :1\nlisten: :2", `f.yaml:2:1: listen is set twice: first on line 1`},
		{"twice below", "log: {level: info, level: warn}", `f.yaml:1:20: log.level is set twice: first on line 1`},
		{"section twice", "log: {level: info}\nlog: {format: text}", `f.yaml:2:1: log is set twice: first on line 1`},

		// Kinds.
		{"text for all", "hello", `f.yaml:1:1: a config file holds settings (key: value), not text`},
		{"list for all", "- listen: x", `f.yaml:1:1: a config file holds settings (key: value), not a list`},
		{"text for section", "log: debug", `f.yaml:1:6: log holds settings (key: value), not text`},
		{"number for text", "listen: 8080", `f.yaml:1:9: listen must be an address such as 127.0.0.1:8080, not a number`},
		{"mapping for text", "masterKey: {a: b}", `f.yaml:1:12: masterKey must be file:PATH, passphrase:PATH, env:NAME or fd:NUMBER, not a mapping`},
		{"key itself for its source", "masterKey: abcdef0123", `f.yaml:1:12: masterKey must be file:PATH, passphrase:PATH, env:NAME or fd:NUMBER`},
		{"descriptor that is no number", "previousMasterKey: fd:x", `f.yaml:1:20: previousMasterKey must be file:PATH, passphrase:PATH, env:NAME or fd:NUMBER`},
		{"bool for text", "log: {format: yes}", `f.yaml:1:15: log.format must be json or text, not "yes"`},
		{"true for text", "log: {format: true}", `f.yaml:1:15: log.format must be json or text, not true or false`},
		{"own tag", "listen: !x :80", `f.yaml:1:9: listen must be an address such as 127.0.0.1:8080, not a value with a tag of its own`},
		{"date", "log: {level: 2020-01-01}", `f.yaml:1:14: log.level must be debug, info, warn or error, not a date`},

		// Values.
		{"no port", "listen: localhost", `f.yaml:1:9: listen must be an address such as 127.0.0.1:8080, not "localhost"`},
		{"empty address", "listen: ''", `f.yaml:1:9: listen must be an address such as 127.0.0.1:8080, not ""`},
		{"high port", "metrics: {listen: ':65536'}", `f.yaml:1:19: metrics.listen must end in a port from 0 to 65535, not "65536"`},
		{"named port", "listen: localhost:http", `f.yaml:1:9: listen must end in a port from 0 to 65535, not "http"`},
		{"same address", "listen: :80\nmetrics:\n  listen: :80", `f.yaml:3:11: metrics.listen is the address of listen: leave it empty to serve /metrics there`},
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
		{"count fraction", "limits: {users: 1.5}", `f.yaml:1:17: limits.users must be a whole number (0 = unlimited), not a number`},
		{"certificate alone", "tls:\n  certificate: a", `f.yaml:1:1: tls.certificate is set without tls.key: set both or neither`},
		{"key alone", "tls: {key: a}", `f.yaml:1:1: tls.key is set without tls.certificate: set both or neither`},
		{"zero byte", `tls: {key: "a\0b"}`, `f.yaml:1:12: tls.key must be the path of a file: it holds a zero byte`},

		// The store, whose value is never repeated.
		{"store scheme", "store: mysql://u:hunter2@h/d", `f.yaml:1:8: store must be sqlite:PATH or postgres://…`},
		{"store list", "store: [postgres://u:hunter2@h/d]", `f.yaml:1:8: store must be sqlite:PATH or postgres://…, not a list`},
		{"store broken", "store: postgres://u:hun/ter2@h/d", `f.yaml:1:8: store is not a valid postgres:// URL (characters of a password such as : / ? # @ % must be percent-encoded)`},
		{"store escape", "store: postgres://u:hunter2%zz@h/d", `f.yaml:1:8: store is not a valid postgres:// URL (characters of a password such as : / ? # @ % must be percent-encoded)`},
		{"store no file", "store: 'sqlite:'", `f.yaml:1:8: store must name a file after sqlite:`},
		{"store memory", "store: 'sqlite::memory:'", `f.yaml:1:8: store cannot be in memory: a server would forget everything; name a file after sqlite:`},
		{"store host", "store: sqlite://x/y.db", `f.yaml:1:8: store must be sqlite:PATH without //, which would make the path's first part a host`},
		{"store options", "store: sqlite:x.db?mode=ro", `f.yaml:1:8: store takes no options after the path of the file`},
		{"store as another setting", "listen: postgres://u:hunter2@h/d", `f.yaml:1:9: listen must be an address such as 127.0.0.1:8080, not a URL`},
		{"store as a key", "log:\n  postgres://u:hunter2@h/d: x", `f.yaml:2:3: unknown key (not a plain name); known here: log.format, log.level`},

		// The document.
		{"two documents", "listen: :1\n---\nlisten: :2", `f.yaml:2:1: a second document begins here: a config file is one document`},
		{"anchor", "log: &a\n  level: info", `f.yaml:1:6: an anchor (&name) is not allowed in a config file`},
		{"alias", "listen: &a :1\nmetrics: {listen: *a}", "f.yaml:1:9: an anchor (&name) is not allowed in a config file\nf.yaml:2:19: an alias (*name) is not allowed in a config file"},
		{"unknown alias", "listen: *a", `f.yaml:1:1: an alias (*name) is not allowed in a config file`},
		{"not YAML", "log:\n\tlevel: info", `f.yaml:2:1: not valid YAML: found character that cannot start any token`},
		{"not UTF-8", "listen: \xff", `f.yaml:1:1: not valid YAML: invalid leading UTF-8 octet`},

		{
			"all at once", "lisen: :1\nlimits:\n  users: -1\n  usrs: 1\nstore: 5\ntls: {key: a}\n",
			`f.yaml:1:1: unknown key "lisen"; the nearest known key is "listen"` + "\n" +
				`f.yaml:3:10: limits.users must be from 0 to 2147483647, not "-1"` + "\n" +
				`f.yaml:4:3: unknown key "limits.usrs"; the nearest known key is "limits.users"` + "\n" +
				`f.yaml:5:8: store must be sqlite:PATH or postgres://…, not a number` + "\n" +
				`f.yaml:6:1: tls.key is set without tls.certificate: set both or neither`,
		},
	} {
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
