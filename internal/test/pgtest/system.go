package pgtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// dirPrefix is followed by the id of the process that made the folder.
const dirPrefix = "latchkey-postgres-"

// minVersion is what Latchkey supports.
const minVersion = 15

var errNotFound = fmt.Errorf("PostgreSQL %d or newer is needed and was not found: "+
	"install the Debian package postgresql (apt-get install postgresql), or put initdb and postgres in PATH", minVersion)

// Programs returns the folder of the newest initdb and postgres.
func Programs() (string, error) {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.SortFunc(dirs, func(a, b string) int { return versionOf(b) - versionOf(a) })
	if p, err := exec.LookPath("initdb"); err == nil {
		// The other programs are beside the real one.
		if real, err := filepath.EvalSymlinks(p); err == nil {
			p = real
		}
		dirs = append([]string{filepath.Dir(p)}, dirs...)
	}
	for _, dir := range dirs {
		out, err := exec.Command(filepath.Join(dir, "postgres"), "--version").Output()
		if err != nil {
			continue
		}
		// postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)
		if f := strings.Fields(string(out)); len(f) >= 3 {
			major, _, _ := strings.Cut(f[2], ".")
			if n, err := strconv.Atoi(major); err == nil && n >= minVersion {
				return dir, nil
			}
		}
	}
	return "", errNotFound
}

// versionOf reads the number in /usr/lib/postgresql/15/bin.
func versionOf(bin string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(bin)))
	return n
}

// Credential is that of a user of this machine.
func Credential(name string) (*syscall.Credential, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL does not run as root, and there is no other user for it: %w", err)
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// removeStale removes the folders of test processes that were killed.
func removeStale() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), dirPrefix+"*"))
	for _, dir := range dirs {
		id, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), dirPrefix), "-")
		if pid, err := strconv.Atoi(id); err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			_ = os.RemoveAll(dir)
		}
	}
}

// ChildrenOf lists the processes whose parent is pid. PostgreSQL's children
// lead sessions of their own, so there is no group to signal.
func ChildrenOf(pid int) (children []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		child, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if f := stat(child); len(f) > 1 && f[1] == strconv.Itoa(pid) {
			children = append(children, child)
		}
	}
	return children
}

// stat returns the fields of /proc/pid/stat after the name: state, parent, ...
func stat(pid int) []string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	_, rest, _ := strings.Cut(string(b[strings.LastIndexByte(string(b), ')')+1:]), " ")
	return strings.Fields(rest)
}
