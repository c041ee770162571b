package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Digest is SHA-256 of the settings, in hex, without secrets: by it an auditor sees
// when they were changed.
func (c *Config) Digest() (string, error) {
	shown := *c
	shown.Store = ShownStore(c.Store)
	text, err := json.Marshal(shown)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}
