package main

import (
	"bytes"
	"encoding/pem"
	"io"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// The user in images: no one, on any system.
const imageUser = 65532

// image makes an OCI layout with an image for each architecture: the program, the
// authorities that it trusts, a user, and folders for its data. There is no shell.
func (r *release) image() error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, architecture := range architectures {
		image, err := r.imageFor(architecture)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: architecture}},
		})
	}
	folder, err := layout.Write(filepath.Join(r.out, "latchkey-"+r.version+"-oci"), empty.Index)
	if err != nil {
		return err
	}
	return folder.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": r.version}))
}

func (r *release) imageFor(architecture string) (v1.Image, error) {
	content, err := r.layer(architecture)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if image, err = mutate.AppendLayers(image, layer); err != nil {
		return nil, err
	}
	return mutate.ConfigFile(image, r.imageConfig(architecture, image))
}

func (r *release) imageConfig(architecture string, image v1.Image) *v1.ConfigFile {
	config, _ := image.ConfigFile() // it is in memory
	config = config.DeepCopy()
	config.Architecture, config.OS, config.Created = architecture, "linux", v1.Time{Time: r.time}
	for i := range config.History {
		config.History[i] = v1.History{Created: v1.Time{Time: r.time}, CreatedBy: "latchkey " + r.version}
	}
	config.Config = v1.Config{
		User:         "65532:65532",
		Entrypoint:   []string{"/usr/bin/latchkey"},
		Cmd:          []string{"serve", "--config", "/etc/latchkey/latchkey.yaml"},
		Env:          []string{"PATH=/usr/bin"},
		WorkingDir:   "/var/lib/latchkey",
		Volumes:      map[string]struct{}{"/var/lib/latchkey": {}},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}},
		StopSignal:   "SIGTERM",
		Labels: map[string]string{
			"org.opencontainers.image.title": "latchkey", "org.opencontainers.image.version": r.version,
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return config
}

// layer is the only one of an image.
func (r *release) layer(architecture string) ([]byte, error) {
	program, err := os.ReadFile(r.program(architecture))
	if err != nil {
		return nil, err
	}
	example, err := r.read(exampleConfig)
	if err != nil {
		return nil, err
	}
	config, err := installedConfig(string(example))
	if err != nil {
		return nil, err
	}
	a := newArchive(r.time)
	a.folder("etc", 0o755, 0)
	a.folder("etc/latchkey", 0o755, 0)
	a.file("etc/latchkey/latchkey.yaml", 0o644, []byte(config))
	a.file("etc/passwd", 0o644, []byte("root:x:0:0::/:/nonexistent\nlatchkey:x:65532:65532::/var/lib/latchkey:/nonexistent\n"))
	a.file("etc/group", 0o644, []byte("root:x:0:\nlatchkey:x:65532:\n"))
	a.folder("etc/ssl", 0o755, 0)
	a.folder("etc/ssl/certs", 0o755, 0)
	a.file("etc/ssl/certs/ca-certificates.crt", 0o644, authorities())
	a.folder("tmp", 0o1777, 0)
	a.folder("usr", 0o755, 0)
	a.folder("usr/bin", 0o755, 0)
	a.file("usr/bin/latchkey", 0o755, program)
	a.folder("var", 0o755, 0)
	a.folder("var/lib", 0o755, 0)
	a.folder("var/lib/latchkey", 0o700, imageUser)
	return a.bytes()
}

// authorities are those of Mozilla's list that are trusted without a condition; a
// condition cannot be written into a file of certificates.
func authorities() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // to memory
		}
	}
	return b.Bytes()
}
