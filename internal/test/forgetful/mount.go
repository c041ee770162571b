package forgetful

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// FS is a forgetful file system, mounted by FUSE, for which Linux wants root.
type FS struct {
	// Lies says that it flushes nothing when it is asked to.
	Lies bool

	dir    string
	server *fuse.Server

	mu   sync.Mutex
	disk *disk
	cut  bool
}

// Mount puts an empty one at a folder.
func Mount(dir string) (*FS, error) {
	f := &FS{dir: dir, disk: newDisk()}
	return f, f.mount()
}

func (f *FS) mount() (err error) {
	options := &fs.Options{NullPermissions: true, MountOptions: fuse.MountOptions{
		AllowOther: true, DirectMountStrict: true, DisableXAttrs: true, FsName: "forgetful", Name: "forgetful",
		Options: []string{"default_permissions"},
	}}
	if f.server, err = fs.Mount(f.dir, &node{fs: f, entry: f.disk.root}, options); err != nil {
		return fmt.Errorf("mounting a file system at %s (this needs root, and /dev/fuse): %w", f.dir, err)
	}
	return nil
}

// Cut is the moment at which the power fails: from now on nothing reaches the disk, and
// programs that still run are told of errors.
func (f *FS) Cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cut = true
}

// Restore is the return of the power. What was not flushed before [FS.Cut] is there with
// a probability. Programs that used the file system must have ended.
func (f *FS) Restore(arrives float64) error {
	if err := f.Close(); err != nil {
		return err
	}
	f.disk.fail(arrives)
	f.cut = false
	return f.mount()
}

// Flush brings everything to the disk.
func (f *FS) Flush() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.disk.settle(len(f.disk.journal))
	f.disk.root.flush()
}

// Close unmounts it, when the programs that used it have let go.
func (f *FS) Close() error {
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err := f.server.Unmount()
		if err == nil {
			return nil
		}
		if time.Since(begun) > 10*time.Second {
			return fmt.Errorf("unmounting %s: %w", f.dir, err)
		}
	}
}

// do carries an operation out, unless the power has failed.
func (f *FS) do(operation func() syscall.Errno) syscall.Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cut {
		return syscall.EIO
	}
	return operation()
}

// node is what the kernel knows of an entry.
type node struct {
	fs.Inode
	fs    *FS
	entry entry
}

var _ interface {
	fs.NodeGetattrer
	fs.NodeSetattrer
	fs.NodeOpener
	fs.NodeReader
	fs.NodeWriter
	fs.NodeFsyncer
	fs.NodeLookuper
	fs.NodeReaddirer
	fs.NodeCreater
	fs.NodeMkdirer
	fs.NodeLinker
	fs.NodeUnlinker
	fs.NodeRmdirer
	fs.NodeRenamer
	fs.NodeStatfser
} = (*node)(nil)

// fill tells the kernel of an entry.
func fill(e entry, out *fuse.Attr) {
	m := e.about()
	out.Ino, out.Mode, out.Uid, out.Gid, out.Nlink = m.inode, m.mode, m.uid, m.gid, 1
	at := time.Unix(0, m.modified)
	out.SetTimes(&at, &at, &at)
	if f, ok := e.(*file); ok {
		out.Size = uint64(len(f.now))
	}
}

func (n *node) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	return n.fs.do(func() syscall.Errno {
		fill(n.entry, &out.Attr)
		return 0
	})
}

func (n *node) Setattr(_ context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	return n.fs.do(func() syscall.Errno {
		m := n.entry.about()
		if size, ok := in.GetSize(); ok {
			n.entry.(*file).resize(int64(size))
			m.modified = time.Now().UnixNano()
		}
		if mode, ok := in.GetMode(); ok {
			m.mode = m.mode&syscall.S_IFMT | mode&^syscall.S_IFMT
		}
		if uid, ok := in.GetUID(); ok {
			m.uid = uid
		}
		if gid, ok := in.GetGID(); ok {
			m.gid = gid
		}
		if at, ok := in.GetMTime(); ok {
			m.modified = at.UnixNano()
		}
		fill(n.entry, &out.Attr)
		return 0
	})
}

func (n *node) Open(_ context.Context, flags uint32) (_ fs.FileHandle, _ uint32, errno syscall.Errno) {
	errno = n.fs.do(func() syscall.Errno {
		if flags&syscall.O_TRUNC != 0 {
			n.entry.(*file).resize(0)
		}
		return 0
	})
	return nil, fuse.FOPEN_KEEP_CACHE, errno // all changes are made through this mount
}

func (n *node) Read(_ context.Context, _ fs.FileHandle, to []byte, offset int64) (result fuse.ReadResult, errno syscall.Errno) {
	errno = n.fs.do(func() syscall.Errno {
		data := n.entry.(*file).now
		result = fuse.ReadResultData(to[:copy(to, data[min(offset, int64(len(data))):])])
		return 0
	})
	return result, errno
}

