package migration

import (
	"testing"
	"testing/fstest"
)

func TestLoad(t *testing.T) {
	files := func(names ...string) fstest.MapFS {
		all := fstest.MapFS{}
		for _, name := range names {
			all["migrations/"+name] = &fstest.MapFile{Data: []byte("-- " + name)}
		}
		return all
	}
	steps, err := Load(files("0002_more.sql", "0001_first.sql", "README.md"))
	if err != nil || len(steps) != 2 || steps[0].SQL != "-- 0001_first.sql" || steps[1].Version != 2 {
		t.Errorf("steps %v, %v", steps, err)
	}
	for _, wrong := range []fstest.MapFS{files("0002_gap.sql"), files("0001_a.sql", "0001_b.sql"), files("first.sql")} {
		if steps, err := Load(wrong); err == nil {
			t.Errorf("%v was accepted: %v", wrong, steps)
		}
	}
}
