package eth_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"latchkey/internal/chain/eth"
	"latchkey/testvectors"
)

type typedDataRecord struct {
	Name, Digest string
	Document     json.RawMessage
}

// typedDataRecords are documents as viem 2 sends them, with the digest that it
// computes itself.
func typedDataRecords(tb testing.TB) []typedDataRecord {
	tb.Helper()
	text, err := os.ReadFile("testdata/typeddata.json")
	if err != nil {
		tb.Fatal(err)
	}
	var records []typedDataRecord
	if err := json.Unmarshal(text, &records); err != nil {
		tb.Fatal(err)
	}
	return records
}

func TestTypedDataOfViem(t *testing.T) {
	for _, r := range typedDataRecords(t) {
		t.Run(r.Name, func(t *testing.T) {
			if got := digestText(t, string(r.Document)); got != r.Digest {
				t.Errorf("digest %s, want %s", got, r.Digest)
			}
		})
	}
}

const mail = `{
 "types":{
  "Person":[{"name":"name","type":"string"},{"name":"wallet","type":"address"}],
  "Mail":[{"name":"from","type":"Person"},{"name":"to","type":"Person"},{"name":"contents","type":"string"}],
  "EIP712Domain":[{"name":"name","type":"string"},{"name":"version","type":"string"},{"name":"chainId","type":"uint256"},{"name":"verifyingContract","type":"address"}]},
 "domain":{"name":"Ether Mail","version":"1","chainId":1,"verifyingContract":"0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC"},
 "primaryType":"Mail",
 "message":{"from":{"name":"Cow","wallet":"0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826"},"to":{"name":"Bob","wallet":"0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB"},"contents":"Hello, Bob!"}}`

// mailDigest is the example of EIP-712.
const mailDigest = "0xbe609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2"

func TestClientQuirks(t *testing.T) {
	domainTypes := mail[strings.Index(mail, ",\n  \"EIP712Domain\""):strings.Index(mail, "},\n \"domain\"")]
	for _, c := range []struct{ name, old, new string }{
		{"as it is", "", ""},
		{"EIP712Domain left out", domainTypes, ""},
		{"chainId in hex (ethers)", `"chainId":1`, `"chainId":"0x1"`},
		{"chainId in padded hex", `"chainId":1`, `"chainId":"0x01"`},
		{"chainId in a decimal string (viem)", `"chainId":1`, `"chainId":"1"`},
		{"lower-case address (viem)", "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826", "0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826"},
		{"upper-case address", "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826", "0xCD2A3D9F938E13CD947EC05ABC7FE734DF8DD826"},
		{"null domain member", `"version":"1",`, `"version":"1","salt":null,`},
		{"unsigned message member", `"contents":"Hello, Bob!"`, `"contents":"Hello, Bob!","note":null`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(mail, c.old) {
				t.Fatal("the example does not hold what is to be replaced")
			}
			if got := digestText(t, strings.Replace(mail, c.old, c.new, 1)); got != mailDigest {
				t.Errorf("digest %s, want %s", got, mailDigest)
			}
		})
	}
}

