package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const npmFolder = "packages/latchkey-dev"

// npm packs latchkey-dev, with the programs in it.
func (r *release) npm() error {
	manifest, names, err := r.npmManifest()
	if err != nil {
		return err
	}
	contents := map[string][]byte{"package.json": manifest}
	for _, name := range names {
		from := filepath.Join(npmFolder, name)
		if name == "LICENSE" {
			from = name
		}
		if contents[name], err = r.read(from); err != nil {
			return err
		}
	}
	for _, architecture := range architectures {
		if contents["bin/linux-"+architecture+"/latchkey"], err = os.ReadFile(r.program(architecture)); err != nil {
			return err
		}
	}
	a := newArchive(r.time)
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		mode := os.FileMode(0o644)
		if strings.HasPrefix(name, "bin/") {
			mode = 0o755
		}
		a.file("package/"+name, mode, contents[name])
	}
	packed, err := a.bytes()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, "latchkey-dev-"+r.version+".tgz"), zipped(packed), 0o644)
}

// npmManifest is package.json with the version, and the files that it lists.
func (r *release) npmManifest() (manifest []byte, names []string, err error) {
	manifest, err = r.read(filepath.Join(npmFolder, "package.json"))
	if err != nil {
		return nil, nil, err
	}
	const placeholder = `"version": "0.0.0"`
	if strings.Count(string(manifest), placeholder) != 1 {
		return nil, nil, fmt.Errorf("package.json of latchkey-dev does not have %s once", placeholder)
	}
	manifest = []byte(strings.Replace(string(manifest), placeholder, fmt.Sprintf(`"version": %q`, r.version), 1))
	var listed struct {
		Files []string          `json:"files"`
		Bin   map[string]string `json:"bin"`
	}
	if err := json.Unmarshal(manifest, &listed); err != nil {
		return nil, nil, err
	}
	names = slices.DeleteFunc(listed.Files, func(name string) bool { return name == "bin" })
	for _, path := range listed.Bin {
		names = append(names, path)
	}
	if len(names) < 2 {
		err = errors.New("package.json of latchkey-dev lists no files")
	}
	return manifest, names, err
}
