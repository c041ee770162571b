package schema

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

type loop struct {
	Next *loop `json:"next,omitzero" doc:"."`
}

type noValues string

func (noValues) Enum() []string { return nil }

type wide struct{}

// panics runs f and returns what it panicked with.
func panics(f func()) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
		}
	}()
	f()
	return "no panic"
}

// built is of for a struct that go vet would refuse in a source file.
func built(fields ...reflect.StructField) func() {
	return func() {
		if _, err := compile(reflect.StructOf(fields)); err != nil {
			panic("schema: " + err.Error())
		}
	}
}

func of[T any]() func() { return func() { Of[T]() } }

// tagged is of for a struct with one member, which has these further tags.
func tagged[T any](tags string) func() {
	tag := reflect.StructTag(`json:"v" doc:"." ` + tags)
	return built(reflect.StructField{Name: "V", Type: reflect.TypeFor[T](), Tag: tag})
}

func TestBadTagsPanic(t *testing.T) {
	str := reflect.TypeFor[string]()
	for _, c := range []struct {
		want string
		of   func()
	}{
		{"not a struct", of[string]()},
		{"no doc tag", of[struct {
			V string `json:"v"`
		}]()},
		{`bad or missing json name ""`, of[struct {
			V string `doc:"."`
		}]()},
		{`bad or missing json name "a.b"`, of[struct {
			V string `json:"a.b" doc:"."`
		}]()},
		{`json option "omitempty"`, of[struct {
			V string `json:"v,omitempty" doc:"."`
		}]()},
		{`"v" is used twice`, built(
			reflect.StructField{Name: "V", Type: str, Tag: `json:"v" doc:"."`},
			reflect.StructField{Name: "W", Type: str, Tag: `json:"v" doc:"."`},
		)},
		{"must be exported", built(reflect.StructField{Name: "v", PkgPath: "latchkey/internal/schema", Type: str, Tag: `json:"v" doc:"."`})},
		{"embedded", of[struct{ wide }]()},
		{"contains itself", of[loop]()},
		{"type int is not supported", tagged[int]("")},
		{"type float64 is not supported", tagged[float64]("")},
		{"type *int64 is not supported", tagged[*int64]("")},
		{"type map[string]string is not supported", tagged[map[string]string]("")},
		{"type []string is not supported", tagged[[][]string]("")},
		{"type uint8 is not supported", tagged[[]byte]("")},
		{"type interface {} is not supported", tagged[any]("")},
		{`unknown rule "requird"`, tagged[string](`check:"requird"`)},
		{`unknown rule ""`, tagged[string](`check:"required,"`)},
		{`unknown rule "required=1"`, tagged[string](`check:"required=1"`)},
		{`unknown rule "max"`, tagged[string](`check:"max"`)},
		{`unknown rule "most=1"`, tagged[string](`check:"most=1"`)},
		{"max=x: not an integer", tagged[string](`check:"max=x"`)},
		{"oneof=1 x: not an integer", tagged[int32](`check:"oneof=1 x"`)},
		{`unknown rule "mx=1"`, tagged[[]string](`check:"each=mx=1"`)},
		{"makes no sense within each", tagged[[]string](`check:"each=lenient"`)},
		{"min=3 is above max=2", tagged[[]string](`check:"each=min=3,each=max=2"`)},
		{"exclude each other", tagged[string](`check:"uuid,hex"`)},
		{"exclude each other", tagged[string](`check:"uuid,enum=A"`)},
		{"exclude each other", tagged[string](`check:"required,optional"`)},
		{"exclude each other", tagged[string](`check:"required,sampled"`)},
		{"lenient goes with required", tagged[[]string](`check:"lenient"`)},
		{"contradicts", tagged[[]string](`check:"required,lenient,min=1"`)},
		{"says nothing", tagged[string](`check:"required,label,max=300"`)},
		{"given twice", tagged[string](`check:"required,enum=A|A"`)},
		{"given twice", tagged[string](`check:"required,enum=A|"`)},
		{"lists its values", tagged[noValues](`check:"required"`)},
		{"lists its values", tagged[curve](`check:"required,enum=P256"`)},
		{"min and max does not apply", tagged[bool](`check:"min=1"`)},
		{"uuid does not apply", tagged[[]string](`check:"uuid"`)},
		{"enum does not apply", tagged[int32](`check:"enum=1"`)},
		{"oneof does not apply", tagged[string](`check:"oneof=1"`)},
		{"each does not apply", tagged[string](`check:"each=max=1"`)},
		{"lenient does not apply", tagged[string](`check:"required,lenient"`)},
		{"object does not apply", tagged[window](`check:"required,object"`)},
		{"allowempty does not apply", tagged[bool](`check:"allowempty"`)},
		{"negative limit", tagged[Uint64](`check:"min=-1"`)},
		{"unique is for arrays of strings", tagged[[]int32](`check:"unique"`)},
		{"required and omitzero contradict", of[struct {
			V bool `json:"v,omitzero" check:"required" doc:"."`
		}]()},
		{"mark it omitzero", tagged[string](`check:"uuid"`)},
		{"mark it omitzero", tagged[int32](`check:"oneof=12 15"`)},
		{"mark it omitzero", tagged[[]string](`check:"min=1"`)},
		{"mark it omitzero", tagged[apiKey]("")},
		{"bad example", tagged[string](`check:"required,uuid" example:"x"`)},
		{"bad example", tagged[int32](`example:"1 2"`)},
		{"bad example", tagged[[]string](`check:"required,min=2,unique" example:"x"`)},
		{"from its members", tagged[[]window](`example:"x"`)},
		{"time.Time has a JSON form of its own", tagged[time.Time](`check:"required"`)},
	} {
		if got := panics(c.of); !strings.Contains(got, c.want) || !strings.HasPrefix(got, "schema: ") {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