func (n *node) Write(_ context.Context, _ fs.FileHandle, data []byte, offset int64) (uint32, syscall.Errno) {
	errno := n.fs.do(func() syscall.Errno {
		f := n.entry.(*file)
		f.write(data, offset)
		f.modified = time.Now().UnixNano()
		return 0
	})
	return uint32(len(data)), errno
}

func (n *node) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	return n.fs.do(func() syscall.Errno {
		if n.fs.Lies {
			return 0
		}
		switch e := n.entry.(type) {
		case *file:
			e.flush()
		case *folder:
			n.fs.disk.flush(e)
		}
		return 0
	})
}

// inodeOf is what the kernel knows an entry by.
func (n *node) inodeOf(ctx context.Context, e entry, out *fuse.EntryOut) *fs.Inode {
	fill(e, &out.Attr)
	m := e.about()
	return n.NewInode(ctx, &node{fs: n.fs, entry: e}, fs.StableAttr{Mode: m.mode & syscall.S_IFMT, Ino: m.inode})
}

func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (found *fs.Inode, errno syscall.Errno) {
	errno = n.fs.do(func() syscall.Errno {
		e, ok := n.entry.(*folder).now[name]
		if !ok {
			return syscall.ENOENT
		}
		found = n.inodeOf(ctx, e, out)
		return 0
	})
	return found, errno
}

func (n *node) Readdir(context.Context) (_ fs.DirStream, errno syscall.Errno) {
	var list []fuse.DirEntry
	errno = n.fs.do(func() syscall.Errno {
		now := n.entry.(*folder).now
		for _, name := range slices.Sorted(maps.Keys(now)) {
			m := now[name].about()
			list = append(list, fuse.DirEntry{Name: name, Mode: m.mode, Ino: m.inode})
		}
		return 0
	})
	return fs.NewListDirStream(list), errno
}

// add gives a new entry to the user who asks for it, and a name.
func (n *node) add(ctx context.Context, name string, out *fuse.EntryOut, create func() entry) (added *fs.Inode, errno syscall.Errno) {
	errno = n.fs.do(func() syscall.Errno {
		e := create()
		m := e.about()
		if caller, ok := fuse.FromContext(ctx); ok {
			m.uid, m.gid = caller.Uid, caller.Gid
		}
		m.modified = time.Now().UnixNano()
		n.fs.disk.change(named{n.entry.(*folder), name, e})
		added = n.inodeOf(ctx, e, out)
		return 0
	})
	return added, errno
}

func (n *node) Create(ctx context.Context, name string, _, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	added, errno := n.add(ctx, name, out, func() entry { return n.fs.disk.newFile(mode & 0o7777) })
	return added, nil, fuse.FOPEN_KEEP_CACHE, errno
}

func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.add(ctx, name, out, func() entry { return n.fs.disk.newFolder(mode & 0o7777) })
}

func (n *node) Link(ctx context.Context, target fs.InodeEmbedder, name string, out *fuse.EntryOut) (linked *fs.Inode, errno syscall.Errno) {
	errno = n.fs.do(func() syscall.Errno {
		e := target.(*node).entry
		n.fs.disk.change(named{n.entry.(*folder), name, e})
		linked = n.inodeOf(ctx, e, out)
		return 0
	})
	return linked, errno
}

func (n *node) Unlink(_ context.Context, name string) syscall.Errno {
	return n.fs.do(func() syscall.Errno {
		n.fs.disk.change(named{n.entry.(*folder), name, nil})
		return 0
	})
}

func (n *node) Rmdir(_ context.Context, name string) syscall.Errno {
	return n.fs.do(func() syscall.Errno {
		in := n.entry.(*folder)
		if len(in.now[name].(*folder).now) > 0 {
			return syscall.ENOTEMPTY
		}
		n.fs.disk.change(named{in, name, nil})
		return 0
	})
}

func (n *node) Rename(_ context.Context, name string, parent fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	return n.fs.do(func() syscall.Errno {
		from, to := n.entry.(*folder), parent.(*node).entry.(*folder)
		left := entry(nil)
		if flags&fs.RENAME_EXCHANGE != 0 {
			left = to.now[newName]
		}
		n.fs.disk.change(named{from, name, left}, named{to, newName, from.now[name]})
		return 0
	})
}

// Statfs says that there is room.
func (n *node) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	const block, free = 4096, 1 << 20
	out.Bsize, out.Frsize, out.NameLen = block, block, 255
	out.Blocks, out.Bfree, out.Bavail = 2*free, free, free
	out.Files, out.Ffree = 2*free, free
	return 0
}
