package notify

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"text/template"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	jsonType = "application/json"
	formType = "application/x-www-form-urlencoded"

	defaultBody = `{"to":{{json .To}},"text":{{json .Text}},"id":{{json .ID}}}`
)

// sms is what the template of a body sees.
type sms struct{ To, Text, ID string }

// checkBody renders texts that are full of what must be escaped, and reads
// them back.
func (g *Gateway) checkBody() error {
	functions := template.FuncMap{"json": func(s string) (string, error) {
		text, err := jsontext.AppendQuote(nil, s)
		return string(text), err
	}}
	var err error
	if g.body, err = template.New("body").Funcs(functions).Option("missingkey=error").Parse(g.config.Body); err != nil {
		return err
	}
	nasty := sms{To: "+15550100", Text: "a\"b\\c\nd&e=f%g+h;{}<é>", ID: "id-1"}
	body, err := g.render(nasty)
	if err != nil {
		return fmt.Errorf("%w (the variables are .To, .Text and .ID)", err)
	}
	kind, _, _ := strings.Cut(g.config.ContentType, ";")
	switch strings.ToLower(strings.TrimSpace(kind)) {
	case jsonType:
		var v any
		if json.Unmarshal(body, &v) != nil || !holds(v, nasty.Text) || !holds(v, nasty.To) {
			return errors.New("the body must be JSON with {{json .To}} and {{json .Text}}, without quotes around them")
		}
	case formType:
		form, err := url.ParseQuery(string(body))
		if err != nil || !holds(form, nasty.Text) || !holds(form, nasty.To) {
			return errors.New("the body must be a form such as To={{urlquery .To}}&Body={{urlquery .Text}}")
		}
	default:
		if !strings.Contains(g.config.Body, ".To") || !strings.Contains(g.config.Body, ".Text") {
			return errors.New("the body must hold .To and .Text")
		}
	}
	return nil
}

// holds reports whether text is one of the strings in v.
func holds(v any, text string) bool {
	switch v := v.(type) {
	case string:
		return v == text
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return holds(e, text) })
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), func(e any) bool { return holds(e, text) })
	case url.Values:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), func(e []string) bool { return slices.Contains(e, text) })
	}
	return false
}

func (g *Gateway) render(s sms) ([]byte, error) {
	var b bytes.Buffer
	err := g.body.Execute(&b, s)
	return b.Bytes(), err
}
