package client_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"latchkey/internal/test/servertest"
)

// The program that docs/go-client.md shows builds, and does what the page says.
func TestQuickstart(t *testing.T) {
	program, err := os.ReadFile("testdata/quickstart/main.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/go-client.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```go\n"+string(program)+"```\n") {
		t.Error("docs/go-client.md does not quote client/testdata/quickstart/main.go as it is")
	}
	binary := filepath.Join(t.TempDir(), "quickstart")
	if out, err := exec.Command("go", "build", "-o", binary, "./testdata/quickstart").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		secret, _, _ := strings.Cut(s.Root.Key.KeyFile(), ":")
		dev, err := json.Marshal(map[string]string{
			"baseUrl": s.URL, "organizationId": s.Root.OrganizationID, "apiPrivateKey": secret,
		})
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "dev.json")
		if err := os.WriteFile(file, dev, 0o600); err != nil {
			t.Fatal(err)
		}
		output := regexp.MustCompile(`^address   (0x[0-9a-fA-F]{40})\nsignature [0-9a-f]{130}\nactivity  [0-9a-f-]{36} \S+Z\n$`)
		var addresses []string
		for range 2 { // the second run finds the wallet of the first
			out, err := exec.Command(binary, file).CombinedOutput()
			found := output.FindSubmatch(out)
			if err != nil || found == nil {
				t.Fatalf("%v\n%s", err, out)
			}
			addresses = append(addresses, string(found[1]))
		}
		if addresses[0] != addresses[1] {
			t.Errorf("two wallets: %v", addresses)
		}
	})
}

// TestSnippets compares the other Go code that the page shows: a file that is
// compiled must hold it with the same words.
func TestSnippets(t *testing.T) {
	page, err := os.ReadFile("../docs/go-client.md")
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := os.ReadFile("snippets_test.go")
	if err != nil {
		t.Fatal(err)
	}
	squeeze := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	all := squeeze(string(compiled))
	blocks := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 5 {
		t.Fatalf("only %d snippets were found; the search is broken", len(blocks))
	}
	for _, b := range blocks[1:] { // the first is the program
		if !strings.Contains(all, squeeze(b[1])) {
			t.Errorf("no compiled file has\n%s", b[1])
		}
	}
}
