package config

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
)

// maxFile bounds what Load reads, so that a wrong path (a device, a database)
// is a message and not an exhausted memory.
const maxFile = 1 << 20

// Load reads and checks the file at path, and what its store names. A file of no
// bytes is refused: it was cut, or is not written yet. So is one that holds a
// password and that others can read.
func Load(path string) (*Config, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("config: %w", err)
	case len(data) > maxFile:
		return nil, errors.New("config: " + path + " is larger than 1 MiB: not a config file")
	case len(data) == 0:
		return nil, errors.New("config: " + path + " is empty; a file with nothing but a comment stands for the defaults")
	}
	c, err := Parse(path, data)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	if setting := c.password(); setting != "" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("config: %s holds a password (%s) and can be read by others (mode %04o); run: chmod 600 %s, or name the secret as file:PATH or env:NAME",
			path, setting, info.Mode().Perm(), path)
	}
	if c.Store, err = RevealStore(c.Store); err != nil {
		return nil, fmt.Errorf("config: %s: store: %w", path, err)
	}
	if c.Durability == "replica" && strings.HasPrefix(c.Store, "sqlite:") {
		return nil, errors.New("config: " + path + ": " + replicaNeedsPostgres)
	}
	return c, nil
}

// RevealStore checks a store, and returns the store itself where env:NAME or file:PATH
// says where it is.
func RevealStore(store string) (string, error) {
	if !elsewhere(store) {
		if wrong := checkStore(store); wrong != "" {
			return "", errors.New("it " + wrong) // not quoted: it may be a mistyped address with a password in it
		}
		return store, nil
	}
	found, err := Secret(store).Reveal()
	if err != nil {
		return "", err
	}
	if wrong := checkStore(found); wrong != "" {
		return "", fmt.Errorf("what %s holds %s", store, wrong)
	}
	if path, ok := strings.CutPrefix(found, "sqlite:"); ok && !strings.HasPrefix(path, "/") {
		return "", fmt.Errorf("what %s holds must have an absolute path behind sqlite", store)
	}
	return found, nil
}

// ShownStore is a store without what must not be shown.
func ShownStore(store string) string {
	if strings.HasPrefix(store, "sqlite:") {
		return store
	}
	u, err := url.Parse(store)
	if err != nil {
		return "postgres"
	}
	u.RawQuery = ""
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	return u.String()
}

// elsewhere reports whether a setting says where its value is.
func elsewhere(value string) bool {
	return strings.HasPrefix(value, inFile) || strings.HasPrefix(value, inEnvironment)
}

// password names a setting whose value is a secret that stands in the file itself;
// empty: there is none.
func (c *Config) password() string {
	u, err := parseStoreURL(c.Store)
	if err == nil && u != nil {
		_, given := u.User.Password()
		if given || u.Query().Has("password") {
			return "store"
		}
	}
	if c.Mail.Password != "" && !elsewhere(string(c.Mail.Password)) {
		return "mail.password"
	}
	if address := string(c.SMS.URL); !elsewhere(address) && strings.ContainsAny(address, "?@") { // a token, or a password
		return "sms.url"
	}
	for section, headers := range map[string]map[string]Secret{"sms": c.SMS.Headers, "traces": c.Traces.Headers} {
		for name, value := range headers {
			if !elsewhere(string(value)) {
				return section + ".headers." + name
			}
		}
	}
	return ""
}
