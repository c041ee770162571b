package server_test

import (
	"database/sql"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite" // as database/sql

	"latchkey/internal/server/config"
	"latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
)

// says waits until /readyz answers with a status and a text.
func says(t *testing.T, s *servertest.Server, status int, text string) {
	t.Helper()
	testkit.Until(t, "/readyz says "+text, func() bool {
		reply := servertest.Send(t, http.MethodGet, s.URL+"/readyz", http.Header{}, nil)
		return reply.Status == status && strings.Contains(string(reply.Body), text)
	})
}

// TestReadySQLite: a database that can be read and not written is not ready, and
// is again when it can be written.
func TestReadySQLite(t *testing.T) {
	url := servertest.SQLite(t)
	s := servertest.Start(t, url, config.Default())
	says(t, s, http.StatusOK, "ready")
	db, err := sql.Open("sqlite", strings.TrimPrefix(url, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	other, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	testkit.Until(t, "the server writes nothing of its own", func() bool {
		_, err := other.ExecContext(t.Context(), "BEGIN IMMEDIATE")
		return err == nil
	})
	says(t, s, http.StatusServiceUnavailable, "not ready: the database did not complete a write in time")
	s.Root.Query(t, "whoami", nil)
	if _, err := other.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	says(t, s, http.StatusOK, "ready")
}

// TestReadyPostgres is the same for a server that became read-only, as a primary
// does that was demoted, first for a session that is open, then for new ones.
func TestReadyPostgres(t *testing.T) {
	url := servertest.Postgres(t)
	s := servertest.Start(t, url, config.Default())
	says(t, s, http.StatusOK, "ready")
	admin, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(t.Context())
	run := func(sql string) {
		t.Helper()
		if _, err := admin.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	run("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$")
	run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	says(t, s, http.StatusServiceUnavailable, "not ready: the database is read-only")
	run("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I RESET default_transaction_read_only', current_database()); END $$")
	says(t, s, http.StatusOK, "ready")
	body := s.Root.Body(t, "create_user_tag", map[string]any{"userTagName": "works again", "userIds": []any{}})
	testkit.Until(t, "it writes again", func() bool { return s.Root.Post(t, "create_user_tag", body).Status == http.StatusOK })
}
