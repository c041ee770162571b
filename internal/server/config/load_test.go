package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLoad: what a file that parses is refused for, and where a store may be.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("LATCHKEY_TEST_STORE", "postgres://u:hunter2@h/d")
	t.Setenv("LATCHKEY_TEST_WRONG", "mysql://u:hunter2@h/d")
	for name, text := range map[string]string{"store": "sqlite:/var/lib/x.db\n", "relative": "sqlite:x.db\n", "open": "sqlite:/x.db"} {
		mode := os.FileMode(0o600)
		if name == "open" {
			mode = 0o644
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	const others = "can be read by others (mode 0644); run: chmod 600 "
	for _, tt := range []struct {
		name, text  string
		mode        os.FileMode
		store, says string
	}{
		{"no bytes", "", 0o600, "", "is empty; a file with nothing but a comment stands for the defaults"},
		{"a comment", "# the defaults\n", 0o644, "sqlite:" + filepath.Join(dir, "latchkey.db"), ""},
		{"a password for the owner", "store: postgres://u:hunter2@h/d", 0o600, "postgres://u:hunter2@h/d", ""},
		{"a password for all", "store: postgres://u:hunter2@h/d", 0o644, "", "holds a password (store) and " + others},
		{"a password among the options", "store: postgres://u@h/d?password=hunter2", 0o644, "", "(store)"},
		{"a URL without one", "store: postgres://u@h/d", 0o644, "postgres://u@h/d", ""},
		{"mail", "mail: {host: h, from: a@example.com, username: u, password: hunter2}", 0o644, "", "holds a password (mail.password) and " + others},
		{"sms", "sms: {url: 'https://h/?token=hunter2'}", 0o644, "", "(sms.url)"},
		{"sms header", "sms: {url: 'https://h/', headers: {Authorization: hunter2}}", 0o644, "", "(sms.headers.Authorization)"},
		{"sms elsewhere", "sms: {url: 'https://h/', headers: {Authorization: 'env:X'}}\nmail: {host: h, from: a@example.com, username: u, password: 'file:p'}", 0o644, "sqlite:" + filepath.Join(dir, "latchkey.db"), ""},
		{"environment", "store: env:LATCHKEY_TEST_STORE", 0o644, "postgres://u:hunter2@h/d", ""},
		{"environment in a section", "store: {url: 'env:LATCHKEY_TEST_STORE', durability: replica}", 0o644, "postgres://u:hunter2@h/d", ""},
		{"environment not set", "store: env:LATCHKEY_TEST_NONE", 0o644, "", "store: the environment variable LATCHKEY_TEST_NONE is not set"},
		{"environment with another store", "store: env:LATCHKEY_TEST_WRONG", 0o644, "", "store: what env:LATCHKEY_TEST_WRONG holds must be sqlite:PATH"},
		{"file", "store: file:store", 0o644, "sqlite:/var/lib/x.db", ""},
		{"file and durability", "store: {url: 'file:store', durability: replica}", 0o644, "", "which SQLite cannot do"},
		{"file with a relative path", "store: file:relative", 0o644, "", "must have an absolute path behind sqlite"},
		{"file that others read", "store: file:open", 0o644, "", "can be read by others (mode 0644)"},
		{"no file", "store: file:none", 0o644, "", "no such file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(dir, "latchkey.yaml")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, tt.mode); err != nil {
				t.Fatal(err)
			}
			c, err := Load(path)
			switch {
			case tt.says == "" && err != nil:
				t.Error(err)
			case tt.says == "" && c.Store != tt.store:
				t.Errorf("the store is %s", c.Store)
			case tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)):
				t.Errorf("%v, want %s", err, tt.says)
			case err != nil && strings.Contains(err.Error(), "hunter2"):
				t.Errorf("the refusal holds the password: %v", err)
			}
		})
	}
}
