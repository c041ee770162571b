// Package forgetful is a file system in memory that forgets, when its power fails, what
// was not flushed: bytes without an fsync of their file, and names without one of their
// folder. As on a real disk any part of that may have arrived all the same.
package forgetful

import (
	"maps"
	"math/rand/v2"
	"slices"
	"syscall"
)

// sector is how many bytes a disk writes whole or not at all.
const sector = 512

// disk holds files and folders, as programs see them and as a power failure would leave
// them.
type disk struct {
	root  *folder
	inode uint64
	// journal are the changes of folders that are not flushed, in their order. As in a
	// file system with a journal, a change arrives after all before it.
	journal []step
}

func newDisk() *disk {
	d := new(disk)
	d.root = d.newFolder(0o755)
	return d
}

// meta is what files and folders share. It counts as flushed always.
type meta struct {
	inode    uint64
	mode     uint32
	uid, gid uint32
	modified int64 // nanoseconds since 1970
}

// entry is a [*file] or a [*folder].
type entry interface{ about() *meta }

func (m *meta) about() *meta { return m }

func (d *disk) newMeta(mode uint32) meta {
	d.inode++
	return meta{inode: d.inode, mode: mode}
}

type file struct {
	meta
	now     []byte         // what programs read
	flushed []byte         // what is certain
	dirty   map[int64]bool // sectors in which the two may differ
}

func (d *disk) newFile(mode uint32) *file {
	return &file{meta: d.newMeta(syscall.S_IFREG | mode), dirty: map[int64]bool{}}
}

func (f *file) write(data []byte, offset int64) {
	end := offset + int64(len(data))
	if end > int64(len(f.now)) {
		f.resize(end)
	}
	copy(f.now[offset:], data)
	f.touch(offset, end)
}

func (f *file) resize(size int64) {
	before := int64(len(f.now))
	f.now = resized(f.now, size)
	f.touch(min(before, size), max(before, size))
}

// resized cuts bytes off, or adds zeros.
func resized(data []byte, size int64) []byte {
	before := int64(len(data))
	if size > before {
		data = slices.Grow(data, int(size-before))[:size]
		clear(data[before:])
	}
	return data[:size]
}

func (f *file) touch(from, to int64) {
	for s := from / sector; s*sector < to; s++ {
		f.dirty[s] = true
	}
}

// flush is fsync.
func (f *file) flush() {
	f.settle(int64(len(f.now)), func() bool { return true })
}

// fail leaves what a power failure leaves: each sector that was not flushed with one
// probability, and a size between the former and the new one.
func (f *file) fail(arrives float64) {
	size := int64(len(f.flushed))
	if change := int64(len(f.now)) - size; rand.Float64() < arrives {
		size += min(change, 0) + rand.Int64N(max(change, -change)+1)
	}
	f.settle(size, func() bool { return rand.Float64() < arrives })
	f.now = slices.Clone(f.flushed)
}

// settle gives the file its size on the disk, and takes sectors over that arrive. What is
// written after the end of the file is zeros.
func (f *file) settle(size int64, arrives func() bool) {
	f.flushed = resized(f.flushed, size)
	now := int64(len(f.now))
	for s := range f.dirty {
		from := s * sector
		if from >= size || !arrives() {
			continue
		}
		to := min(from+sector, size)
		copied := copy(f.flushed[from:to], f.now[min(from, now):])
		clear(f.flushed[from+int64(copied) : to])
	}
	clear(f.dirty)
}

type folder struct {
	meta
	now     map[string]entry // what programs read
	flushed map[string]entry // what is certain
}

func (d *disk) newFolder(mode uint32) *folder {
	return &folder{meta: d.newMeta(syscall.S_IFDIR | mode), now: map[string]entry{}, flushed: map[string]entry{}}
}

// step is a change of folders that happens whole or not at all: a renaming gives a name
// and takes another.
type step []named

// named is what a name in a folder stands for from now on; nil: nothing.
type named struct {
	in    *folder
	name  string
	entry entry
}

func (n named) set(entries map[string]entry) {
	if n.entry == nil {
		delete(entries, n.name)
	} else {
		entries[n.name] = n.entry
	}
}

// change carries a step out.
func (d *disk) change(s ...named) {
	for _, n := range s {
		n.set(n.in.now)
	}
	d.journal = append(d.journal, s)
}

// flush is fsync of a folder.
func (d *disk) flush(f *folder) {
	for i, s := range slices.Backward(d.journal) {
		if slices.ContainsFunc(s, func(n named) bool { return n.in == f }) {
			d.settle(i + 1)
			return
		}
	}
}

// settle brings the first steps of the journal to the disk.
func (d *disk) settle(steps int) {
	for _, s := range d.journal[:steps] {
		for _, n := range s {
			n.set(n.in.flushed)
		}
	}
	d.journal = slices.Clone(d.journal[steps:])
}

// flush brings the bytes of all files to the disk.
func (f *folder) flush() {
	for _, e := range f.now {
		switch e := e.(type) {
		case *file:
			e.flush()
		case *folder:
			e.flush()
		}
	}
}

// fail leaves what a power failure leaves. arrives is how probable it is that something
// that was not flushed is there all the same.
func (d *disk) fail(arrives float64) {
	steps := 0
	for steps < len(d.journal) && rand.Float64() < arrives {
		steps++
	}
	d.settle(steps)
	d.journal = nil
	d.root.fail(arrives)
}

func (f *folder) fail(arrives float64) {
	f.now = maps.Clone(f.flushed)
	for _, e := range f.now {
		switch e := e.(type) {
		case *file:
			e.fail(arrives)
		case *folder:
			e.fail(arrives)
		}
	}
}
