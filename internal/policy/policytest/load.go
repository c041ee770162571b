package policytest

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// File is a file that was read and has no mistakes.
type File struct {
	Path     string
	Policies []Policy
	Cases    []Case

	content content
	catalog *activity.Catalog // nil without cases
	// The organization.
	quorum      domain.Quorum
	users       []*domain.User
	tags        []*domain.Tag
	wallets     []*domain.Wallet
	accounts    []*domain.WalletAccount
	privateKeys []*domain.PrivateKey
	contracts   []*domain.ContractInterface
	// labels turns ids back into the names that the file gives them.
	labels *strings.Replacer
}

// maxFile bounds what is read, so that a wrong path (a device, a database) is a
// message and not an exhausted memory.
const maxFile = 4 << 20

// Load reads a file. A mistake in it is returned as *Error.
func Load(path string) (*File, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, data, func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(path), name)
		}
		return readFile(name)
	})
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%s is larger than %d MiB", path, maxFile>>20)
	}
	return data, err
}

// Parse reads data as the content of the file called path. read returns the
// files that it names. A mistake is returned as *Error.
func Parse(path string, data []byte, read func(name string) ([]byte, error)) (*File, error) {
	shape := schema.Of[content]()
	r := &reader{
		File: &File{Path: path}, read: read,
		names: map[string]map[string]named{}, taken: map[string]bool{},
	}
	// What a later step says means nothing while an earlier one is in doubt.
	for _, step := range []func(){
		func() { r.document(data, keysOf(shape)) },
		func() { r.shape(shape) },
		func() { r.readUsers(); r.readWallets(); r.interfaces() },
		func() { r.policies(); r.cases() },
	} {
		step()
		if len(r.mistakes) > 0 {
			return nil, &Error{File: path, Mistakes: inOrder(r.mistakes)}
		}
	}
	r.File.labels = r.labeller()
	return r.File, nil
}

// reader reads one file.
type reader struct {
	*File
	read     func(name string) ([]byte, error)
	root     *yaml.Node
	names    map[string]map[string]named
	taken    map[string]bool // ids, credentials and addresses that are in use
	mistakes []Mistake
}

// keysOf lists the known keys of every mapping.
func keysOf(s *schema.Schema) map[string][]string {
	keys := map[string][]string{}
	s.Walk(func(p schema.Property) {
		if !p.Element {
			keys[p.Parent] = append(keys[p.Parent], p.Name)
		}
	})
	return keys
}

// shape decodes the content by the rules of its tags.
func (r *reader) shape(s *schema.Schema) {
	text := r.json(nil, r.root, "", nil)
	if len(r.mistakes) > 0 {
		return
	}
	for _, problem := range s.Decode(text, &r.content) {
		r.wrong(problem.Path, "%s", problem.Description)
	}
}

// at reports a mistake on a line.
func (r *reader) at(line int, format string, args ...any) {
	// What the YAML reader made up has no line.
	r.mistakes = append(r.mistakes, Mistake{Line: max(line, 1), Message: fmt.Sprintf(format, args...)})
}

// wrong reports a mistake in the value that a path leads to.
func (r *reader) wrong(path, format string, args ...any) {
	r.at(find(r.root, path).Line, "%s: %s", cmp.Or(path, "the file"), fmt.Sprintf(format, args...))
}

// twice takes something, and reports that it was taken already.
func (r *reader) twice(key, path, what string) {
	if r.taken[key] {
		r.wrong(path, "%s is given twice in the file", what)
	}
	r.taken[key] = true
}
