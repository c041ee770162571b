package config

import (
	"strings"
	"testing"

	"latchkey/internal/translog"
)

// witnessKey is a verifier key of a witness.
func witnessKey(t *testing.T) string {
	t.Helper()
	key, err := translog.NewKey("first.example", translog.Ed25519Cosignature, make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	return key.Text()
}

// TestWitnesses: what cannot be a witness, a quorum or a name of the log is named with
// its place, and no part of an address is repeated.
func TestWitnesses(t *testing.T) {
	key := witnessKey(t)
	good := "{url: 'http://w.example', key: '" + key + "'}"
	for name, c := range map[string]struct{ text, want string }{
		"a quorum without witnesses": {"log:\n  quorum: 1", "log.quorum is 1, and log.witnesses names 0: no checkpoint would ever be published"},
		"a quorum below zero":        {"log:\n  quorum: -1", "log.quorum must be how many witnesses must cosign"},
		"a quorum as text":           {"log:\n  quorum: two", "log.quorum must be how many witnesses must cosign"},
		"no list":                    {"log:\n  witnesses: http://w", "log.witnesses must be a list of witnesses (url and key), not text"},
		"an element that is text":    {"log:\n  witnesses: [http://w]", "log.witnesses.0 must have url and key, not text"},
		"no key":                     {"log:\n  witnesses: [{url: 'http://w.example'}]", "log.witnesses.0 must have both url, where the witness answers, and key, its verifier keys"},
		"a key that is none":         {"log:\n  witnesses: [{url: 'http://w.example', key: nonsense}]", "log.witnesses.0: verifier key \"nonsense\": it is not of the form name+id+base64"},
		"a damaged key":              {"log:\n  witnesses: [{url: 'http://w.example', key: '" + strings.ToLower(key) + "'}]", "log.witnesses.0: verifier key"},
		"an address that is none":    {"log:\n  witnesses: [{url: 'ftp://u:hunter2@w.example', key: '" + key + "'}]", "log.witnesses.0: the url is not the address of a witness"},
		"a password in it":           {"log:\n  witnesses: [{url: 'https://u:hunter2@w.example', key: '" + key + "'}]", "log.witnesses.0: the url is not the address of a witness"},
		"a witness twice":            {"log:\n  witnesses: [" + good + ", " + good + "]", "log.witnesses.1: the witness first.example is there twice"},
		"too large a quorum":         {"log:\n  quorum: 2\n  witnesses: [" + good + "]", "log.quorum is 2, and log.witnesses names 1"},
		"an unknown member":          {"log:\n  witnesses: [{uri: 'http://w.example', key: x}]", "unknown key"},
		"a name with a space":        {"log:\n  origin: my log", "log.origin must be the name of the log"},
		"a name with a plus":         {"log:\n  origin: a+b", "log.origin must be the name of the log"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("f.yaml", []byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want %s", err, c.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Error("the password is repeated")
			}
		})
	}
	c, err := Parse("f.yaml", []byte("log:\n  origin: keys.example/latchkey\n  quorum: 1\n  witnesses: ["+good+"]"))
	if err != nil || c.Log.Origin != "keys.example/latchkey" || c.Log.Quorum != 1 || len(c.Log.Witnesses) != 1 || c.Log.Witnesses[0].Key != key {
		t.Errorf("%+v: %v", c, err)
	}
}

// TestDigest: the digest follows the settings, and not the password.
func TestDigest(t *testing.T) {
	digest := func(text string) string {
		t.Helper()
		c, err := Parse("f.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		d, err := c.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	one, other := digest("store: postgres://ada:hunter2@h/d"), digest("store: postgres://ada:hunter3@h/d")
	if one != other {
		t.Error("the digest depends on the password")
	}
	if one == digest("store: postgres://ada:hunter2@h/d\nlimits: {users: 7}") {
		t.Error("the digest does not depend on the limits")
	}
}
