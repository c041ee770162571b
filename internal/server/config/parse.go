package config

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"latchkey/internal/strictyaml"
)

// Parse checks data as the content of the file called name, which need not
// exist: it is used in messages, and its folder resolves relative paths.
// Problems of the content are returned as [*strictyaml.Error], whose text never
// holds the value of `store`.
func Parse(name string, data []byte) (*Config, error) {
	cfg := Default()
	p := &parser{dir: filepath.Dir(name)}
	all := settings(p, &cfg)
	p.Keys = keysOf(all)
	p.Keys["log.witnesses.0"] = []string{"key", "url"}
	if root := p.Document(data); root != nil {
		p.section("", all, root)
	}
	// Rules across sections mean nothing while one of them is still in doubt.
	if n := p.metrics; n != nil && len(p.Problems) == 0 && cfg.Metrics.Listen != "" {
		if problem := collision(cfg.Listen, cfg.Metrics.Listen); problem != "" {
			p.Problemf(n, "%s", problem)
		}
	}
	// The defaults are relative paths too.
	if rest, ok := strings.CutPrefix(cfg.Store, "sqlite:"); ok {
		cfg.Store = "sqlite:" + p.resolve(rest)
	}
	for _, source := range []*string{&cfg.MasterKey, &cfg.PreviousMasterKey} {
		if kind, path, _ := strings.Cut(*source, ":"); kind == "file" || kind == "passphrase" || kind == "seal" {
			*source = kind + ":" + p.resolve(path)
		}
	}
	if path, ok := strings.CutPrefix(cfg.MasterKey, "seal:"); ok && cfg.Operator.Socket == "" {
		cfg.Operator.Socket = path + ".sock"
	}
	if err := p.Err(name); err != nil {
		return nil, err
	}
	return &cfg, nil
}

type parser struct {
	strictyaml.Reader
	dir     string
	metrics *yaml.Node // where metrics.listen is set, if it is
}

// keysOf lists the names of the settings by the path of their section.
func keysOf(all map[string]setting) map[string][]string {
	keys := map[string][]string{"": slices.Sorted(maps.Keys(all))}
	for name, s := range all {
		if s.below == nil {
			continue
		}
		for path, below := range keysOf(s.below) {
			full := name
			if path != "" {
				full = strictyaml.Join(name, path)
			}
			keys[full] = below
		}
	}
	return keys
}

// section reads one section; path is "" for the whole file.
func (p *parser) section(path string, known map[string]setting, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		p.Problemf(n, "%s holds settings (key: value), not %s", cmp.Or(path, "a config file"), kind(n))
		return
	}
	for key, value := range p.Members(path, n) {
		full, s := strictyaml.Join(path, key.Value), known[key.Value]
		switch {
		case strictyaml.IsNull(value): // `log:` with nothing below it: the default
		case s.below == nil || s.set != nil && value.Kind != yaml.MappingNode:
			s.set(full, value)
		default:
			before := len(p.Problems)
			p.section(full, s.below, value)
			if s.after != nil && len(p.Problems) == before {
				s.after(key)
			}
		}
	}
}

// kind says in a reader's words what a node is.
func kind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!str":
		return "text"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	case "!!null":
		return "nothing"
	}
	return "a date"
}

// show quotes a value for a message. What looks like a URL stays out of it: a
// store URL may have been pasted into the wrong line, password and all.
func show(v string) string {
	if strings.Contains(v, "//") || strings.Contains(v, "@") {
		return "a URL"
	}
	if len(v) > 40 {
		return "a text of " + strconv.Itoa(len(v)) + " bytes"
	}
	return strconv.Quote(v)
}
