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

// built is of for a struct that go vet would not let stand in a source file.
func built(fields ...reflect.StructField) func() {
	return func() {
		if _, err := compile(reflect.StructOf(fields)); err != nil {
			panic("schema: " + err.Error())
		}
	}
}

func of[T any]() func() { return func() { Of[T]() } }

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
		{"type int is not supported", of[struct {
			V int `json:"v" doc:"."`
		}]()},
		{"type float64 is not supported", of[struct {
			V float64 `json:"v" doc:"."`
		}]()},
		{"type *string is not supported", of[struct {
			V *string `json:"v" doc:"."`
		}]()},
		{"type map[string]string is not supported", of[struct {
			V map[string]string `json:"v" doc:"."`
		}]()},
		{"type []string is not supported", of[struct {
			V [][]string `json:"v" doc:"."`
		}]()},
		{"type uint8 is not supported", of[struct {
			V []byte `json:"v" doc:"."`
		}]()},
		{"type interface {} is not supported", of[struct {
			V any `json:"v" doc:"."`
		}]()},
		{`unknown rule "requird"`, of[struct {
			V string `json:"v" check:"requird" doc:"."`
		}]()},
		{`unknown rule ""`, of[struct {
			V string `json:"v" check:"required," doc:"."`
		}]()},
		{`unknown rule "required=1"`, of[struct {
			V string `json:"v" check:"required=1" doc:"."`
		}]()},
		{`unknown rule "max"`, of[struct {
			V string `json:"v" check:"max" doc:"."`
		}]()},
		{`unknown rule "most=1"`, of[struct {
			V string `json:"v" check:"most=1" doc:"."`
		}]()},
		{"max=x: not an integer", of[struct {
			V string `json:"v" check:"max=x" doc:"."`
		}]()},
		{"oneof=1 x: not an integer", of[struct {
			V int32 `json:"v" check:"oneof=1 x" doc:"."`
		}]()},
		{`unknown rule "mx=1"`, of[struct {
			V []string `json:"v" check:"each=mx=1" doc:"."`
		}]()},
		{"makes no sense within each", of[struct {
			V []string `json:"v" check:"each=lenient" doc:"."`
		}]()},
		{"min=3 is above max=2", of[struct {
			V []string `json:"v" check:"each=min=3,each=max=2" doc:"."`
		}]()},
		{"exclude each other", of[struct {
			V string `json:"v" check:"uuid,hex" doc:"."`
		}]()},
		{"exclude each other", of[struct {
			V string `json:"v" check:"uuid,enum=A" doc:"."`
		}]()},
		{"exclude each other", of[struct {
			V string `json:"v" check:"required,optional" doc:"."`
		}]()},
		{"exclude each other", of[struct {
			V string `json:"v" check:"required,sampled" doc:"."`
		}]()},
		{"lenient goes with required", of[struct {
			V []string `json:"v" check:"lenient" doc:"."`
		}]()},
		{"contradicts", of[struct {
			V []string `json:"v" check:"required,lenient,min=1" doc:"."`
		}]()},
		{"says nothing", of[struct {
			V string `json:"v" check:"required,label,max=300" doc:"."`
		}]()},
		{"given twice", of[struct {
			V string `json:"v" check:"required,enum=A|A" doc:"."`
		}]()},
		{"given twice", of[struct {
			V string `json:"v" check:"required,enum=A|" doc:"."`
		}]()},
		{"lists its values", of[struct {
			V noValues `json:"v" check:"required" doc:"."`
		}]()},
		{"lists its values", of[struct {
			V curve `json:"v" check:"required,enum=P256" doc:"."`
		}]()},
		{"min and max does not apply", of[struct {
			V bool `json:"v" check:"min=1" doc:"."`
		}]()},
		{"uuid does not apply", of[struct {
			V []string `json:"v" check:"uuid" doc:"."`
		}]()},
		{"enum does not apply", of[struct {
			V int32 `json:"v" check:"enum=1" doc:"."`
		}]()},
		{"oneof does not apply", of[struct {
			V string `json:"v" check:"oneof=1" doc:"."`
		}]()},
		{"each does not apply", of[struct {
			V string `json:"v" check:"each=max=1" doc:"."`
		}]()},
		{"lenient does not apply", of[struct {
			V string `json:"v" check:"required,lenient" doc:"."`
		}]()},
		{"object does not apply", of[struct {
			V window `json:"v" check:"required,object" doc:"."`
		}]()},
		{"allowempty does not apply", of[struct {
			V bool `json:"v" check:"allowempty" doc:"."`
		}]()},
		{"negative limit", of[struct {
			V Uint64 `json:"v" check:"min=-1" doc:"."`
		}]()},
		{"unique is for arrays of strings", of[struct {
			V []int32 `json:"v" check:"unique" doc:"."`
		}]()},
		{"required and omitzero contradict", of[struct {
			V bool `json:"v,omitzero" check:"required" doc:"."`
		}]()},
		{"mark it omitzero", of[struct {
			V string `json:"v" check:"uuid" doc:"."`
		}]()},
		{"mark it omitzero", of[struct {
			V int32 `json:"v" check:"oneof=12 15" doc:"."`
		}]()},
		{"mark it omitzero", of[struct {
			V []string `json:"v" check:"min=1" doc:"."`
		}]()},
		{"mark it omitzero", of[struct {
			V apiKey `json:"v" doc:"."`
		}]()},
		{"bad example", of[struct {
			V string `json:"v" check:"required,uuid" example:"x" doc:"."`
		}]()},
		{"bad example", of[struct {
			V int32 `json:"v" example:"1 2" doc:"."`
		}]()},
		{"bad example", of[struct {
			V []string `json:"v" check:"required,min=2,unique" example:"x" doc:"."`
		}]()},
		{"from its members", of[struct {
			V []window `json:"v" example:"x" doc:"."`
		}]()},
		{"time.Time has a JSON form of its own", of[struct {
			V time.Time `json:"v" check:"required" doc:"."`
		}]()},
	} {
		if got := panics(c.of); !strings.Contains(got, c.want) || !strings.HasPrefix(got, "schema: ") {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
