package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
)

const exampleConfig = "deploy/latchkey.example.yaml"

// debs makes the packages for Debian and what is built on it.
func (r *release) debs() error {
	for _, architecture := range architectures {
		if err := r.deb(architecture); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) deb(architecture string) (err error) {
	contents, err := r.debContents(architecture)
	if err != nil {
		return err
	}
	script := func(name string) string { return filepath.Join(r.source, "deploy/debian", name) }
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "latchkey", Arch: architecture, Platform: "linux",
		Version: r.version, MTime: r.time,
		Section: "net", Priority: "optional", License: "Apache-2.0",
		Maintainer: "The Latchkey authors <latchkey@localhost>",
		Description: "self-hosted wallet and access control\n" +
			"One program that keeps keys, decides by policies who may use them, and signs.",
		DisableGlobbing: true,
		Overridables: nfpm.Overridables{
			Depends:    []string{"adduser", "ca-certificates"},
			Recommends: []string{"systemd"},
			Suggests:   []string{"postgresql (>= 15)"},
			Contents:   contents,
			Umask:      0o022,
			Scripts:    nfpm.Scripts{PostInstall: script("postinst"), PreRemove: script("prerm"), PostRemove: script("postrm")},
			Deb:        nfpm.Deb{Compression: "gzip:9"},
		},
	})
	file, err := os.Create(filepath.Join(r.out, "latchkey_"+r.version+"_"+architecture+".deb"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return deb.Default.Package(info, file)
}

// debContents is what the package holds.
func (r *release) debContents(architecture string) (contents files.Contents, err error) {
	add := func(from, to string, mode fs.FileMode, kind string) {
		contents = append(contents, &files.Content{
			Source: from, Destination: to, Type: kind,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: r.time},
		})
	}
	made := func(name string, text []byte) string {
		path := filepath.Join(r.work, name)
		err = errors.Join(err, os.WriteFile(path, text, 0o600))
		return path
	}
	add(r.program(architecture), "/usr/bin/latchkey", 0o755, "")
	for _, name := range plugins {
		add(r.plugin(name, architecture), "/usr/libexec/latchkey/"+name, 0o755, "")
	}
	add(filepath.Join(r.source, "deploy/systemd/latchkey.service"), "/usr/lib/systemd/system/latchkey.service", 0o644, "")
	for _, name := range []string{"tpm.conf", "vendor-library.conf"} {
		add(filepath.Join(r.source, "deploy/systemd", name), "/usr/share/latchkey/systemd/"+name, 0o644, "")
	}
	example, failed := r.read(exampleConfig)
	config, alsoFailed := installedConfig(string(example))
	if err := errors.Join(failed, alsoFailed); err != nil {
		return nil, err
	}
	// It may get a password. Its group is set after the group was made.
	add(made("latchkey.yaml", []byte(config)), "/etc/latchkey/latchkey.yaml", 0o600, files.TypeConfig)
	for name, folder := range map[string]string{
		"latchkey.bash": "/usr/share/bash-completion/completions/latchkey",
		"_latchkey":     "/usr/share/zsh/vendor-completions/_latchkey",
		"latchkey.fish": "/usr/share/fish/vendor_completions.d/latchkey.fish",
	} {
		add(filepath.Join(r.out, "completion", name), folder, 0o644, "")
	}
	pages, failed := os.ReadDir(filepath.Join(r.out, "man"))
	if failed != nil {
		return nil, failed
	}
	for _, page := range pages {
		text, failed := os.ReadFile(filepath.Join(r.out, "man", page.Name()))
		if failed != nil {
			return nil, failed
		}
		section := strings.TrimPrefix(filepath.Ext(page.Name()), ".")
		add(made(page.Name()+".gz", zipped(text)), "/usr/share/man/man"+section+"/"+page.Name()+".gz", 0o644, "")
	}
	changes, failed := r.read("CHANGELOG.md")
	if failed != nil {
		return nil, failed
	}
	add(made("changelog.gz", zipped(changes)), "/usr/share/doc/latchkey/changelog.gz", 0o644, "")
	add(filepath.Join(r.source, "LICENSE"), "/usr/share/doc/latchkey/copyright", 0o644, "")
	return contents, err
}

// installedConfig is the example config with the folder of an installation.
func installedConfig(example string) (string, error) {
	for _, change := range [][2]string{
		{"  url: sqlite:latchkey.db\n", "  url: sqlite:/var/lib/latchkey/latchkey.db\n"},
		{"\nmasterKey: file:master.key\n", "\nmasterKey: file:/var/lib/latchkey/master.key\n"},
	} {
		if strings.Count(example, change[0]) != 1 {
			return "", fmt.Errorf("%s does not have %q once", exampleConfig, strings.TrimSpace(change[0]))
		}
		example = strings.Replace(example, change[0], change[1], 1)
	}
	return example, nil
}

func zipped(text []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is one
	_, _ = w.Write(text)                                  // to memory
	_ = w.Close()
	return b.Bytes()
}
