package server_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"latchkey/internal/server/config"
	"latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
)

// TestReloadLimits changes the limits of a running server: they hold from the
// next request on. A file that is not good changes none of them, and what cannot
// be changed is named.
func TestReloadLimits(t *testing.T) {
	servertest.EachStore(t, func(t *testing.T, url string) {
		s := servertest.Start(t, url, config.Default())
		file := filepath.Join(t.TempDir(), "latchkey.yaml")
		signals, ended := make(chan os.Signal), make(chan struct{})
		ctx, end := context.WithCancel(t.Context())
		go func() { s.Whole.ReloadOn(ctx, signals, nil, file, new(slog.LevelVar)); close(ended) }()
		reload := func(text, says string) {
			t.Helper()
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			before := len(s.Log.String())
			signals <- syscall.SIGHUP
			testkit.Until(t, "the log says "+says, func() bool { return strings.Contains(s.Log.String()[before:], says) })
		}
		tag := func(name string) map[string]any { return map[string]any{"userTagName": name, "userIds": []any{}} }
		large := func(name string) []byte {
			return append(s.Root.Body(t, "create_user_tag", tag(name)), bytes.Repeat([]byte(" "), 4<<10)...)
		}

		s.Root.Submit(t, "create_user_tag", tag("first"))
		s.Root.MustPost(t, "create_user_tag", large("second"))
		reload("limits: {tags: 2, body: 4KiB}\n", "the config was reloaded")
		refusal := s.Root.Refused(t, http.StatusTooManyRequests, "create_user_tag", tag("third"))
		if !strings.Contains(refusal.Get("message").Text(), "2") {
			t.Errorf("the refusal does not name the limit: %v", refusal)
		}
		servertest.CheckError(t, s.Root.Post(t, "create_user_tag", large("third")), http.StatusRequestEntityTooLarge)

		for _, bad := range []string{"limits: {tags: 0, body: 0}\n", "limits: {tags: 100}\ntemplates: nowhere\n", "limits: {tags: 100\n"} {
			reload(bad, "the config was not reloaded; nothing has changed")
			s.Root.Refused(t, http.StatusTooManyRequests, "create_user_tag", tag("third"))
			servertest.CheckError(t, s.Root.Post(t, "create_user_tag", large("third")), http.StatusRequestEntityTooLarge)
		}
		reload("limits: {header: 32KiB}\nlog: {format: text}\n", `,"limits.header","log.format"]`)
		s.Root.MustPost(t, "create_user_tag", large("third"))

		// The rate of a user, from none to one and back.
		limited := func() bool {
			return s.Root.Post(t, "whoami", s.Root.Body(t, "whoami", nil)).Status == http.StatusTooManyRequests
		}
		for range 20 {
			if limited() {
				t.Fatal("a rate is bounded that has no bound")
			}
		}
		reload("limits: {rate: {user: 1}}\n", "the config was reloaded")
		testkit.Until(t, "the rate is bounded", limited)
		reload("# the defaults\n", "the config was reloaded")
		for range 20 {
			if limited() {
				t.Fatal("a rate is bounded that has no bound any more")
			}
		}
		end()
		<-ended
	})
}
