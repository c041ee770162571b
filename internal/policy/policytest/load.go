package policytest

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/ops"
	"latchkey/internal/schema"
	"latchkey/internal/velocity"
)

// File is a file that was read without mistakes.
type File struct {
	Path     string
	Policies []FilePolicy
	// Controls are the velocity controls, each with an identifier of its own.
	Controls []ops.CreateVelocityControlParams
	Cases    []Case

	controls []*velocity.Control // the same, as an organization would have them
	content  fileContent
	catalog  *activity.Catalog // nil without cases
	// The organization.
	quorum      domain.Quorum
	users       []*domain.User
	tags        []*domain.Tag
	wallets     []*domain.Wallet
	accounts    []*domain.WalletAccount
	privateKeys []*domain.PrivateKey
	contracts   []*domain.ContractInterface
	// names are what placeholders may stand for, by kind and name.
	names map[string]map[string]namedValue
	// labels turns ids back into the names that the file gives them.
	labels *strings.Replacer
}

// maxFile bounds what is read, so that a wrong path (a device, a database) is a
// message and not an exhausted memory.
const maxFile = 4 << 20

// Load reads a file. Mistakes in it are returned as [*Error].
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
// files that it names. Mistakes are returned as [*Error].
func Parse(path string, data []byte, read func(name string) ([]byte, error)) (*File, error) {
	content := schema.Of[fileContent]()
	r := &reader{
		File: &File{Path: path, names: map[string]map[string]namedValue{}}, read: read,
		taken: map[string]bool{},
	}
	// The mistakes of a step mean nothing while the step before has some.
	for _, step := range []func(){
		func() { r.document(data, keysOf(content)) },
		func() { r.decode(content) },
		func() { r.readUsers(); r.readWallets(); r.readInterfaces(); r.readControls() },
		func() { r.readPolicies(); r.readCases() },
	} {
		step()
		if len(r.mistakes) > 0 {
			return nil, &Error{File: path, Mistakes: sorted(r.mistakes)}
		}
	}
	r.File.labels = r.placeholders()
	return r.File, nil
}

// readControls takes the velocity controls over, which their own rules have checked.
func (r *reader) readControls() {
	r.Controls = r.content.VelocityControls
	for i, c := range r.Controls {
		at := "velocityControls." + strconv.Itoa(i)
		r.reserve("control "+c.Identifier, join(at, "identifier"), "the velocity control "+c.Identifier)
		compiled, err := velocity.Compile(&domain.VelocityControl{
			ID: madeUpID("control", i, c.Identifier), Name: c.Name, Identifier: c.Identifier,
			DataSource: c.DataSource, Aggregate: c.Aggregation, CreatedAt: epoch,
		})
		if err != nil {
			r.reportPath(at, "%v", err)
			continue
		}
		r.controls = append(r.controls, compiled)
	}
}

// reader reads one file.
type reader struct {
	*File
	read     func(name string) ([]byte, error)
	root     *yaml.Node
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

// decode reads the content by the rules of its tags.
func (r *reader) decode(s *schema.Schema) {
	text := r.json(nil, r.root, "", nil)
	if len(r.mistakes) > 0 {
		return
	}
	for _, problem := range s.Decode(text, &r.content) {
		r.reportPath(problem.Path, "%s", problem.Description)
	}
}

// reportLine reports a mistake on a line.
func (r *reader) reportLine(line int, format string, args ...any) {
	// A node that is not in the text has no line.
	r.mistakes = append(r.mistakes, Mistake{Line: max(line, 1), Message: fmt.Sprintf(format, args...)})
}

// reportPath reports a mistake in the value at a path.
func (r *reader) reportPath(path, format string, args ...any) {
	r.reportLine(nodeAt(r.root, path).Line, "%s: %s", cmp.Or(path, "the file"), fmt.Sprintf(format, args...))
}

// reserve reports a mistake if the key is in use already.
func (r *reader) reserve(key, path, what string) {
	if r.taken[key] {
		r.reportPath(path, "%s is given twice in the file", what)
	}
	r.taken[key] = true
}
