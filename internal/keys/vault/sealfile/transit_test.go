package sealfile

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// service answers in place of a transit engine, which is tested as a whole in
// plugins/sealtest: it gives back what it was given, unless it is told otherwise.
func service(t testing.TB, answer func(verb string, asked map[string]string) (status int, body string)) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		asked := map[string]string{}
		if err != nil || json.Unmarshal(text, &asked) != nil || r.Header.Get("X-Vault-Token") != "tok" || r.Header.Get("X-Vault-Namespace") != "team" {
			t.Errorf("%v, %s, %v", err, text, r.Header)
		}
		verb := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/v1/a/b/"), "/k")
		status, body := answer(verb, asked)
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1/a/b/keys/k?namespace=team"
}

func transit(at string) Spec {
	return Spec{Name: "bao", Kind: KindTransit, Place: at, Secret: []byte("tok")}
}

func honest(verb string, asked map[string]string) (int, string) {
	if verb == "encrypt" {
		return 200, fmt.Sprintf(`{"data":{"ciphertext":"vault:v1:%s"}}`, asked["plaintext"])
	}
	return 200, fmt.Sprintf(`{"data":{"plaintext":%q}}`, strings.TrimPrefix(asked["ciphertext"], "vault:v1:"))
}

func TestTransit(t *testing.T) {
	path, _ := create(t, transit(service(t, honest)))
	open(t, path, "bao", "tok")
	seal, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if way, err := seal.Way("bao"); way != BySecret || err != nil {
		t.Errorf("%v, %v", way, err)
	}
}

func TestTransitTrouble(t *testing.T) {
	for problem, answer := range map[string]func(string, map[string]string) (int, string){
		"403: the token is wrong":  func(string, map[string]string) (int, string) { return 403, `{"errors":["permission denied"]}` },
		`("permission denied")`:    func(string, map[string]string) (int, string) { return 403, `{"errors":["permission denied"]}` },
		"503: the service is seal": func(string, map[string]string) (int, string) { return 503, "sealed" },
		"404: there is no such":    func(string, map[string]string) (int, string) { return 404, `{"errors":[]}` },
		"answered with 307":        func(string, map[string]string) (int, string) { return 307, "" },
		"without a ciphertext":     func(string, map[string]string) (int, string) { return 200, `{"data":{}}` },
		"not of the transit engin": func(string, map[string]string) (int, string) { return 200, "<html>" },
		"something else than the": func(verb string, asked map[string]string) (int, string) {
			if verb == "encrypt" {
				return honest(verb, asked)
			}
			return 200, `{"data":{"plaintext":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}}`
		},
	} {
		path := filepath.Join(t.TempDir(), "seal.json")
		err := Create(path, nil, []Spec{transit(service(t, answer))}, nil)
		if err == nil || !strings.Contains(err.Error(), problem) || !strings.Contains(err.Error(), `recipient "bao"`) {
			t.Errorf("%v, want %q", err, problem)
		}
	}
}

func TestTransitAddresses(t *testing.T) {
	for address, problem := range map[string]string{
		"https://bao:8200/v1/transit/keys/k":                  "",
		"https://bao:8200/v1/team/transit/keys/k?namespace=x": "",
		"http://127.0.0.1:8200/v1/transit/keys/k":             "",
		"http://bao:8200/v1/transit/keys/k":                   "must begin with https",
		"https://u:p@bao/v1/transit/keys/k":                   "no password",
		"https://bao/v1/transit/keys/k#x":                     "address of a key",
		"https://bao/v1/transit/keys/k?token=x":               "address of a key",
		"https://bao/v1/transit/encrypt/k":                    "address of a key",
		"https://bao/v1/../keys/k":                            "address of a key",
		"bao":                                                 "address of a key",
	} {
		_, err := readTransit(address)
		if (err == nil) != (problem == "") || err != nil && !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: %v, want %q", address, err, problem)
		}
	}
}

// TestOnlyTPMs: a machine that breaks must not take the master key with it.
func TestOnlyTPMs(t *testing.T) {
	chip := Spec{Name: "chip", Kind: KindTPM, Place: "/dev/tpmrm0"}
	if err := Create(filepath.Join(t.TempDir(), "seal.json"), nil, []Spec{chip}, nil); err == nil || !strings.Contains(err.Error(), "only TPMs") {
		t.Errorf("%v", err)
	}
}
