package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/ids"
	"latchkey/internal/store"
	"latchkey/internal/store/postgres"
	"latchkey/internal/store/sqlite"
	"latchkey/internal/store/storetest"
	"latchkey/internal/test/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// each runs a test on every driver, with a fresh organization.
func each(t *testing.T, test func(t *testing.T, s *store.Store, org string)) {
	eachDriver(t, func(t *testing.T, s *store.Store, _ store.Driver, org string) { test(t, s, org) })
}

// eachDriver is each for a test that looks behind the store.
func eachDriver(t *testing.T, test func(t *testing.T, s *store.Store, driver store.Driver, org string)) {
	for name, open := range map[string]func(*testing.T) (store.Driver, error){
		"sqlite": func(t *testing.T) (store.Driver, error) {
			return sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "db"), sqlite.Config{})
		},
		"postgres": func(t *testing.T) (store.Driver, error) {
			return postgres.Open(t.Context(), pgtest.URL(t), postgres.Config{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			driver, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			s := storetest.Store(t, driver)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			org := ids.New()
			if err := s.CreateOrganization(t.Context(), org, func(tx *store.Tx) error {
				return tx.Organizations().Insert(&domain.Organization{ID: org, Name: "Test"})
			}); err != nil {
				t.Fatal(err)
			}
			test(t, s, driver, org)
		})
	}
}

// note is a record that is too numerous to be held in memory.
type note struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Text string `json:"text"`
}

// kinds are the same record kept both ways: every test of tables runs on both.
func kinds() map[string]*store.Kind[note] {
	all := map[string]*store.Kind[note]{}
	for _, resident := range []bool{true, false} {
		name := map[bool]string{true: "resident", false: "stored"}[resident]
		all[name] = &store.Kind[note]{
			Name: "note-" + name, Label: "note", Resident: resident,
			ID: func(n *note) string { return n.ID },
			Unique: []store.Index[note]{{
				Name: "name", Keys: func(n *note) []string { return strings.Split(n.Name, "|") },
				Taken: func(name string) error { return fault.Taken("name %q is taken", name) },
			}},
			Lists: []store.Index[note]{{Name: "text", Keys: func(n *note) []string { return strings.Fields(n.Text) }}},
		}
	}
	return all
}

func eachKind(t *testing.T, test func(t *testing.T, s *store.Store, org string, notes func(*store.Tx) store.Table[note])) {
	each(t, func(t *testing.T, s *store.Store, org string) {
		for name, kind := range kinds() {
			t.Run(name, func(t *testing.T) {
				test(t, s, org, func(tx *store.Tx) store.Table[note] { return store.In(tx, kind) })
			})
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if refusal, ok := fault.As(err); !ok || refusal.Code != code {
		t.Errorf("got %v, want a fault with code %d", err, code)
	}
}

func isUnavailable(err error) bool {
	refusal, ok := fault.As(err)
	return ok && refusal.Code == fault.Unavailable
}
