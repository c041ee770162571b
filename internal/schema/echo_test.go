package schema

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type echoed struct {
	Name   string       `json:"name" check:"required" doc:"x"`
	On     bool         `json:"on,omitzero" doc:"x"`
	Count  int32        `json:"count,omitzero" doc:"x"`
	Big    Uint64       `json:"big,omitzero" doc:"x"`
	Note   string       `json:"note,omitzero" doc:"x"`
	Mail   *string      `json:"mail,omitzero" check:"allowempty,email" doc:"x"`
	Maybe  *bool        `json:"maybe,omitzero" doc:"x"`
	Tags   []string     `json:"tags,omitzero" doc:"x"`
	Part   echoedPart   `json:"part,omitzero" doc:"x"`
	Other  *echoedPart  `json:"other,omitzero" doc:"x"`
	Parts  []echoedPart `json:"parts" doc:"x"`
	Always bool         `json:"always" doc:"x"`
	EchoedPart
}

type echoedPart struct {
	On   bool   `json:"on,omitzero" doc:"x"`
	Text string `json:"text,omitzero" doc:"x"`
}

// EchoedPart is embedded.
type EchoedPart struct {
	Last bool `json:"last,omitzero" doc:"x"`
}

// TestDecodeEcho finds what was given, at any depth, and nothing else.
func TestDecodeEcho(t *testing.T) {
	s := Of[echoed]()
	for given, want := range map[string]string{
		`{"name":"a"}`:                        `{"name":"a","parts":[],"always":false}`,
		`{"on":false,"name":"a"}`:             `{"name":"a","on":false,"parts":[],"always":false}`,
		`{"name":"a","on":null}`:              `{"name":"a","parts":[],"always":false}`,
		`{"name":"a","parts":null,"count":0}`: `{"name":"a","count":0,"parts":[],"always":false}`,
		`{"name":"a","count":0,"big":0,"note":"","mail":"","maybe":false,"tags":[],"part":{},"other":{},"last":false}`: `{"name":"a","count":0,"big":"0","note":"","mail":"","maybe":false,"tags":[],"part":{},"other":{},"parts":[],"always":false,"last":false}`,
		`{"name":"a","part":{"on":false},"other":{"text":""},"parts":[{"on":false},{},{"text":"x","on":true}]}`:        `{"name":"a","part":{"on":false},"other":{"text":""},"parts":[{"on":false},{},{"on":true,"text":"x"}],"always":false}`,
		`{"\u006fn":false,"name":"\u0061"}`: `{"name":"a","on":false,"parts":[],"always":false}`,
	} {
		got, problems := s.DecodeEcho([]byte(given), new(echoed))
		if string(got) != want || problems != nil {
			t.Errorf("%s\n got %s\nwant %s\n%v", given, got, want, problems)
		}
		// What is echoed is read again to the same.
		again, problems := s.DecodeEcho(got, new(echoed))
		if string(again) != want || problems != nil {
			t.Errorf("again: %s %v", again, problems)
		}
	}
	if got, problems := s.DecodeEcho([]byte(`{"mail":"x"}`), new(echoed)); got != nil || len(problems) != 2 {
		t.Errorf("%s %v", got, problems)
	}
}

// TestEchoIsEncode: without zeros, both ways to write give the same bytes.
func TestEchoIsEncode(t *testing.T) {
	for _, document := range [][]byte{Of[rich]().Example(), Of[rich]().ExampleFull()} {
		v := new(rich)
		if problems := Of[rich]().Decode(document, v); problems != nil {
			t.Fatal(problems)
		}
		want, err := Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Of[rich]().root.echo(nil, document, reflect.ValueOf(v).Elem())
		if diff := cmp.Diff(string(want), string(got)); diff != "" || err != nil {
			t.Errorf("(-Encode +echo): %v\n%s", err, diff)
		}
	}
}
