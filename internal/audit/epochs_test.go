package audit_test

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/test/servertest"
)

// newEpoch does what latchkey log new-epoch does.
func (w *world) newEpoch(t *testing.T) {
	t.Helper()
	c := config.Default()
	c.Store, c.MasterKey = w.url, servertest.MasterKey(t, w.url)
	if _, err := server.NewEpoch(t.Context(), &c, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
}

// inEpoch matches rows of the tree of an epoch.
func inEpoch(kind, prefix string) func(item) bool {
	return func(it item) bool { return ofLog(kind)(it) && strings.HasPrefix(it.id, prefix) }
}

// ofEpoch matches the rows of lists of an epoch, whose ids begin with an
// organization.
func ofEpoch(kind, number string) func(item) bool {
	return func(it item) bool { return ofLog(kind)(it) && strings.Contains(it.id, "/"+number+"-") }
}

// TestEpochs audits a log of three epochs. The first has published only a part of its
// tree, so the second one begins with the rest, which the first has listed.
func TestEpochs(t *testing.T) {
	servertest.EachStore(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		part := w.now.clone()
		putBackLog(w, &part, store.LogCheckpoint)
		w.db.write(part)
		for n := range 2 {
			w.newEpoch(t)
			s := w.start(t)
			s.As(w.root).Submit(t, "sign_raw_payload", w.payload("0"+string(rune('0'+n))))
			s.As(w.owner).Submit(t, "create_user_tag", m{"userTagName": "epoch " + string(rune('2'+n)), "userIds": []any{}})
			w.server = s
			w.settled()
			s.Stop(t)
		}
		w.now = w.db.read()
		if _, found := audited(t, url); len(found) > 0 {
			t.Fatalf("findings: %+v", found)
		}
		for name, c := range map[string]logTampering{
			"a tile of the first":         {func(_ *world, all *tables) { all.drop(inEpoch(store.LogTile, "00-")) }, store.LogTile, "it has 0 bytes"},
			"a tile of the second":        {func(_ *world, all *tables) { all.drop(inEpoch(store.LogTile, "2/")) }, store.LogTile, "it has 0 bytes"},
			"a block of the second":       {func(_ *world, all *tables) { all.drop(inEpoch(store.LogBlock, "2/")) }, store.LogBlock, "it has 0 places"},
			"the checkpoint of the first": {func(_ *world, all *tables) { all.drop(inEpoch(store.LogCheckpoint, "newest")) }, "log entry", "it is not in the tree"},
			"an entry of the first":       {func(_ *world, all *tables) { all.log = slices.Delete(all.log, 3, 4) }, "log entry", "it is missing: it was entry 3"},
			"lists of the first":          {func(_ *world, all *tables) { all.drop(ofEpoch(store.LogOwn, "00000001")) }, store.LogOwn, "rows are missing"},
			"lists of the second":         {func(_ *world, all *tables) { all.drop(ofEpoch(store.LogChildren, "00000002")) }, store.LogChildren, "rows are missing"},
			"lists of the third":          {func(_ *world, all *tables) { all.drop(ofEpoch(store.LogOwn, "00000003")) }, store.LogOwn, "rows are missing"},
		} {
			changed := w.now.clone()
			c.change(w, &changed)
			w.db.write(changed)
			_, found := audited(t, url)
			if !slices.ContainsFunc(found, func(f store.Finding) bool { return f.Kind == c.kind && strings.Contains(f.What, c.what) }) {
				t.Errorf("%s: %+v", name, found)
			}
		}
	})
}
