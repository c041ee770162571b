package schema

import "testing"

type login struct {
	Token  string   `json:"token" check:"required,secret" doc:"Token."`
	Name   string   `json:"name,omitzero" doc:"Name."`
	Signed *proof   `json:"signed,omitzero" doc:"Proof."`
	Users  []who    `json:"users,omitzero" doc:"Users."`
	Codes  []string `json:"codes,omitzero" check:"each=secret" doc:"Codes."`
}

type proof struct {
	Text string `json:"text,omitzero" check:"secret" doc:"Text."`
	Key  string `json:"key,omitzero" doc:"Key."`
}

type who struct {
	Proofs []proof `json:"proofs" doc:"Proofs."`
}

// TestRedact empties what is marked, wherever it stands, and nothing else.
func TestRedact(t *testing.T) {
	s := Of[login]()
	for _, tt := range []struct {
		name, raw, want string
		hid             bool
	}{
		{"a member", `{"token":"t","name":"n"}`, `{"token":"","name":"n"}`, true},
		{"an escape", `{"token":"\u0074","name":"<\u0026>"}`, `{"token":"","name":"<\u0026>"}`, true},
		{"an escaped name", `{"to\u006ben":"t"}`, `{"token":""}`, true},
		{"in an object", `{"token":"","signed":{"text":"t","key":"k"}}`, `{"token":"","signed":{"text":"","key":"k"}}`, true},
		{"in arrays", `{"token":"","users":[{"proofs":[{"text":"a"},{"key":"k"}]},{"proofs":[]}]}`, `{"token":"","users":[{"proofs":[{"text":""},{"key":"k"}]},{"proofs":[]}]}`, true},
		{"elements", `{"token":"","codes":["a","b"]}`, `{"token":"","codes":["",""]}`, true},
		{"of another type", `{"token":{"a":["t"]},"codes":[1]}`, `{"token":"","codes":[""]}`, true},
		{"none", `{"token":"","signed":null,"users":[]}`, `{"token":"","signed":null,"users":[]}`, false},
		{"unknown members", `{"other":{"token":"t"}}`, `{"other":{"token":"t"}}`, false},
	} {
		got, hid, err := s.Redact([]byte(tt.raw))
		if err != nil || string(got) != tt.want || hid != tt.hid {
			t.Errorf("%s: %s, %v, %v", tt.name, got, hid, err)
		}
	}
	for _, broken := range []string{`{"token":`, `{`, `{"users":[{]}`, `[]x`} {
		if got, _, err := s.Redact([]byte(broken)); err == nil {
			t.Errorf("%s became %s", broken, got)
		}
	}
	raw := `{ "from" : "5" }`
	if got, hid, err := Of[window]().Redact([]byte(raw)); err != nil || hid || string(got) != raw {
		t.Errorf("without secrets: %s, %v, %v", got, hid, err)
	}
}
