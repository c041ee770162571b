package schema

import (
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// decode runs a document through s into a value of its type.
func decode(s *Schema, doc string) (any, []string) {
	dst := reflect.New(s.Type()).Interface()
	var lines []string
	for _, f := range s.Decode([]byte(doc), dst) {
		lines = append(lines, f.Path+": "+f.Description)
	}
	return dst, lines
}

// The structs have one member, v, so that a case is a value and a problem.
func TestRules(t *testing.T) {
	long := strings.Repeat("é", 257)
	type sample struct{ value, want string } // no want: accepted; absent: leave v out
	const absent = ""
	for _, c := range []struct {
		name    string
		schema  *Schema
		samples []sample
	}{
		{"plain string", Of[struct {
			V string `json:"v" doc:"."`
		}](), []sample{
			{absent, ""},
			{`null`, ""},
			{`""`, ""},
			{`"a\u00e9\n"`, ""},
			{`1`, "must be a string, not a number"},
			{`true`, "must be a string, not a boolean"},
			{`false`, "must be a string, not a boolean"},
			{`[1,[2]]`, "must be a string, not an array"},
			{`{"a":{"b":1}}`, "must be a string, not an object"},
		}},
		{"required string", Of[struct {
			V string `json:"v" check:"required" doc:"."`
		}](), []sample{
			{absent, "is required"},
			{`null`, "is required; null counts as absent"},
			{`""`, "must not be empty"},
			{`" "`, ""},
		}},
		{"required, allowempty", Of[struct {
			V string `json:"v" check:"required,allowempty,min=2" doc:"."`
		}](), []sample{
			{absent, "is required"},
			{`null`, "is required; null counts as absent"},
			{`""`, ""},
			{`"a"`, "must have at least 2 characters"},
		}},
		{"string limits", Of[struct {
			V string `json:"v" check:"min=2,max=3" doc:"."`
		}](), []sample{
			{`""`, ""},
			{`"é"`, "must have at least 2 characters"},
			{`"éé"`, ""},
			{`"ééé"`, ""},
			{`"éééé"`, "must have at most 3 characters"},
		}},
		{"label", Of[struct {
			V string `json:"v,omitzero" check:"label" doc:"."`
		}](), []sample{
			{absent, ""},
			{`""`, "must not be empty: leave the field out or give a value"},
			{`"Ada L. 😀"`, ""},
			{`"` + long[2:] + `"`, ""},
			{`"` + long + `"`, "must have at most 256 characters"},
			{`"a\u0000b"`, "must not contain control characters"},
			{`"a\u0085b"`, "must not contain control characters"},
			{`" a"`, "must not begin or end with white space"},
			{`"a\u00a0"`, "must not begin or end with white space"},
		}},
		{"uuid", Of[struct {
			V string `json:"v" check:"required,uuid" doc:"."`
		}](), []sample{
			{`"01900000-0000-7000-8000-00000000000A"`, ""},
			{`""`, "must not be empty"},
			{`"01900000000070008000000000000001"`, "must be a UUID (8-4-4-4-12 hexadecimal digits)"},
			{`"01900000-0000-7000-8000-00000000000g"`, "must be a UUID (8-4-4-4-12 hexadecimal digits)"},
		}},
		{"hex", Of[struct {
			V string `json:"v,omitzero" check:"hex" doc:"."`
		}](), []sample{
			{`"09afAF"`, ""},
			{`"abc"`, "must be an even number of hexadecimal digits"},
			{`"0x12"`, "must be hexadecimal digits only"},
			{`"ag"`, "must be hexadecimal digits only"},
			{`"@@"`, "must be hexadecimal digits only"},
		}},
		{"email", Of[struct {
			V string `json:"v,omitzero" check:"email" doc:"."`
		}](), []sample{
			{`"a.b+c@example.com"`, ""},
			{`"jörg@xn--bcher-kva.example"`, ""},
			{`"a@localhost"`, "must be an email address whose domain has a dot, such as name@example.com"},
			{`"a@[127.0.0.1]"`, "must be an email address such as name@example.com"},
			{`"Ada <a@example.com>"`, "must be an email address such as name@example.com"},
			{`"<a@example.com>"`, "must be an email address such as name@example.com"},
			{`" a@example.com"`, "must be an email address such as name@example.com"},
			{`"a@b@example.com"`, "must be an email address such as name@example.com"},
			{`"a@bücher.example"`, "must be an email address such as name@example.com"},
			{`"a@-b.example"`, "must be an email address such as name@example.com"},
			{`"a@example..com"`, "must be an email address such as name@example.com"},
			{`"` + strings.Repeat("a", 243) + `@example.com"`, "must have at most 254 bytes"},
		}},
		{"e164", Of[struct {
			V string `json:"v,omitzero" check:"e164" doc:"."`
		}](), []sample{
			{`"+1234567"`, ""},
			{`"+123456789012345"`, ""},
			{`"+123456"`, "must be a phone number as + and 7 to 15 digits, country code first"},
			{`"+1234567890123456"`, "must be a phone number as + and 7 to 15 digits, country code first"},
			{`"+0234567"`, "must be a phone number as + and 7 to 15 digits, country code first"},
			{`"12345678"`, "must be a phone number as + and 7 to 15 digits, country code first"},
			{`"+12345 67"`, "must be a phone number as + and 7 to 15 digits, country code first"},
		}},
		{"enum", Of[struct {
			V string `json:"v,omitzero" check:"enum=A|BC" doc:"."`
		}](), []sample{
			{`"A"`, ""},
			{`"BC"`, ""},
			{`"bc"`, "must be one of A, BC"},
			{`""`, "must not be empty: leave the field out or give a value"},
		}},
		{"enum of a type", Of[struct {
			V curve `json:"v" check:"required" doc:"."`
		}](), []sample{
			{`"P256"`, ""},
			{`"P384"`, "must be one of P256, SECP256K1"},
			{`""`, "must not be empty"},
		}},
		{"allowempty beside a format", Of[struct {
			V string `json:"v" check:"uuid,allowempty" doc:"."`
		}](), []sample{
			{`""`, ""},
			{`"x"`, "must be a UUID (8-4-4-4-12 hexadecimal digits)"},
		}},
		{"boolean", Of[struct {
			V bool `json:"v" check:"required" doc:"."`
		}](), []sample{
			{`true`, ""},
			{`false`, ""},
			{`"true"`, "must be a boolean, not a string"},
			{`null`, "is required; null counts as absent"},
		}},
		{"integer", Of[struct {
			V int32 `json:"v" check:"min=-2,max=2147483647" doc:"."`
		}](), []sample{
			{`-2`, ""},
			{`-0`, ""},
			{`2147483647`, ""},
			{`2147483648`, "must be between -2147483648 and 2147483647"},
			{`99999999999999999999999`, "must be between -2147483648 and 2147483647"},
			{`-3`, "must be at least -2"},
			{`1.0`, "must be an integer, without fraction and exponent"},
			{`1e2`, "must be an integer, without fraction and exponent"},
			{`"1"`, "must be an integer, not a string"},
		}},
		{"integer max and oneof", Of[struct {
			V int32 `json:"v,omitzero" check:"oneof=12 15 18,max=15" doc:"."`
		}](), []sample{
			{`12`, ""},
			{`13`, "must be one of 12, 15, 18"},
			{`0`, "must be one of 12, 15, 18"},
			{`18`, "must be at most 15"},
			{`null`, ""},
		}},
		{"uint64", Of[struct {
			V Uint64 `json:"v,omitzero" check:"min=3" doc:"."`
		}](), []sample{
			{`"3"`, ""},
			{`3`, ""},
			{`"0003"`, ""},
			{`"18446744073709551615"`, ""},
			{`18446744073709551615`, ""},
			{`"18446744073709551616"`, "must be a string of decimal digits, a whole number below 2^64"},
			{`"2"`, "must be at least 3"},
			{`-3`, "must be a string of decimal digits, a whole number below 2^64"},
			{`"+3"`, "must be a string of decimal digits, a whole number below 2^64"},
			{`3.0`, "must be a string of decimal digits, a whole number below 2^64"},
			{`"0x3"`, "must be a string of decimal digits, a whole number below 2^64"},
			{`"1_000"`, "must be a string of decimal digits, a whole number below 2^64"},
			{`""`, "must not be empty: leave the field out or give a value"},
			{`true`, "must be a string of decimal digits, not a boolean"},
		}},
		{"required uint64", Of[struct {
			V Uint64 `json:"v" check:"required,max=9" doc:"."`
		}](), []sample{
			{`""`, "must not be empty"},
			{`"0"`, ""},
			{`10`, "must be at most 9"},
		}},
		{"optional array", Of[struct {
			V []string `json:"v,omitzero" check:"min=1,max=2" doc:"."`
		}](), []sample{
			{absent, ""},
			{`null`, ""},
			{`[]`, "must have at least 1 element"},
			{`["",""]`, ""},
			{`["","",""]`, "must have at most 2 elements"},
			{`"a"`, "must be an array, not a string"},
		}},
		{"required array", Of[struct {
			V []string `json:"v" check:"required" doc:"."`
		}](), []sample{
			{absent, "is required"},
			{`null`, ""}, // decisions.md, the wire, 15
			{`[]`, ""},
		}},
		{"required array with min", Of[struct {
			V []bool `json:"v" check:"required,min=1" doc:"."`
		}](), []sample{
			{absent, "is required"},
			{`null`, "must have at least 1 element"},
			{`[]`, "must have at least 1 element"},
			{`[true]`, ""},
		}},
		{"lenient array", Of[struct {
			V []string `json:"v" check:"required,lenient" doc:"."`
		}](), []sample{
			{absent, ""}, {`null`, ""}, {`[]`, ""},
		}},
		{"raw", Of[struct {
			V jsontext.Value `json:"v" check:"required" doc:"."`
		}](), []sample{
			{absent, "is required"},
			{`null`, "is required; null counts as absent"},
			{`[1, {"a": null}]`, ""},
			{`""`, ""},
		}},
		{"raw object", Of[struct {
			V jsontext.Value `json:"v,omitzero" check:"object" doc:"."`
		}](), []sample{
			{`{ "a": [] }`, ""},
			{`[]`, "must be an object, not an array"},
			{`null`, ""},
		}},
		{"object", Of[struct {
			V window `json:"v" check:"required" doc:"."`
		}](), []sample{
			{`{"from":"1","to":"2"}`, ""},
			{`null`, "is required; null counts as absent"},
			{`[]`, "must be an object, not an array"},
		}},
		{"pointer", Of[struct {
			V *window `json:"v" doc:"."`
		}](), []sample{
			{`{"from":"1","to":"2"}`, ""},
			{`null`, ""},
			{absent, ""},
			{`"x"`, "must be an object, not a string"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, sm := range c.samples {
				doc := `{"v":` + sm.value + `}`
				if sm.value == absent {
					doc = `{}`
				}
				_, got := decode(c.schema, doc)
				want := []string(nil)
				if sm.want != "" {
					want = []string{"v: " + sm.want}
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s: got %q, want %q", doc, got, want)
				}
			}
		})
	}
}
