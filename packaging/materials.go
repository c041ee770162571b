package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// materials writes what the programs are made of, as CycloneDX: the modules of Go that
// are linked into them, the library of Go itself, and the packages that are bundled into
// the pages. It is the same for all architectures, or an error.
func (r *release) materials() error {
	var linked []cdx.Component
	for i, architecture := range architectures {
		found, err := modules(r.program(architecture))
		if err != nil {
			return err
		}
		for _, name := range plugins {
			more, err := modules(r.plugin(name, architecture))
			if err != nil {
				return err
			}
			for _, m := range more {
				if !slices.ContainsFunc(found, func(c cdx.Component) bool { return c.BOMRef == m.BOMRef }) {
					found = append(found, m)
				}
			}
		}
		if i > 0 && !slices.EqualFunc(found, linked, func(a, b cdx.Component) bool { return a.BOMRef == b.BOMRef }) {
			return fmt.Errorf("the program for %s is made of other modules than that for %s", architecture, architectures[0])
		}
		linked = found
	}
	bundled, err := r.packages()
	if err != nil {
		return err
	}
	components := append(linked, bundled...)
	var uses []string
	for _, c := range components {
		uses = append(uses, c.BOMRef)
	}
	self := component("golang", "latchkey", r.version)
	self.Type = cdx.ComponentTypeApplication
	self.Licenses = &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}}
	bom := cdx.NewBOM()
	bom.SpecVersion = cdx.SpecVersion1_6
	bom.JSONSchema = "http://cyclonedx.org/schema/bom-1.6.schema.json"
	bom.SerialNumber = r.serial(components)
	bom.Metadata = &cdx.Metadata{Timestamp: r.time.Format(time.RFC3339), Component: &self}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: self.BOMRef, Dependencies: &uses}}
	var b bytes.Buffer
	if err := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, "latchkey-"+r.version+".cdx.json"), b.Bytes(), 0o644)
}

// modules are those that a program was linked from.
func modules(program string) ([]cdx.Component, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	found := []cdx.Component{component("golang", "std", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = &debug.Module{Path: dep.Replace.Path, Version: dep.Replace.Version}
		}
		found = append(found, component("golang", dep.Path, dep.Version))
	}
	return found, nil
}

// packages are those that the pages are built from.
func (r *release) packages() (found []cdx.Component, err error) {
	text, err := r.read("console/package-lock.json")
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct {
			Version string `json:"version"`
			Dev     bool   `json:"dev"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(lock.Packages)) {
		p := lock.Packages[path]
		i := strings.LastIndex(path, "node_modules/")
		if i < 0 || p.Dev {
			continue
		}
		c := component("npm", path[i+len("node_modules/"):], p.Version)
		if !seen[c.BOMRef] {
			found = append(found, c)
		}
		seen[c.BOMRef] = true
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("console/package-lock.json has no packages")
	}
	return found, nil
}

func component(kind, name, version string) cdx.Component {
	// https://github.com/package-url/purl-spec
	url := "pkg:" + kind + "/" + strings.ReplaceAll(name, "@", "%40") + "@" + strings.ReplaceAll(version, "+", "%2B")
	return cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: name, Version: version, PackageURL: url}
}

// serial is a UUID that follows from what is listed.
func (r *release) serial(components []cdx.Component) string {
	h := sha256.New()
	fmt.Fprintln(h, r.version, r.time.Unix())
	for _, c := range components {
		fmt.Fprintln(h, c.BOMRef)
	}
	id := h.Sum(nil)[:16]
	id[6] = id[6]&0x0f | 0x80 // version 8: of one's own making (RFC 9562)
	id[8] = id[8]&0x3f | 0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
