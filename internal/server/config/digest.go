package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
)

// Digest is SHA-256 of the settings, in hex, without secrets: by it an auditor sees
// when they were changed.
func (c *Config) Digest() (string, error) {
	shown := *c
	if !strings.HasPrefix(c.Store, "sqlite:") {
		shown.Store = "postgres"
		if u, err := url.Parse(c.Store); err == nil {
			u.User, u.RawQuery = url.User(u.User.Username()), ""
			shown.Store = u.String()
		}
	}
	text, err := json.Marshal(shown)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}
