// Command console builds the pages for people: it bundles console/src into
// internal/console/dist and console/frames into internal/frames/dist, and writes the
// types of the interface for them. It runs in the root of the repository, and needs
// the packages of console/package-lock.json, but no Node.
//
//	console [-check]
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

const (
	source  = "console"
	typesIn = "internal/request/ops/testdata/openapi.golden.json"
	typesTo = source + "/src/client"
	// fieldsIn is where docgen writes the fields of policies.
	fieldsIn = "docs/policy-language.md"
	fieldsTo = source + "/src/screens/policies/fields.ts"
)

// site is a set of pages that share their files.
type site struct {
	target  string // where the built files go
	address string // where the server has them
	pages   []page
}

// page is built of a template and the script that it loads.
type page struct{ name, template, script string }

var sites = []site{
	{target: "internal/console/dist", address: "/console/", pages: []page{{"index.html", "index.html", "src/main.tsx"}}},
	{target: "internal/frames/dist", address: "/", pages: []page{
		frame("auth"), frame("export"), frame("import"), frame("export-and-sign"),
	}},
}

func frame(name string) page {
	return page{name: name + ".html", template: "frames/index.html", script: "frames/" + name + ".ts"}
}

func main() {
	check := flag.Bool("check", false, "compare with what is there, and write nothing")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "console:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	types, err := interfaceTypes(typesIn)
	if err != nil {
		return err
	}
	generated := map[string][]byte{}
	for name, text := range types {
		generated[filepath.Join(typesTo, name)] = text
	}
	if generated[fieldsTo], err = policyFields(fieldsIn); err != nil {
		return err
	}
	for name, text := range generated {
		if err := put(name, text, check); err != nil {
			return err
		}
	}
	for _, s := range sites {
		if err := s.build(check); err != nil {
			return err
		}
	}
	return nil
}

func (s site) build(check bool) error {
	files, err := s.bundle()
	if err != nil {
		return err
	}
	stale, err := s.leftOver(files)
	if err != nil {
		return err
	}
	if check && len(stale) > 0 {
		return fmt.Errorf("%s is of another build: run make console", stale[0])
	}
	for _, name := range stale {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	for name, text := range files {
		if err := put(filepath.Join(s.target, name), text, check); err != nil {
			return err
		}
	}
	return nil
}

// put writes a file, or says that it is not current.
func put(name string, text []byte, check bool) error {
	if check {
		there, err := os.ReadFile(name)
		if err != nil || !bytes.Equal(there, text) {
			return fmt.Errorf("%s is not current: run make console", name)
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o644)
}

// leftOver lists the files that a build before has left.
func (s site) leftOver(files map[string][]byte) (names []string, err error) {
	err = filepath.WalkDir(s.target, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(s.target, path)
		if err == nil && files[name] == nil {
			names = append(names, path)
		}
		return err
	})
	return names, err
}

// bundle builds the files of the target, by their names.
func (s site) bundle() (map[string][]byte, error) {
	folder, err := filepath.Abs(source)
	if err != nil {
		return nil, err
	}
	var scripts []string
	for _, p := range s.pages {
		scripts = append(scripts, p.script)
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: folder,
		EntryPoints:   scripts,
		Outdir:        "out", PublicPath: s.address,
		EntryNames: "assets/[name]-[hash]", ChunkNames: "assets/[name]-[hash]", AssetNames: "assets/[name]-[hash]",
		Bundle: true, Splitting: true, Format: api.FormatESModule, Platform: api.PlatformBrowser,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		Engines:  []api.Engine{{Name: api.EngineChrome, Version: "111"}, {Name: api.EngineFirefox, Version: "114"}, {Name: api.EngineSafari, Version: "16.4"}},
		JSX:      api.JSXAutomatic,
		Loader:   map[string]api.Loader{".svg": api.LoaderDataURL},
		Metafile: true, LegalComments: api.LegalCommentsNone, Charset: api.CharsetUTF8, LogLevel: api.LogLevelWarning,
		JSXImportSource: "preact",
		Define:          map[string]string{"process.env.NODE_ENV": `"production"`},
	})
	if len(result.Errors) > 0 {
		return nil, fmt.Errorf("%d errors", len(result.Errors))
	}
	files := map[string][]byte{}
	for _, f := range result.OutputFiles {
		name, err := filepath.Rel(filepath.Join(folder, "out"), f.Path)
		if err != nil {
			return nil, err
		}
		files[name] = f.Contents
	}
	var meta metafile
	if err := json.Unmarshal([]byte(result.Metafile), &meta); err != nil {
		return nil, err
	}
	for _, p := range s.pages {
		if files[p.name], err = s.render(p, folder, &meta); err != nil {
			return nil, err
		}
	}
	files["LICENSES.txt"], err = licences(folder, &meta)
	return files, err
}

// metafile is what esbuild says of its output.
type metafile struct {
	Inputs  map[string]json.RawMessage `json:"inputs"`
	Outputs map[string]struct {
		EntryPoint string `json:"entryPoint"`
		CSSBundle  string `json:"cssBundle"`
		Imports    []struct {
			Path string `json:"path"`
			Kind string `json:"kind"`
		} `json:"imports"`
	} `json:"outputs"`
}

// render names the built files in the page: the script, its styles, and the parts
// that the script imports at once.
func (s site) render(p page, folder string, meta *metafile) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(folder, p.template))
	if err != nil {
		return nil, err
	}
	for name, output := range meta.Outputs {
		if output.EntryPoint != p.script {
			continue
		}
		var head strings.Builder
		address := func(name string) string { return s.address + strings.TrimPrefix(name, "out/") }
		fmt.Fprintf(&head, "<link rel=\"stylesheet\" href=\"%s\">\n", address(output.CSSBundle))
		for _, i := range output.Imports {
			if i.Kind == "import-statement" {
				fmt.Fprintf(&head, "    <link rel=\"modulepreload\" href=\"%s\">\n", address(i.Path))
			}
		}
		fmt.Fprintf(&head, "    <script type=\"module\" src=\"%s\"></script>", address(name))
		return bytes.Replace(text, []byte("<!-- built files -->"), []byte(head.String()), 1), nil
	}
	return nil, fmt.Errorf("esbuild wrote nothing for %s", p.script)
}

// licences gathers the licences of the packages that are in the bundle.
func licences(folder string, meta *metafile) ([]byte, error) {
	packages := map[string]bool{}
	for input := range meta.Inputs {
		_, rest, ok := strings.Cut(input, "node_modules/")
		if !ok {
			continue
		}
		parts := strings.SplitN(rest, "/", 3)
		name := parts[0]
		if strings.HasPrefix(name, "@") {
			name += "/" + parts[1]
		}
		packages[name] = true
	}
	var all bytes.Buffer
	var names []string
	for name := range packages {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		found, err := filepath.Glob(filepath.Join(folder, "node_modules", name, "LICENSE*"))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&all, "%s\n\n", name)
		for _, file := range found {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			all.Write(bytes.TrimSpace(text))
			all.WriteString("\n\n")
		}
		if len(found) == 0 {
			var about struct {
				License string `json:"license"`
			}
			text, err := os.ReadFile(filepath.Join(folder, "node_modules", name, "package.json"))
			if err != nil {
				return nil, err
			}
			if err := json.Unmarshal(text, &about); err != nil {
				return nil, err
			}
			fmt.Fprintf(&all, "%s\n\n", about.License)
		}
	}
	return all.Bytes(), nil
}
