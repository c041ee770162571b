package config

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"latchkey/internal/secretfile"
)

// Secret is a setting that must not be printed: the secret itself, or file:PATH
// or env:NAME, where it is stored. [Secret.Reveal] reads it.
type Secret string

const (
	inFile        = "file:"
	inEnvironment = "env:"
)

// Reveal returns the secret. A file must be one that only its owner can read;
// the line feed at its end does not belong to the secret.
func (s Secret) Reveal() (string, error) {
	if path, ok := strings.CutPrefix(string(s), inFile); ok {
		text, err := secretfile.Read(path)
		if err != nil {
			return "", err
		}
		secret := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
		if secret == "" {
			return "", fmt.Errorf("%s is empty", path)
		}
		return secret, nil
	}
	if name, ok := strings.CutPrefix(string(s), inEnvironment); ok {
		secret := os.Getenv(name)
		if secret == "" {
			return "", fmt.Errorf("the environment variable %s is not set", name)
		}
		return secret, nil
	}
	return string(s), nil
}

// Format prints nothing of the secret, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "[secret]") }

// LogValue is [Secret.Format] for slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue("[secret]") }

// MarshalText keeps the secret out of JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte("[secret]"), nil }

// secret never repeats any part of the value.
func (p *parser) secret(to *Secret) func(string, *yaml.Node) {
	return func(path string, n *yaml.Node) {
		if s, ok := p.readSecret(path, n, "text, file:PATH or env:NAME"); ok {
			*to = s
		}
	}
}

func (p *parser) readSecret(path string, n *yaml.Node, want string) (Secret, bool) {
	v, ok := p.text(path, n, want)
	if !ok {
		return "", false
	}
	for _, source := range []string{inFile, inEnvironment} {
		if rest, ok := strings.CutPrefix(v, source); ok && (rest == "" || strings.ContainsRune(rest, 0)) {
			p.Problemf(n, "%s must name something after %s", path, source)
			return "", false
		}
	}
	if file, ok := strings.CutPrefix(v, inFile); ok {
		v = inFile + p.resolve(file)
	}
	return Secret(v), true
}

// webAddress is a URL that may hold a token: no part of it is repeated.
func (p *parser) webAddress(to *Secret) func(string, *yaml.Node) {
	const want = "https://…, file:PATH or env:NAME"
	starts := []string{"https://", "http://", inFile, inEnvironment}
	return func(path string, n *yaml.Node) {
		s, ok := p.readSecret(path, n, want)
		known := s == "" || slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(string(s), start) })
		switch {
		case !ok:
		case known:
			*to = s
		default:
			p.Problemf(n, "%s must be %s", path, want)
		}
	}
}
