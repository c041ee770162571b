package audit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/test/servertest"
)

// TestTallies: an entry of what a velocity control has counted cannot be taken away,
// whether it is the oldest, the newest or one between, nor all of them, nor can one
// take the place of another.
func TestTallies(t *testing.T) {
	servertest.EachStore(t, func(t *testing.T, url string) {
		w := &world{t: t, url: url, db: openDatabase(t, url)}
		w.server = servertest.Start(t, url, config.Default())
		w.root = w.server.Root
		w.root.Submit(t, "create_velocity_control", m{
			"name": "tags", "identifier": "tags", "dataSource": m{"activityExecution": m{}},
			"aggregation": m{
				"method":   "VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT",
				"operator": "VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL", "threshold": "100",
				"window": m{"infinite": m{}}, "groupBy": m{"organization": m{}},
			},
		})
		const counted = 4
		for i := range counted {
			w.root.Submit(t, "create_user_tag", m{"userTagName": fmt.Sprint("tag ", i), "userIds": []any{}})
		}
		w.published()
		w.server.Stop(t)
		w.now = w.db.read()
		if _, found := audited(t, url); len(found) > 0 {
			t.Fatalf("findings before anything was changed: %+v", found)
		}
		isTally := func(it item) bool { return it.org == w.root.OrganizationID && it.kind == store.TallyKind }
		var entries []string
		for _, it := range w.now.items {
			if isTally(it) {
				entries = append(entries, it.id)
			}
		}
		if len(entries) != counted {
			t.Fatalf("%d entries, want %d", len(entries), counted)
		}
		tamperings := map[string]func(all *tables){
			"all removed": func(all *tables) { all.drop(isTally) },
			"one in the place of another": func(all *tables) {
				other, _ := all.get(w.root.OrganizationID, store.TallyKind, entries[1])
				for i := range all.items {
					if isTally(all.items[i]) && all.items[i].id == entries[2] {
						all.items[i].body = slices.Clone(other.body)
					}
				}
			},
		}
		for i, id := range entries {
			tamperings[fmt.Sprintf("entry %d removed", i)] = func(all *tables) {
				all.drop(func(it item) bool { return isTally(it) && it.id == id })
			}
		}
		for name, change := range tamperings {
			t.Run(name, func(t *testing.T) {
				w.db.t = t
				changed := w.now.clone()
				change(&changed)
				w.db.write(changed)
				_, found := audited(t, url)
				if !slices.ContainsFunc(found, func(f store.Finding) bool {
					return f.Kind == store.TallyKind && (strings.Contains(f.What, "missing") || strings.Contains(f.What, "not what this server wrote"))
				}) {
					t.Errorf("findings: %+v", found)
				}
			})
		}
	})
}
