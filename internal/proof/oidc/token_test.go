package oidc

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
)

// at is the time in tests that need no other.
var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const (
	goodHeader = `{"alg":"RS256","kid":"k","typ":"JWT"}`
	goodIssuer = "https://issuer.example"
)

func encode(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

func jwt(header, payload string) string {
	return encode(header) + "." + encode(payload) + "." + encode("a signature")
}

// payload is a good payload with more members in front.
func payload(more string) string {
	return fmt.Sprintf(`{%s"iss":%q,"sub":"user","aud":"client","exp":%d}`, more, goodIssuer, at.Add(time.Hour).Unix())
}

// with is a payload of the given members, and of those among
// iss, sub, aud and exp that they leave out.
func with(members string) string {
	all := []string{members}
	for name, value := range map[string]string{"iss": `"` + goodIssuer + `"`, "sub": `"user"`, "aud": `"client"`, "exp": fmt.Sprint(at.Add(time.Hour).Unix())} {
		if !strings.Contains(members, `"`+name+`":`) {
			all = append(all, fmt.Sprintf("%q:%s", name, value))
		}
	}
	return "{" + strings.Join(all, ",") + "}"
}

func TestParse(t *testing.T) {
	good := domain.Claims{
		OIDCSubject: domain.OIDCSubject{Issuer: goodIssuer, Audience: "client", Subject: "user"},
		ExpiresAt:   at.Add(time.Hour),
	}
	change := func(f func(*domain.Claims)) domain.Claims {
		c := good
		f(&c)
		return c
	}
	tests := []struct {
		name, header, payload string
		want                  domain.Claims
	}{
		{"plain", goodHeader, payload(""), good},
		{"no kid, no typ", `{"alg":"ES256"}`, payload(""), good},
		{"lower-case typ", `{"alg":"ES256","typ":"jwt"}`, payload(""), good},
		{"embedded key is ignored", `{"alg":"ES256","jwk":{},"jku":"https://evil.example"}`, payload(""), good},
		{"one audience in an array", goodHeader, with(`"aud":["client"]`), good},
		{"nonce", goodHeader, payload(`"nonce":"a",`), change(func(c *domain.Claims) { c.Nonce = "a" })},
		{"tknonce", goodHeader, payload(`"tknonce":"b",`), change(func(c *domain.Claims) { c.Nonce = "b" })},
		{"nonce before tknonce", goodHeader, payload(`"tknonce":"b","nonce":"a",`), change(func(c *domain.Claims) { c.Nonce = "a" })},
		{"empty nonce", goodHeader, payload(`"tknonce":"b","nonce":"",`), change(func(c *domain.Claims) { c.Nonce = "b" })},
		{"null nonce", goodHeader, payload(`"tknonce":"b","nonce":null,`), change(func(c *domain.Claims) { c.Nonce = "b" })},
		{"other claims", goodHeader, payload(`"email":"a@b.example","deep":{"a":[1,{"b":null}]},`), good},
		{"another case is another claim", goodHeader, payload(`"ISS":"https://evil.example","Sub":"x",`), good},
		{"exp with a fraction", goodHeader, with(fmt.Sprintf(`"exp":%d.9`, at.Add(time.Hour).Unix())), good},
		{"exp with an exponent", goodHeader, with(`"exp":1.8e9`), change(func(c *domain.Claims) { c.ExpiresAt = time.Unix(1.8e9, 0).UTC() })},
		{"iat and nbf now", goodHeader, payload(fmt.Sprintf(`"iat":%d,"nbf":%[1]d,`, at.Unix())), good},
		{"iat and nbf a minute ahead", goodHeader, payload(fmt.Sprintf(`"iat":%d,"nbf":%[1]d,`, at.Unix()+60)), good},
		{"escaped", goodHeader, with(`"sub":"\u0075ser"`), good},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := jwt(tt.header, tt.payload)
			got, err := parse(text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.claims); diff != "" {
				t.Error(diff)
			}
			if err := got.checkTimes(at); err != nil {
				t.Error(err)
			}
			v := New(Options{Now: func() time.Time { return at }})
			if identity, err := v.Unverified(text); err != nil || identity != tt.want.OIDCSubject {
				t.Errorf("unverified: %v, %v", identity, err)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	hour := at.Add(time.Hour).Unix()
	parts := func(three ...string) string { return strings.Join(three, ".") }
	head, body, sig := encode(goodHeader), encode(payload("")), encode("a signature")
	tests := []struct{ name, token, want string }{
		{"empty", "", "it is empty"},
		{"one part", "abc", "it has 1 parts"},
		{"two parts", parts(head, body), "it has 2 parts"},
		{"four parts", parts(head, body, sig, sig), "it has 4 parts"},
		{"five parts", parts(head, body, sig, sig, sig), "it is encrypted"},
		{"base64 of a JWT", encode(jwt(goodHeader, payload(""))), "it has 1 parts"},
		{"too large", jwt(goodHeader, payload(`"a":"`+strings.Repeat("a", maxToken)+`",`)), "at most 16384 are read"},
		{"JSON serialization", `{"payload":"` + body + `","protected":"` + head + `","signature":"` + sig + `"}`, "it has 1 parts"},

		{"empty header", parts("", body, sig), "its header is not a JSON object"},
		{"empty payload", parts(head, "", sig), "its payload is not a JSON object"},
		{"empty signature", parts(head, body, ""), "it is unsigned: its third part is empty"},
		{"padding", parts(head, body, sig+"="), "its signature is not base64url"},
		{"standard base64", parts(head, body, "ab+/"), "its signature is not base64url"},
		{"space in front", " " + jwt(goodHeader, payload("")), "its header is not base64url"},
		{"line end behind", jwt(goodHeader, payload("")) + "\n", "its signature has line ends"},
		{"line end within", parts(head[:4]+"\n"+head[4:], body, sig), "its header has line ends"},
		{"stray bits", parts(head, body, "aa_"), "its signature is not base64url"},

		{"U+0000 in iss", jwt(goodHeader, with(`"iss":"https://x\u0000"`)), "claim iss must not contain the character U+0000"},
		{"U+0000 in sub", jwt(goodHeader, with(`"sub":"\u0000"`)), "claim sub must not contain the character U+0000"},
		{"U+0000 in aud", jwt(goodHeader, with(`"aud":["a\u0000"]`)), "claim aud must not contain the character U+0000"},

		{"header is an array", jwt(`[]`, payload("")), "its header is not a JSON object"},
		{"header is null", jwt(`null`, payload("")), "its header is not a JSON object"},
		{"header is broken", jwt(`{"alg"`, payload("")), "its header is not a JSON object"},
		{"header and more", jwt(goodHeader+"{}", payload("")), "its header is not a JSON object"},
		{"alg repeated", jwt(`{"alg":"RS256","alg":"none"}`, payload("")), "its header has a repeated member"},
		{"alg none", jwt(`{"alg":"none"}`, payload("")), "it is unsigned (algorithm none)"},
		{"alg None", jwt(`{"alg":"NoNe"}`, payload("")), "it is unsigned (algorithm none)"},
		{"alg HS256", jwt(`{"alg":"HS256"}`, payload("")), `algorithm "HS256" is not accepted: the issuer must sign with ES256, ES384, EdDSA, PS256, RS256, RS384, RS512`},
		{"alg HS512", jwt(`{"alg":"HS512"}`, payload("")), `algorithm "HS512" is not accepted`},
		{"alg missing", jwt(`{}`, payload("")), `algorithm "" is not accepted`},
		{"alg a number", jwt(`{"alg":1}`, payload("")), "member alg of its header must be a string"},
		{"alg in another case", jwt(`{"alg":"rs256"}`, payload("")), `algorithm "rs256" is not accepted`},
		{"alg under another name", jwt(`{"ALG":"RS256"}`, payload("")), `algorithm "" is not accepted`},
		{"crit", jwt(`{"alg":"RS256","crit":["b64"],"b64":false}`, payload("")), "its header has crit"},
		{"b64 alone", jwt(`{"alg":"RS256","b64":false}`, payload("")), "its header has b64"},
		{"access token", jwt(`{"alg":"RS256","typ":"at+jwt"}`, payload("")), `it is of type "at+jwt"`},
		{"access token, long form", jwt(`{"alg":"RS256","typ":"application/AT+JWT"}`, payload("")), "it is of type"},
		{"logout token", jwt(`{"alg":"RS256","typ":"logout+jwt"}`, payload("")), "it is of type"},
		{"typ a number", jwt(`{"alg":"RS256","typ":1}`, payload("")), "member typ of its header must be a string"},
		{"kid a number", jwt(`{"alg":"RS256","kid":1}`, payload("")), "member kid of its header must be a string"},

		{"payload is a string", jwt(goodHeader, `"a"`), "its payload is not a JSON object"},
		{"payload is not UTF-8", jwt(goodHeader, payload("\"a\":\"\xff\",")), "its payload is not a JSON object"},
		{"iss repeated", jwt(goodHeader, payload(`"iss":"https://other.example",`)), "its payload has a repeated member"},
		{"iss repeated by escapes", jwt(goodHeader, payload(`"\u0069ss":"https://other.example",`)), "its payload has a repeated member"},
		{"iss missing", jwt(goodHeader, fmt.Sprintf(`{"sub":"a","aud":"b","exp":%d}`, hour)), "claim iss is missing"},
		{"iss a number", jwt(goodHeader, with(`"iss":1`)), "claim iss must be a string"},
		{"sub missing", jwt(goodHeader, fmt.Sprintf(`{"iss":"a","aud":"b","exp":%d}`, hour)), "claim sub is missing"},
		{"sub empty", jwt(goodHeader, with(`"sub":""`)), "claim sub is missing"},
		{"sub null", jwt(goodHeader, with(`"sub":null`)), "claim sub is missing"},
		{"sub a number", jwt(goodHeader, with(`"sub":12`)), "claim sub must be a string"},
		{"sub too long", jwt(goodHeader, with(`"sub":"`+strings.Repeat("a", 256)+`"`)), "claim sub has 256 bytes: at most 255"},
		{"aud missing", jwt(goodHeader, fmt.Sprintf(`{"iss":"a","sub":"b","exp":%d}`, hour)), "claim aud is missing"},
		{"aud empty", jwt(goodHeader, with(`"aud":""`)), "claim aud is empty"},
		{"aud an empty array", jwt(goodHeader, with(`"aud":[]`)), "claim aud is empty"},
		{"aud an array of nothing", jwt(goodHeader, with(`"aud":[""]`)), "claim aud is empty"},
		{"aud several", jwt(goodHeader, with(`"aud":["a","b"]`)), "claim aud has 2 audiences: get a token for one audience only"},
		{"aud the same twice", jwt(goodHeader, with(`"aud":["a","a"]`)), "claim aud has 2 audiences"},
		{"aud an object", jwt(goodHeader, with(`"aud":{"a":"b"}`)), "claim aud must be a string, or an array with one string"},
		{"aud a number in an array", jwt(goodHeader, with(`"aud":[1]`)), "claim aud must be a string, or an array with one string"},
		{"nonce a number", jwt(goodHeader, payload(`"nonce":1,`)), "claim nonce must be a string"},
		{"tknonce a number", jwt(goodHeader, payload(`"tknonce":1,`)), "claim tknonce must be a string"},

		{"exp missing", jwt(goodHeader, `{"iss":"a","sub":"b","aud":"c"}`), "claim exp is missing"},
		{"exp a string", jwt(goodHeader, with(`"exp":"1800000000"`)), "claim exp must be a number of seconds since 1970"},
		{"exp negative", jwt(goodHeader, with(`"exp":-1`)), "claim exp must be a number of seconds since 1970"},
		{"exp beyond all time", jwt(goodHeader, with(`"exp":1e300`)), "claim exp must be a number of seconds since 1970"},
		{"exp infinite", jwt(goodHeader, with(`"exp":1e999`)), "claim exp must be a number of seconds since 1970"},
		{"exp in milliseconds", jwt(goodHeader, with(`"exp":1800000000000`)), "claim exp must be a number of seconds since 1970"},
		{"expired", jwt(goodHeader, with(fmt.Sprintf(`"exp":%d`, at.Unix()-1))), "it expired at 2026-01-02T03:04:04Z, and it is 2026-01-02T03:04:05Z now: get a new one"},
		{"expires now", jwt(goodHeader, with(fmt.Sprintf(`"exp":%d`, at.Unix()))), "it expired at 2026-01-02T03:04:05Z"},
		{"expires in a fraction", jwt(goodHeader, with(fmt.Sprintf(`"exp":%d.5`, at.Unix()))), "it expired at 2026-01-02T03:04:05Z"},
		{"iat a string", jwt(goodHeader, payload(`"iat":"1",`)), "claim iat must be a number"},
		{"nbf a string", jwt(goodHeader, payload(`"nbf":"1",`)), "claim nbf must be a number"},
		{"iat ahead", jwt(goodHeader, payload(fmt.Sprintf(`"iat":%d,`, at.Unix()+61))), "it was issued at 2026-01-02T03:05:06Z (claim iat), and it is only 2026-01-02T03:04:05Z now"},
		{"nbf ahead", jwt(goodHeader, payload(fmt.Sprintf(`"nbf":%d,`, at.Unix()+61))), "it is not valid before 2026-01-02T03:05:06Z (claim nbf)"},

		{"iss not a URL", jwt(goodHeader, with(`"iss":"accounts.example"`)), `claim iss is "accounts.example": it must be an https address`},
		{"iss not a URL, and long", jwt(goodHeader, with(`"iss":"`+strings.Repeat("a", 400)+`"`)), `claim iss is "` + strings.Repeat("a", 200) + `"...: it must be`},
		{"iss http", jwt(goodHeader, with(`"iss":"http://127.0.0.1"`)), `claim iss is "http://127.0.0.1": it must be an https address`},
		{"iss with a user", jwt(goodHeader, with(`"iss":"https://a@issuer.example"`)), "it must be an https address without user, query and fragment"},
	}
	v := New(Options{Now: func() time.Time { return at }})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := v.Unverified(tt.token)
			checkRefusal(t, err, tt.token, tt.want)
			claims, err := v.Verify(t.Context(), tt.token)
			checkRefusal(t, err, tt.token, tt.want)
			if claims != nil {
				t.Error("got claims with an error")
			}
		})
	}
}

// checkRefusal checks what holds for every refusal.
func checkRefusal(t *testing.T, err error, token, want string) {
	t.Helper()
	f, ok := fault.As(err)
	if !ok || f.Code != fault.InvalidArgument || f.Status() != 400 || f.Reason != "INVALID_OIDC_TOKEN" {
		t.Fatalf("got %v (%T)", err, err)
	}
	if !strings.HasPrefix(f.Message, "invalid OIDC token: ") || !strings.Contains(f.Message, want) {
		t.Errorf("got  %s\nwant %s", f.Message, want)
	}
	checkSecrecy(t, err, token)
}

// checkSecrecy looks for a part of the token in what the client or the log gets.
func checkSecrecy(t *testing.T, err error, token string) {
	t.Helper()
	for part := range strings.SplitSeq(token, ".") {
		if len(part) >= 10 && strings.Contains(err.Error(), part[:10]) {
			t.Errorf("repeats the token: %v", err)
		}
	}
	if len(err.Error()) > 1500 {
		t.Errorf("is too long: %v", err)
	}
}
