package config

import (
	"math"
	"strconv"

	"go.yaml.in/yaml/v3"

	"latchkey/internal/strictyaml"
	"latchkey/internal/translog"
	"latchkey/internal/witness"
)

// This file holds how the settings of the transparency log are checked.

// logName is the origin of a log, which later epochs add to.
func (p *parser) logName(to *string) func(string, *yaml.Node) {
	const want = "the name of the log, such as keys.example.com/latchkey: at most 100 bytes, without white space and without +"
	return func(path string, n *yaml.Node) {
		v, ok := p.text(path, n, want)
		switch {
		case !ok:
		case v == "", len(v) <= 100 && translog.CheckName(v) == nil:
			*to = v
		default:
			p.Problemf(n, "%s must be %s", path, want)
		}
	}
}

func (p *parser) witnessCount(to *int) func(string, *yaml.Node) {
	const want = "how many witnesses must cosign: a whole number (0 = none)"
	return func(path string, n *yaml.Node) {
		v, err := strconv.ParseInt(n.Value, 10, 32)
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || !wholeNumber.MatchString(n.Value) || err != nil || v < 0 || v > math.MaxInt16 {
			p.Problemf(n, "%s must be %s", path, want)
			return
		}
		*to = int(v)
	}
}

// witnesses is a list of addresses with keys. Neither is secret, but what is in the
// wrong place may be: no part of an address is repeated.
func (p *parser) witnesses(to *[]Witness) func(string, *yaml.Node) {
	return func(path string, n *yaml.Node) {
		if n.Kind != yaml.SequenceNode {
			p.Problemf(n, "%s must be a list of witnesses (url and key), not %s", path, kind(n))
			return
		}
		names := map[string]bool{}
		for i, element := range p.Elements(n) {
			place := strictyaml.Join(path, strconv.Itoa(i))
			w, ok := p.witness(place, element)
			if !ok {
				continue
			}
			client, err := witness.NewClient(w.URL, w.Key)
			switch {
			case err != nil:
				p.Problemf(element, "%s: %v", place, err)
			case names[client.Name()]:
				p.Problemf(element, "%s: the witness %s is there twice; put all keys of a witness into one key, with white space between them", place, client.Name())
			default:
				names[client.Name()] = true
				*to = append(*to, w)
			}
		}
	}
}

func (p *parser) witness(place string, n *yaml.Node) (w Witness, ok bool) {
	if n.Kind != yaml.MappingNode {
		p.Problemf(n, "%s must have url and key, not %s", place, kind(n))
		return w, false
	}
	before := len(p.Problems)
	for key, value := range p.Members(place, n) {
		to := map[string]*string{"url": &w.URL, "key": &w.Key}[key.Value]
		if v, isText := p.text(strictyaml.Join(place, key.Value), value, "text"); isText {
			*to = v
		}
	}
	if len(p.Problems) == before && (w.URL == "" || w.Key == "") {
		p.Problemf(n, "%s must have both url, where the witness answers, and key, its verifier keys", place)
	}
	return w, len(p.Problems) == before
}
