package policytest

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// jsonDocument reads data as JSON. Most of it is YAML too, but not all: \/ and
// characters that are written as two escapes are not. It is false for whatever
// is not one JSON object.
func jsonDocument(data []byte) (*yaml.Node, bool) {
	j := &jsonReader{
		Decoder: jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true)), // checkKeys reports them, with lines
		data:    data, line: 1,
	}
	if j.PeekKind() != '{' {
		return nil, false
	}
	root, err := j.value()
	if err != nil {
		return nil, false
	}
	_, err = j.ReadToken()
	return root, errors.Is(err, io.EOF)
}

type jsonReader struct {
	*jsontext.Decoder
	data []byte
	line int // at offset
	at   int64
}

func (j *jsonReader) value() (*yaml.Node, error) {
	token, err := j.ReadToken()
	if err != nil {
		return nil, err
	}
	end := j.InputOffset()
	j.line += bytes.Count(j.data[j.at:end], []byte("\n"))
	j.at = end
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: j.line, Value: token.String()}
	switch token.Kind() {
	case '{', '[':
		return n, j.content(n, token.Kind())
	case '"':
		n.Tag = "!!str"
	case '0':
		n.Tag = "!!float"
	case 'n':
		n.Tag = "!!null"
	default:
		n.Tag = "!!bool"
	}
	return n, nil
}

// content reads what is inside an object or an array: names and values take
// turns, as in a YAML mapping.
func (j *jsonReader) content(n *yaml.Node, kind jsontext.Kind) error {
	n.Kind, n.Tag, n.Value = yaml.MappingNode, "!!map", ""
	closing := jsontext.Kind('}')
	if kind == '[' {
		n.Kind, n.Tag, closing = yaml.SequenceNode, "!!seq", ']'
	}
	for j.PeekKind() != closing {
		c, err := j.value()
		if err != nil {
			return err
		}
		n.Content = append(n.Content, c)
	}
	_, err := j.ReadToken()
	return err
}
