package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io/fs"
	"time"
)

// archive is a tar file whose bytes follow from what was put into it: one time, and
// numbers for owners.
type archive struct {
	b    bytes.Buffer
	w    *tar.Writer
	time time.Time
	err  error // the first
}

func newArchive(at time.Time) *archive {
	a := &archive{time: at}
	a.w = tar.NewWriter(&a.b)
	return a
}

func (a *archive) folder(name string, mode int64, owner int) {
	a.add(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: mode, Uid: owner, Gid: owner}, nil)
}

func (a *archive) file(name string, mode fs.FileMode, content []byte) {
	a.add(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: int64(mode), Size: int64(len(content))}, content)
}

func (a *archive) add(h *tar.Header, content []byte) {
	h.ModTime, h.Format = a.time, tar.FormatUSTAR
	if a.err == nil {
		a.err = a.w.WriteHeader(h)
	}
	if a.err == nil {
		_, a.err = a.w.Write(content)
	}
}

func (a *archive) bytes() ([]byte, error) {
	err := errors.Join(a.err, a.w.Close())
	return a.b.Bytes(), err
}