func TestTypedDataFacts(t *testing.T) {
	_, td, err := eth.TypedDataDigest([]byte(strings.Replace(mail, `"contents":"Hello, Bob!"`, `"contents":"Hello, Bob!","unsigned":1`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	cow := eth.Address(testvectors.Hex(t, "CD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826"))
	bob := eth.Address(bytes.Repeat([]byte{0xbb}, 20))
	contract := eth.Address(bytes.Repeat([]byte{0xcc}, 20))
	if diff := cmp.Diff(map[string]any{
		"from":     map[string]any{"name": "Cow", "wallet": cow},
		"to":       map[string]any{"name": "Bob", "wallet": bob},
		"contents": "Hello, Bob!",
	}, td.Message); diff != "" {
		t.Error(diff)
	}
	bigs := cmp.Comparer(func(a, b *big.Int) bool { return a == b || a != nil && b != nil && a.Cmp(b) == 0 })
	if diff := cmp.Diff(eth.Domain{Name: "Ether Mail", Version: "1", ChainID: big.NewInt(1), VerifyingContract: &contract}, td.Domain, bigs); diff != "" {
		t.Error(diff)
	}
	if td.PrimaryType != "Mail" {
		t.Error(td.PrimaryType)
	}
}

// A domain member with another type is signed, but it is not the fact that its
// name promises.
func TestUnusualDomainIsNoFact(t *testing.T) {
	doc := strings.Replace(mail, `{"name":"verifyingContract","type":"address"}`, `{"name":"verifyingContract","type":"string"}`, 1)
	_, td, err := eth.TypedDataDigest([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	if td.Domain.VerifyingContract != nil {
		t.Errorf("a string is taken for the contract %s", td.Domain.VerifyingContract)
	}
	if td.DomainMembers["verifyingContract"] != "0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC" {
		t.Error(td.DomainMembers)
	}
}

func TestTypedDataRefusals(t *testing.T) {
	one := func(kind, value string) string {
		return fmt.Sprintf(`{"types":{"M":[{"name":"v","type":%q}]},"domain":{},"primaryType":"M","message":{"v":%s}}`, kind, value)
	}
	for _, c := range []struct{ name, doc, want string }{
		{"not JSON", `{`, "not valid"},
		{"empty", ``, "empty"},
		{"two values", mail + `{}`, "more than one"},
		{"not an object", `[]`, "not a JSON object"},
		{"repeated member", strings.Replace(mail, `"primaryType":"Mail"`, `"primaryType":"Person","primaryType":"Mail"`, 1), "not valid"},
		{"invalid UTF-8", strings.Replace(mail, "Hello", "\xff", 1), "not valid"},
		{"unknown top-level member", strings.Replace(mail, `"primaryType"`, `"x":1,"primaryType"`, 1), `"x" is not known`},
		{"no message", `{"types":{"M":[]},"domain":{},"primaryType":"M"}`, "message is missing"},
		{"no types", `{"domain":{},"primaryType":"M","message":{}}`, "types is missing"},
		{"domain is a list", `{"types":{},"domain":[],"primaryType":"M","message":{}}`, "domain"},
		{"primary type unknown", strings.Replace(mail, `"primaryType":"Mail"`, `"primaryType":"Letter"`, 1), "primaryType"},
		{"primary type is a number", strings.Replace(mail, `"primaryType":"Mail"`, `"primaryType":1`, 1), "primaryType"},
		{"missing value", strings.Replace(mail, `,"contents":"Hello, Bob!"`, ``, 1), "message.contents is missing"},
		{"null value", strings.Replace(mail, `"Hello, Bob!"`, `null`, 1), "message.contents is missing"},
		{"missing domain value", strings.Replace(mail, `"version":"1",`, ``, 1), "domain.version is missing"},
		{"domain member that is not signed", strings.Replace(mail, `{"name":"version","type":"string"},`, ``, 1), "would not be signed"},
		{"unknown domain member", `{"types":{"M":[]},"domain":{"who":1},"primaryType":"M","message":{}}`, "does not know"},
		{"struct is a string", strings.Replace(mail, `{"name":"Bob","wallet":"0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB"}`, `"Bob"`, 1), "message.to: expected an object"},
		{"field with more members", strings.Replace(mail, `{"name":"contents",`, `{"x":1,"name":"contents",`, 1), `"x" is not known`},
		{"name with a comma", `{"types":{"M":[{"name":"a,uint8 b","type":"uint8"}]},"domain":{},"primaryType":"M","message":{}}`, "not valid"},
		{"type name with a parenthesis", `{"types":{"M(":[]},"domain":{},"primaryType":"M(","message":{}}`, "cannot be the name"},
		{"type named like an atom", `{"types":{"uint256":[]},"domain":{},"primaryType":"uint256","message":{}}`, "cannot be the name"},
		{"type named like a wrong atom", `{"types":{"uint7":[]},"domain":{},"primaryType":"uint7","message":{}}`, "cannot be the name"},
		{"field twice", `{"types":{"M":[{"name":"a","type":"bool"},{"name":"a","type":"bool"}]},"domain":{},"primaryType":"M","message":{"a":true}}`, "used twice"},
		{"unknown type", one("Missing", `1`), `unknown type "Missing"`},
		{"uint", one("uint", `1`), "write uint256"},
		{"uint7", one("uint7", `1`), "unknown type"},
		{"uint264", one("uint264", `1`), "unknown type"},
		{"uint08", one("uint08", `1`), "unknown type"},
		{"bytes0", one("bytes0", `"0x"`), "unknown type"},
		{"bytes33", one("bytes33", `"0x"`), "unknown type"},
		{"array of length 0", one("uint8[0]", `[]`), "unknown type"},
		{"array of length 01", one("uint8[01]", `[1]`), "unknown type"},
		{"too many dimensions", one("uint8"+strings.Repeat("[]", 40), `[]`), "dimensions"},
		{"uint8 256", one("uint8", `256`), "does not fit uint8"},
		{"uint8 -1", one("uint8", `-1`), "does not fit uint8"},
		{"int8 128", one("int8", `128`), "does not fit int8"},
		{"int8 -129", one("int8", `-129`), "does not fit int8"},
		{"uint256 2^256", one("uint256", `"115792089237316195423570985008687907853269984665640564039457584007913129639936"`), "does not fit"},
		{"fraction", one("uint8", `1.0`), "whole number"},
		{"exponent", one("uint256", `1e18`), "whole number"},
		{"empty integer", one("uint8", `""`), "expected an integer"},
		{"bare 0x", one("uint8", `"0x"`), "expected an integer"},
		{"integer with a space", one("uint8", `" 1"`), "expected an integer"},
		{"integer with a plus", one("uint8", `"+1"`), "expected an integer"},
		{"negative hex", one("int8", `"-0x1"`), "expected an integer"},
		{"boolean for an integer", one("uint8", `true`), "expected an integer"},
		{"number for a boolean", one("bool", `1`), "true or false"},
		{"string for a boolean", one("bool", `"true"`), "true or false"},
		{"number for a string", one("string", `1`), "expected a string"},
		{"short address", one("address", `"0x01"`), "expected an address"},
		{"address without 0x", one("address", `"`+strings.Repeat("0", 40)+`"`), "expected an address"},
		{"odd bytes", one("bytes", `"0x1"`), "whole bytes"},
		{"text for bytes", one("bytes", `"hello"`), "whole bytes"},
		{"bytes4 of 3", one("bytes4", `"0x010203"`), "expected 4 bytes"},
		{"bytes4 of 5", one("bytes4", `"0x0102030405"`), "expected 4 bytes"},
		{"array for a scalar", one("uint8", `[1]`), "expected an integer"},
		{"scalar for an array", one("uint8[]", `1`), "expected an array"},
		{"null in an array", one("uint8[]", `[null]`), "message.v.0"},
		{"fixed array too short", one("uint8[2]", `[1]`), "expected 2 elements"},
		{"nested too deep", strings.Repeat("[", 40) + strings.Repeat("]", 40), "nested deeper"},
		{"too large", `"` + strings.Repeat("x", 256<<10) + `"`, "at most"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := eth.TypedDataDigest([]byte(c.doc))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestAuthorizationDigest(t *testing.T) {
	const address = `"address":"0x000000000000000000000000000000000000dEaD"`
	want, _, err := eth.AuthorizationDigest([]byte(`{` + address + `,"chainId":1,"nonce":0}`))
	if err != nil {
		t.Fatal(err)
	}
	same := strings.ToLower(`{"nonce":"0",`+address) + `,"chainId":"0x1"}`
	if got, _, err := eth.AuthorizationDigest([]byte(same)); err != nil || got != want {
		t.Errorf("%s: %x, %v; want %x", same, got, err, want)
	}
	for _, c := range []struct{ name, doc, wantErr string }{
		{"not an object", `1`, "object"},
		{"no nonce", `{` + address + `,"chainId":1}`, "nonce is missing"},
		{"more", `{` + address + `,"chainId":1,"nonce":0,"x":1}`, `"x" is not known`},
		{"null address", `{"address":null,"chainId":1,"nonce":0}`, "address"},
		{"nonce too large", `{` + address + `,"chainId":1,"nonce":"18446744073709551616"}`, "does not fit uint64"},
		{"negative chain", `{` + address + `,"chainId":-1,"nonce":0}`, "does not fit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, _, err := eth.AuthorizationDigest([]byte(c.doc)); err == nil || !strings.Contains(err.Error(), c.wantErr) {
				t.Errorf("got %v, want an error with %q", err, c.wantErr)
			}
		})
	}
}

// FuzzTypedData: never a panic, and the values that were read, written into the
// document again, have the same digest: a policy sees all that is signed.
func FuzzTypedData(f *testing.F) {
	f.Add([]byte(mail))
	for _, r := range typedDataRecords(f) {
		f.Add([]byte(r.Document))
	}
	for _, v := range testvectors.Section[messageVector](f, "signing", "ethereumMessages") {
		if v.Kind == "EIP-712" {
			f.Add([]byte(v.typedData()))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		digest, td, err := eth.TypedDataDigest(text)
		if err != nil {
			return
		}
		var doc map[string]json.RawMessage
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		for name, values := range map[string]map[string]any{"message": td.Message, "domain": td.DomainMembers} {
			if doc[name], err = json.Marshal(plain(values)); err != nil {
				t.Fatal(err)
			}
		}
		again, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if len(again) > 256<<10 {
			return // escapes made it longer than what is accepted
		}
		if got, _, err := eth.TypedDataDigest(again); err != nil || got != digest {
			t.Errorf("%s: %x; written again as %s: %x, %v", text, digest, again, got, err)
		}
	})
}

// FuzzAuthorization: never a panic, and what was read has the same digest.
func FuzzAuthorization(f *testing.F) {
	f.Add([]byte(`{"address":"0x000000000000000000000000000000000000dEaD","chainId":1,"nonce":0}`))
	f.Add([]byte(`{"address":"0x000000000000000000000000000000000000dead","chainId":"0x1","nonce":"18446744073709551615"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		digest, a, err := eth.AuthorizationDigest(text)
		if err != nil {
			return
		}
		again := fmt.Sprintf(`{"address":%q,"chainId":%d,"nonce":%d}`, a.Address, a.ChainID, a.Nonce)
		if got, _, err := eth.AuthorizationDigest([]byte(again)); err != nil || got != digest {
			t.Errorf("%s and %s differ: %v", text, again, err)
		}
	})
}

// plain turns parsed values into what a client would send.
func plain(v any) any {
	switch v := v.(type) {
	case *big.Int:
		return v.String()
	case eth.Address:
		return v.String()
	case []byte:
		return "0x" + hex.EncodeToString(v)
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = plain(v[i])
		}
		return all
	case map[string]any:
		all := map[string]any{}
		for name := range v {
			all[name] = plain(v[name])
		}
		return all
	}
	return v
}

func digestText(t *testing.T, doc string) string {
	t.Helper()
	digest, _, err := eth.TypedDataDigest([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	return "0x" + hex.EncodeToString(digest[:])
}
