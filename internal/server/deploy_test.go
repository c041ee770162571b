package server_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"latchkey/internal/server/config"
	"latchkey/internal/test/servertest"
)

// TestMetricsOfDeploy: every metric that the alerts and the dashboard name is there on
// a server that has just started, on each store.
func TestMetricsOfDeploy(t *testing.T) {
	servertest.EachStore(t, func(t *testing.T, storeURL string) {
		s := servertest.Start(t, storeURL, config.Default())
		reply, err := http.Get(s.URL + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		text, err := io.ReadAll(reply.Body)
		if err != nil {
			t.Fatal(err)
		}
		there := map[string]bool{}
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "#") {
				there[line[:strings.IndexAny(line, "{ ")]] = true
			}
		}
		for _, prefix := range []string{"latchkey_build_info", "latchkey_activities_total", "latchkey_pool_", "latchkey_vault_", "latchkey_log_", "latchkey_webhook_"} {
			if !strings.Contains(string(text), "\n"+prefix) {
				t.Errorf("there is no %s", prefix)
			}
		}
		named := 0
		for _, file := range []string{"prometheus/alerts.yaml", "prometheus/alerts_test.yaml", "grafana/latchkey.json"} {
			content, err := os.ReadFile(filepath.Join("../../deploy", file))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range regexp.MustCompile(`\b(latchkey|process|go)_[a-z_]+\b`).FindAllString(string(content), -1) {
				named++
				if !there[name] {
					t.Errorf("%s names %s, which a server does not have", file, name)
				}
			}
		}
		if named < 30 {
			t.Errorf("only %d names were found", named)
		}
		// What is counted, counts.
		s.Root.Submit(t, "create_user_tag", map[string]any{"userTagName": "a", "userIds": []any{}})
		again, err := http.Get(s.URL + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer again.Body.Close()
		if text, err = io.ReadAll(again.Body); err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{`latchkey_activities_total{outcome="completed"} 1`, `latchkey_requests_total{operation="create_user_tag",status="200"} 1`} {
			if !slices.Contains(strings.Split(string(text), "\n"), line) {
				t.Errorf("there is no %s", line)
			}
		}
		for _, name := range []string{"latchkey_pool_connections_max", "latchkey_vault_memory_bytes"} {
			if strings.Contains(string(text), "\n"+name+" 0\n") {
				t.Errorf("%s is 0", name)
			}
		}
	})
}

// TestConfigOfCompose: the server takes the config of the compose file.
func TestConfigOfCompose(t *testing.T) {
	text, err := os.ReadFile("../../deploy/compose/latchkey.yaml")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "latchkey.yaml")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "PASSWORD", "secret")), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != ":8080" || !strings.HasPrefix(c.Store, "postgres://latchkey:secret@postgres") {
		t.Errorf("listens on %s, with %s", c.Listen, c.Store)
	}
}
