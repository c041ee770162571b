package archtest

import (
	"os"
	"strings"
	"testing"
)

// TestOnlyDecideAuthorizes lets only package decide make authorizations. The
// server opens the vault, and hands its issuer on.
func TestOnlyDecideAuthorizes(t *testing.T) {
	allowed := map[string]bool{"internal/keys/vault": true, "internal/request/decide": true, "internal/server": true}
	var found int
	walk(t, func(pkg, file string) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		uses := strings.Contains(string(text), "vault.Issuer") || strings.Contains(string(text), "vault.Authorization") ||
			strings.Contains(string(text), ".Authorize(")
		switch {
		case uses && !allowed[pkg]:
			t.Errorf("%s authorizes work in the vault; only a ruling of internal/request/decide may", file)
		case uses:
			found++
		}
	})
	if found < 2 {
		t.Errorf("only %d files were found that authorize; the test looks for the wrong words", found)
	}
}
