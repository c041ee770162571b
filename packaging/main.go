// Command packaging makes what a release consists of: `make dist` runs it. The same
// sources, version and time give the same bytes, wherever and whenever it runs. It is
// a module of its own, so that what it is made with stays out of the product's.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"time"
)

// architectures are those that are built for, as Go and Debian name them.
var architectures = []string{"amd64", "arm64"}

// release is what is being made.
type release struct {
	source  string // the root of the sources
	out     string // the folder that is filled
	version string
	time    time.Time // of the commit: the only time that anything bears
	work    string    // a folder for what lies between
}

func main() {
	var r release
	var epoch int64
	flag.StringVar(&r.source, "source", "..", "root of the sources")
	flag.StringVar(&r.out, "out", "../dist", "folder to make; what is there is replaced")
	flag.StringVar(&r.version, "version", "", "version, by the rules of semver.org, without a v")
	flag.Int64Var(&epoch, "epoch", -1, "time of the commit, in seconds since 1970 (SOURCE_DATE_EPOCH)")
	flag.Parse()
	r.time = time.Unix(epoch, 0).UTC()
	if err := r.make(epoch); err != nil {
		fmt.Fprintf(os.Stderr, "packaging: %v\n", err)
		os.Exit(1)
	}
}

// A version becomes part of names of files, and of the versions of Debian and npm.
var semantic = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z]+(\.[0-9A-Za-z]+)*)?$`)

func (r *release) make(epoch int64) (err error) {
	if !semantic.MatchString(r.version) {
		return fmt.Errorf("%q is no version: -version must be like 1.2.3 or 1.2.3-rc.1", r.version)
	}
	if epoch < 0 {
		return errors.New("-epoch must be the time of the commit, in seconds since 1970")
	}
	for _, path := range []*string{&r.source, &r.out} {
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	if r.work, err = os.MkdirTemp("", "latchkey-packaging-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.work)) }()
	if err := errors.Join(os.RemoveAll(r.out), os.MkdirAll(r.out, 0o755)); err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"programs", r.programs},
		{"manual and completion", r.manual},
		{"Debian packages", r.debs},
		{"image", r.image},
		{"bill of materials", r.materials},
		{"npm package", r.npm},
		{"sums", r.sums},
	} {
		fmt.Println("---", step.name)
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

// program is the program for an architecture.
func (r *release) program(architecture string) string {
	return filepath.Join(r.out, "latchkey-"+r.version+"-linux-"+architecture)
}

// plugins are those of seals that need no C: by a TPM, and by a key of a cloud.
var plugins = []string{"age-plugin-lktpm", "age-plugin-lkcloud"}

// plugin is one of them, for an architecture.
func (r *release) plugin(name, architecture string) string {
	return filepath.Join(r.work, name+"-"+architecture)
}

// host is the program that runs here.
func (r *release) host() (string, error) {
	if runtime.GOOS != "linux" {
		return "", errors.New("releases are made on Linux: the program is asked for its manual")
	}
	return r.program(runtime.GOARCH), nil
}

func (r *release) read(path string) ([]byte, error) {
	return os.ReadFile(filepath.Join(r.source, path))
}
