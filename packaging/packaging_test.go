package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/blakesmith/ar"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// begun is a release whose programs and manual are there, without having been built.
func begun(t *testing.T) *release {
	t.Helper()
	r := &release{source: "..", out: t.TempDir(), work: t.TempDir(), version: "1.2.3-rc.1", time: time.Unix(1_700_000_000, 0).UTC()}
	write := func(path string, content []byte) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, architecture := range architectures {
		write(r.program(architecture), []byte("program"))
		for _, name := range plugins {
			write(r.plugin(name, architecture), []byte("plugin"))
		}
	}
	for _, name := range []string{"man/latchkey.1", "man/latchkey.yaml.5", "completion/latchkey.bash", "completion/_latchkey", "completion/latchkey.fish"} {
		write(filepath.Join(r.out, name), []byte(name))
	}
	return r
}

// linked makes this very test stand in for the programs: it is one that Go has linked.
func (r *release) linked() error {
	self, err := os.Executable()
	for _, architecture := range architectures {
		programs := []string{r.program(architecture)}
		for _, name := range plugins {
			programs = append(programs, r.plugin(name, architecture))
		}
		for _, program := range programs {
			err = errors.Join(err, os.Remove(program), os.Symlink(self, program))
		}
	}
	return err
}

func (r *release) finish(t *testing.T) {
	t.Helper()
	for _, step := range []func() error{r.debs, r.image, r.npm, r.linked, r.materials, r.sums} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSame: two releases of the same are the same bytes, whatever the folder and the
// time.
func TestSame(t *testing.T) {
	first, second := begun(t), begun(t)
	first.finish(t)
	time.Sleep(1100 * time.Millisecond) // archives have seconds
	second.finish(t)
	a, err := os.ReadFile(filepath.Join(first.out, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(second.out, "SHA256SUMS"))
	if err != nil || string(a) != string(b) {
		t.Fatalf("the sums differ (%v):\n%s\n%s", err, a, b)
	}
	for _, name := range []string{
		"latchkey-1.2.3-rc.1-linux-amd64", "latchkey_1.2.3-rc.1_arm64.deb", "latchkey-1.2.3-rc.1-oci/index.json",
		"latchkey-1.2.3-rc.1.cdx.json", "latchkey-dev-1.2.3-rc.1.tgz", "man/latchkey.1", "completion/_latchkey",
	} {
		if !strings.Contains(string(a), "  "+name+"\n") {
			t.Errorf("SHA256SUMS lacks %s", name)
		}
	}
}

// entries are those of a compressed tar file, with their modes and owners.
func entries(t *testing.T, packed io.Reader) (all map[string]*tar.Header, contents map[string][]byte) {
	t.Helper()
	unzipped, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	all, contents = map[string]*tar.Header{}, map[string][]byte{}
	for in := tar.NewReader(unzipped); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return all, contents
		}
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(h.Name, "./")
		all[name] = h
		if contents[name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDeb(t *testing.T) {
	r := begun(t)
	if err := r.debs(); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(r.out, "latchkey_1.2.3-rc.1_arm64.deb"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	parts := map[string][]byte{}
	for in := ar.NewReader(file); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if parts[strings.TrimSuffix(h.Name, "/")], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
	}
	_, control := entries(t, bytes.NewReader(parts["control.tar.gz"]))
	for _, line := range []string{"Package: latchkey\n", "Version: 1.2.3~rc.1\n", "Architecture: arm64\n", "Depends: adduser, ca-certificates\n"} {
		if !strings.Contains(string(control["control"]), line) {
			t.Errorf("control lacks %q:\n%s", line, control["control"])
		}
	}
	if got := string(control["conffiles"]); got != "/etc/latchkey/latchkey.yaml\n" {
		t.Errorf("conffiles are %q", got)
	}
	for _, name := range []string{"postinst", "prerm", "postrm"} {
		if !strings.HasPrefix(string(control[name]), "#!/bin/sh\n") {
			t.Errorf("%s is missing", name)
		}
	}
	headers, contents := entries(t, bytes.NewReader(parts["data.tar.gz"]))
	for name, mode := range map[string]int64{
		"usr/bin/latchkey": 0o755, "usr/libexec/latchkey/age-plugin-lktpm": 0o755, "usr/libexec/latchkey/age-plugin-lkcloud": 0o755, "etc/latchkey/latchkey.yaml": 0o600, "usr/lib/systemd/system/latchkey.service": 0o644,
		"usr/share/latchkey/systemd/tpm.conf": 0o644, "usr/share/man/man1/latchkey.1.gz": 0o644, "usr/share/man/man5/latchkey.yaml.5.gz": 0o644,
		"usr/share/bash-completion/completions/latchkey": 0o644, "usr/share/doc/latchkey/copyright": 0o644,
	} {
		h := headers[name]
		if h == nil {
			t.Errorf("%s is missing", name)
		} else if h.Mode != mode || h.Uname != "root" || !h.ModTime.Equal(r.time) {
			t.Errorf("%s: mode %o, of %s, at %v", name, h.Mode, h.Uname, h.ModTime)
		}
	}
	if config := string(contents["etc/latchkey/latchkey.yaml"]); !strings.Contains(config, "masterKey: file:/var/lib/latchkey/master.key\n") {
		t.Error("the installed config does not name the state folder")
	}
}

// TestInstalledConfig: an example that has changed is not installed by half.
func TestInstalledConfig(t *testing.T) {
	if _, err := installedConfig("store:\n  url: sqlite:other.db\n"); err == nil {
		t.Error("an example without the store was taken")
	}
}

func TestImage(t *testing.T) {
	r := begun(t)
	if err := r.image(); err != nil {
		t.Fatal(err)
	}
	folder, err := layout.FromPath(filepath.Join(r.out, "latchkey-1.2.3-rc.1-oci"))
	if err != nil {
		t.Fatal(err)
	}
	outer, err := folder.ImageIndex()
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(outer); err != nil {
		t.Fatal(err)
	}
	list, err := outer.IndexManifest()
	if err != nil || len(list.Manifests) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	index, err := outer.ImageIndex(list.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, m := range manifest.Manifests {
		found = append(found, m.Platform.String())
		image, err := index.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if config.Config.User != "65532:65532" || config.Architecture != m.Platform.Architecture || !config.Created.Equal(r.time) {
			t.Errorf("the image for %s has user %s, architecture %s, time %v", m.Platform, config.Config.User, config.Architecture, config.Created)
		}
		layers, err := image.Layers()
		if err != nil || len(layers) != 1 {
			t.Fatalf("%d layers, %v", len(layers), err)
		}
		packed, err := layers[0].Compressed()
		if err != nil {
			t.Fatal(err)
		}
		headers, contents := entries(t, packed)
		if h := headers["var/lib/latchkey/"]; h == nil || h.Uid != imageUser || h.Mode != 0o700 {
			t.Errorf("the state folder is %+v", h)
		}
		if h := headers["usr/bin/latchkey"]; h == nil || h.Uid != 0 || h.Mode != 0o755 {
			t.Errorf("the program is %+v", h)
		}
		if pool := x509.NewCertPool(); !pool.AppendCertsFromPEM(contents["etc/ssl/certs/ca-certificates.crt"]) {
			t.Error("the image trusts no one")
		}
	}
	if !slices.Equal(found, []string{"linux/amd64", "linux/arm64"}) {
		t.Errorf("images for %v", found)
	}
}

func TestAuthorities(t *testing.T) {
	n := 0
	for rest := authorities(); ; n++ {
		block, after := pem.Decode(rest)
		if block == nil {
			break
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			t.Error(err)
		}
		rest = after
	}
	if n < 50 {
		t.Errorf("only %d authorities", n)
	}
}

func TestMaterials(t *testing.T) {
	r := begun(t)
	if err := errors.Join(r.linked(), r.materials()); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(r.out, "latchkey-1.2.3-rc.1.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(file, cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, c := range *bom.Components {
		if listed[c.BOMRef] {
			t.Errorf("%s is listed twice", c.BOMRef)
		}
		listed[c.BOMRef] = true
		if c.Version == "" {
			t.Errorf("%s has no version", c.Name)
		}
	}
	// What this test itself is linked from, the library of Go, and the pages.
	for _, prefix := range []string{"pkg:golang/github.com/goreleaser/nfpm/v2@v2.", "pkg:golang/std@1.", "pkg:npm/preact@", "pkg:npm/%40preact/signals@"} {
		if !slices.ContainsFunc(*bom.Components, func(c cdx.Component) bool { return strings.HasPrefix(c.PackageURL, prefix) }) {
			t.Errorf("nothing is listed as %s…", prefix)
		}
	}
}

func TestNPM(t *testing.T) {
	r := begun(t)
	if err := r.npm(); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(r.out, "latchkey-dev-1.2.3-rc.1.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	headers, contents := entries(t, file)
	for name, mode := range map[string]int64{
		"package/bin/latchkey-dev.js": 0o755, "package/bin/linux-amd64/latchkey": 0o755, "package/bin/linux-arm64/latchkey": 0o755,
		"package/index.js": 0o644, "package/README.md": 0o644, "package/LICENSE": 0o644,
	} {
		if h := headers[name]; h == nil || h.Mode != mode {
			t.Errorf("%s is %+v", name, h)
		}
	}
	var manifest struct {
		Version string            `json:"version"`
		Exports map[string]any    `json:"exports"`
		Bin     map[string]string `json:"bin"`
	}
	if err := json.Unmarshal(contents["package/package.json"], &manifest); err != nil || manifest.Version != "1.2.3-rc.1" {
		t.Errorf("package.json: %+v, %v", manifest, err)
	}
}

// TestVersions: what is no version becomes part of no name.
func TestVersions(t *testing.T) {
	for version, ok := range map[string]bool{
		"1.2.3": true, "0.0.0-dev.20261116.gabc": true, "1.2.3-rc.1": true,
		"": false, "v1.2.3": false, "1.2": false, "1.2.3/..": false, "1.2.3 4": false, "1.2.3\n": false,
	} {
		if semantic.MatchString(version) != ok {
			t.Errorf("%q", version)
		}
	}
	if err := (&release{version: "v1", out: t.TempDir()}).make(0); err == nil {
		t.Error("a release was made without a version")
	}
	if err := (&release{version: "1.2.3", out: t.TempDir()}).make(-1); err == nil {
		t.Error("a release was made without a time")
	}
}
