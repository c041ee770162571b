package main

import (
	"strings"
	"testing"
)

func TestParseURI(t *testing.T) {
	got, err := parseURI("pkcs11:token=my%20vault;serial=12;manufacturer=M;model=X;object=seal%3Bkey;id=%01%00;type=secret-key?module-path=/lib/a%20b.so")
	want := keyURI{
		module: "/lib/a b.so", token: "my vault", serial: "12", manufacturer: "M", model: "X",
		object: "seal;key", id: "\x01\x00", kind: "secret-key",
	}
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if text := got.String(); text != "token=my vault, serial=12, object=seal;key, id=%01%00, type=secret-key" {
		t.Error(text)
	}
	for problem, text := range map[string]string{
		"twice":                  "pkcs11:token=a;token=b;object=c?module-path=/m",
		"not whole at \"token\"": "pkcs11:token;object=c?module-path=/m",
		"not whole at":           "pkcs11:token=%zz;object=c?module-path=/m",
		"type=\"cert\"":          "pkcs11:token=a;object=c;type=cert?module-path=/m",
		"only module-path":       "pkcs11:token=a;object=c?module-path=/m&module-name=x",
		"whole path":             "pkcs11:token=a;object=c?module-path=m.so",
		"pin-source":             "pkcs11:token=a;object=c?pin-source=secret&module-path=/m",
		"NUL":                    "pkcs11:token=a%00;object=c?module-path=/m",
	} {
		_, err := parseURI(text)
		if err == nil || !strings.Contains(err.Error(), problem) || strings.Contains(err.Error(), "secret&") {
			t.Errorf("%s: %v, want %q", text, err, problem)
		}
	}
}

func FuzzParseURI(f *testing.F) {
	f.Add("pkcs11:token=a;object=c?module-path=/m")
	f.Add("pkcs11:id=%01?pin-value=1234")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseURI(text)
		if err == nil && (got.module == "" || got.object == "" && got.id == "" || got.token == "" && got.serial == "") {
			t.Errorf("%q names %+v", text, got)
		}
	})
}
