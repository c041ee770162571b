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

// ruleCase is a schema of a struct with one member, v, and values of it.
type ruleCase struct {
	name    string
	schema  *Schema
	samples []sample
}

// sample is a value, or absent to leave v out; without a problem it is accepted.
type sample struct{ value, problem string }

const absent = ""

// memberOf is the schema of a struct with the one member v.
func memberOf[T any](tags string) *Schema {
	tag := reflect.StructTag(tags + ` doc:"."`)
	s, err := compile(reflect.StructOf([]reflect.StructField{{Name: "V", Type: reflect.TypeFor[T](), Tag: tag}}))
	if err != nil {
		panic(err)
	}
	return s
}

func checkRules(t *testing.T, cases []ruleCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, sm := range c.samples {
				doc := `{"v":` + sm.value + `}`
				if sm.value == absent {
					doc = `{}`
				}
				_, got := decode(c.schema, doc)
				want := []string(nil)
				if sm.problem != "" {
					want = []string{"v: " + sm.problem}
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s: got %q, want %q", doc, got, want)
				}
			}
		})
	}
}

func TestStringRules(t *testing.T) {
	long := strings.Repeat("é", 257)
	checkRules(t, []ruleCase{
		{"plain string", memberOf[string](`json:"v"`), []sample{
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
		{"required string", memberOf[string](`json:"v" check:"required"`), []sample{
			{absent, "is required"},
			{`null`, "is required; null counts as absent"},
			{`""`, "must not be empty"},
			{`" "`, ""},
		}},
		{"required, allowempty", memberOf[string](`json:"v" check:"required,allowempty,min=2"`), []sample{
			{absent, "is required"},
			{`null`, "is required; null counts as absent"},
			{`""`, ""},
			{`"a"`, "must have at least 2 characters"},
		}},
		{"string limits", memberOf[string](`json:"v" check:"min=2,max=3"`), []sample{
			{`""`, ""},
			{`"é"`, "must have at least 2 characters"},
			{`"éé"`, ""},
			{`"ééé"`, ""},
			{`"éééé"`, "must have at most 3 characters"},
			{`"a\u0000"`, "must not contain the character U+0000"},
		}},
		{"label", memberOf[string](`json:"v,omitzero" check:"label"`), []sample{
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
		{"uuid", memberOf[string](`json:"v" check:"required,uuid"`), []sample{
			{`"01900000-0000-7000-8000-00000000000A"`, ""},
			{`""`, "must not be empty"},
			{`"01900000000070008000000000000001"`, "must be a UUID (8-4-4-4-12 hexadecimal digits)"},
			{`"01900000-0000-7000-8000-00000000000g"`, "must be a UUID (8-4-4-4-12 hexadecimal digits)"},
		}},
		{"hex", memberOf[string](`json:"v,omitzero" check:"hex"`), []sample{
			{`"09afAF"`, ""},
			{`"abc"`, "must be an even number of hexadecimal digits"},
			{`"0x12"`, "must be hexadecimal digits only"},
			{`"ag"`, "must be hexadecimal digits only"},
			{`"@@"`, "must be hexadecimal digits only"},
		}},
		{"email", memberOf[string](`json:"v,omitzero" check:"email"`), []sample{
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
		{"e164", memberOf[string](`json:"v,omitzero" check:"e164"`), []sample{
			{`"+1234567"`, ""},
			{`"+123456789012345"`, ""},
			{`"+123456"`, "must be a phone number as + and 7 to 15 digits, country code first"},
			{`"+1234567890123456"`, "must be a phone number as + and 7 to 15 digits, country code first"},
			{`"+0234567"`, "must be a phone number as + and 7 to 15 digits, country code first"},
			{`"12345678"`, "must be a phone number as + and 7 to 15 digits, country code first"},
			{`"+12345 67"`, "must be a phone number as + and 7 to 15 digits, country code first"},
		}},
		{"enum", memberOf[string](`json:"v,omitzero" check:"enum=A|BC"`), []sample{
			{`"A"`, ""},
			{`"BC"`, ""},
			{`"bc"`, "must be one of A, BC"},
			{`""`, "must not be empty: leave the field out or give a value"},
		}},
		{"enum of a type", memberOf[curve](`json:"v" check:"required"`), []sample{
			{`"P256"`, ""},
			{`"P384"`, "must be one of P256, SECP256K1"},
			{`""`, "must not be empty"},
		}},
		{"allowempty beside a format", memberOf[string](`json:"v" check:"uuid,allowempty"`), []sample{
			{`""`, ""},
			{`"x"`, "must be a UUID (8-4-4-4-12 hexadecimal digits)"},
		}},
	})
}

func TestScalarRules(t *testing.T) {
	checkRules(t, []ruleCase{
		{"boolean", memberOf[bool](`json:"v" check:"required"`), []sample{
			{`true`, ""},
			{`false`, ""},
			{`"true"`, "must be a boolean, not a string"},
			{`null`, "is required; null counts as absent"},
		}},
		{"integer", memberOf[int32](`json:"v" check:"min=-2,max=2147483647"`), []sample{
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
		{"integer max and oneof", memberOf[int32](`json:"v,omitzero" check:"oneof=12 15 18,max=15"`), []sample{
			{`12`, ""},
			{`13`, "must be one of 12, 15, 18"},
			{`0`, "must be one of 12, 15, 18"},
			{`18`, "must be at most 15"},
			{`null`, ""},
		}},
		{"uint64", memberOf[Uint64](`json:"v,omitzero" check:"min=3"`), []sample{
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
		{"required uint64", memberOf[Uint64](`json:"v" check:"required,max=9"`), []sample{
			{`""`, "must not be empty"},
			{`"0"`, ""},
			{`10`, "must be at most 9"},
		}},
	})
}

func TestArrayRules(t *testing.T) {
	checkRules(t, []ruleCase{
		{"optional array", memberOf[[]string](`json:"v,omitzero" check:"min=1,max=2"`), []sample{
			{absent, ""},
			{`null`, ""},
			{`[]`, "must have at least 1 element"},
			{`["",""]`, ""},
			{`["","",""]`, "must have at most 2 elements"},
			{`"a"`, "must be an array, not a string"},
		}},
		{"required array", memberOf[[]string](`json:"v" check:"required"`), []sample{
			{absent, "is required"},
			{`null`, ""}, // decisions.md, the wire, 15
			{`[]`, ""},
		}},
		{"required array with min", memberOf[[]bool](`json:"v" check:"required,min=1"`), []sample{
			{absent, "is required"},
			{`null`, "must have at least 1 element"},
			{`[]`, "must have at least 1 element"},
			{`[true]`, ""},
		}},
		{"lenient array", memberOf[[]string](`json:"v" check:"required,lenient"`), []sample{
			{absent, ""}, {`null`, ""}, {`[]`, ""},
		}},
	})
}

func TestObjectRules(t *testing.T) {
	checkRules(t, []ruleCase{
		{"raw", memberOf[jsontext.Value](`json:"v" check:"required"`), []sample{
			{absent, "is required"},
			{`null`, "is required; null counts as absent"},
			{`[1, {"a": null}]`, ""},
			{`""`, ""},
		}},
		{"raw object", memberOf[jsontext.Value](`json:"v,omitzero" check:"object"`), []sample{
			{`{ "a": [] }`, ""},
			{`[]`, "must be an object, not an array"},
			{`null`, ""},
		}},
		{"object", memberOf[window](`json:"v" check:"required"`), []sample{
			{`{"from":"1","to":"2"}`, ""},
			{`null`, "is required; null counts as absent"},
			{`[]`, "must be an object, not an array"},
		}},
		{"pointer", memberOf[*window](`json:"v"`), []sample{
			{`{"from":"1","to":"2"}`, ""},
			{`null`, ""},
			{absent, ""},
			{`"x"`, "must be an object, not a string"},
		}},
	})
}
