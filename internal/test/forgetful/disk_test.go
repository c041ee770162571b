package forgetful

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestForgets is what a power failure takes if nothing arrives that was not flushed.
func TestForgets(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(d *disk, f *file)
		want map[string]string
	}{
		"nothing flushed":      {func(*disk, *file) {}, map[string]string{}},
		"the name":             {func(d *disk, _ *file) { d.flush(d.root) }, map[string]string{"a": ""}},
		"the bytes":            {func(_ *disk, f *file) { f.flush() }, map[string]string{}},
		"both":                 {func(d *disk, f *file) { f.flush(); d.flush(d.root) }, map[string]string{"a": "first"}},
		"then written over":    {func(d *disk, f *file) { f.flush(); d.flush(d.root); f.write([]byte("FIRST"), 0) }, map[string]string{"a": "first"}},
		"then longer":          {func(d *disk, f *file) { f.flush(); d.flush(d.root); f.write([]byte("more"), 5) }, map[string]string{"a": "first"}},
		"then cut":             {func(d *disk, f *file) { f.flush(); d.flush(d.root); f.resize(1) }, map[string]string{"a": "first"}},
		"cut and flushed":      {func(d *disk, f *file) { f.flush(); d.flush(d.root); f.resize(1); f.flush() }, map[string]string{"a": "f"}},
		"cut, longer, flushed": {func(d *disk, f *file) { f.resize(1); f.resize(3); f.flush(); d.flush(d.root) }, map[string]string{"a": "f\x00\x00"}},
		"then removed":         {func(d *disk, f *file) { f.flush(); d.flush(d.root); d.change(named{d.root, "a", nil}) }, map[string]string{"a": "first"}},
		"then renamed": {func(d *disk, f *file) {
			f.flush()
			d.flush(d.root)
			d.change(named{d.root, "a", nil}, named{d.root, "b", f})
		}, map[string]string{"a": "first"}},
		"renamed and flushed": {func(d *disk, f *file) {
			f.flush()
			d.change(named{d.root, "a", nil}, named{d.root, "b", f})
			d.flush(d.root)
		}, map[string]string{"b": "first"}},
		"by a later change elsewhere": {func(d *disk, f *file) {
			f.flush()
			other := d.newFolder(0o700)
			d.change(named{d.root, "folder", other})
			d.change(named{other, "x", f})
			d.flush(other)
		}, map[string]string{"a": "first", "folder/x": "first"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDisk()
			f := d.newFile(0o600)
			d.change(named{d.root, "a", f})
			f.write([]byte("first"), 0)
			c.do(d, f)
			d.fail(0)
			got := map[string]string{}
			d.root.walk("", got)
			if !maps.Equal(got, c.want) {
				t.Errorf("left is %q, not %q", got, c.want)
			}
		})
	}
}

func (f *folder) walk(path string, to map[string]string) {
	for name, e := range f.now {
		switch e := e.(type) {
		case *file:
			to[path+name] = string(e.now)
		case *folder:
			e.walk(path+name+"/", to)
		}
	}
}

// TestSectors compares random histories of a file with a plain one: each sector is left
// as it was when the file was flushed, or as it was written last.
func TestSectors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newDisk().newFile(0o600)
		var now, flushed []byte
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				f.flush()
				flushed = slices.Clone(now)
			case 1:
				size := rapid.Int64Range(0, 5*sector).Draw(t, "size")
				f.resize(size)
				now = resized(slices.Clone(now), size)
			default:
				offset := rapid.Int64Range(0, 4*sector).Draw(t, "offset")
				data := rapid.SliceOfN(rapid.Byte(), 1, 2*sector).Draw(t, "data")
				f.write(data, offset)
				now = resized(slices.Clone(now), max(int64(len(now)), offset+int64(len(data))))
				copy(now[offset:], data)
			}
			if !bytes.Equal(f.now, now) {
				t.Fatal("the file is not what was written")
			}
		}
		arrives := rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "arrives")
		f.fail(arrives)
		if arrives == 0 && !bytes.Equal(f.now, flushed) {
			t.Fatal("something arrived that was not flushed")
		}
		size := int64(len(f.now))
		if size < int64(min(len(now), len(flushed))) || size > int64(max(len(now), len(flushed))) {
			t.Fatalf("%d bytes are left, of %d and %d", size, len(flushed), len(now))
		}
		now, flushed = resized(now, size), resized(flushed, size)
		for from := int64(0); from < size; from += sector {
			got := f.now[from:min(from+sector, size)]
			if end := from + int64(len(got)); !bytes.Equal(got, now[from:end]) && !bytes.Equal(got, flushed[from:end]) {
				t.Fatalf("the sector at %d is neither the former nor the new one", from)
			}
		}
	})
}
