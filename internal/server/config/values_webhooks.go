package config

import (
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// number is a whole number from least to most.
func (p *parser) number(to *int, least, most int) func(string, *yaml.Node) {
	want := fmt.Sprintf("a whole number from %d to %d", least, most)
	return func(path string, n *yaml.Node) {
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" {
			p.Problemf(n, "%s must be %s, not %s", path, want, kind(n))
			return
		}
		v, err := strconv.Atoi(n.Value)
		if err != nil || !wholeNumber.MatchString(n.Value) || v < least || v > most {
			p.Problemf(n, "%s must be %s, not %s", path, want, show(n.Value))
			return
		}
		*to = v
	}
}
