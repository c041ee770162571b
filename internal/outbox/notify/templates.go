package notify

import (
	"embed"
	"errors"
	"fmt"
	htmltemplate "html/template"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	texttemplate "text/template"

	"latchkey/internal/suggest"
)

//go:embed templates
var defaults embed.FS

// A template's file is named KIND.PART.
const (
	partSubject = ".subject.txt"
	partText    = ".txt"
	partHTML    = ".html"
)

// maxTemplate keeps out a file that is no template.
const maxTemplate = 256 << 10

// Templates are the texts of all messages: the built-in ones, each replaced by
// the operator's file of the same name. Every template that is loaded has been
// executed with and without each optional variable, and shows the secret that
// its message is for.
type Templates struct {
	files map[string]executor
}

type executor interface {
	Execute(w io.Writer, data any) error
}

// TemplateFiles are the names of the files that can be replaced.
func TemplateFiles() []string {
	var all []string
	for _, k := range []Kind{OTPEmail, EmailAuth, EmailRecovery, Invitation} {
		for _, part := range []string{partSubject, partText, partHTML} {
			all = append(all, string(k)+part)
		}
	}
	return append(all, string(OTPSMS)+partText)
}

// LoadTemplates reads the operator's files in dir; "" is none. It reports every
// mistake at once, each with the name of its file: a name that is none of
// [TemplateFiles], a template that does not parse, an unknown variable, a text
// that leaves the code or bundle out. Names that begin with a dot are ignored.
func LoadTemplates(dir string) (*Templates, error) {
	t := &Templates{files: map[string]executor{}}
	for _, name := range TemplateFiles() {
		text, err := defaults.ReadFile("templates/" + name)
		if err != nil {
			return nil, err
		}
		if err := t.add(name, string(text)); err != nil {
			return nil, err
		}
	}
	if dir == "" {
		return t, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("templates: %w", err)
	}
	var mistakes []error
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if err := t.override(dir, e.Name()); err != nil {
			mistakes = append(mistakes, fmt.Errorf("template %s: %w", filepath.Join(dir, e.Name()), err))
		}
	}
	if err := errors.Join(mistakes...); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Templates) override(dir, name string) error {
	known := TemplateFiles()
	if !slices.Contains(known, name) {
		if guess := suggest.Name(name, 4, known); guess != "" {
			return fmt.Errorf("there is no template of this name; is %s meant?", guess)
		}
		return fmt.Errorf("there is no template of this name; the names are %s", strings.Join(known, ", "))
	}
	// Not the entry's own type: a mounted folder may hold symbolic links.
	path := filepath.Join(dir, name)
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("it must be a file")
	case info.Size() > maxTemplate:
		return fmt.Errorf("it must have at most %d KiB", maxTemplate>>10)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return t.add(name, string(text))
}

func (t *Templates) add(name, text string) error {
	parsed, err := parse(name, text)
	if err != nil {
		return err
	}
	for _, d := range samples(kindOf(name)) {
		if err := try(name, parsed, d); err != nil {
			return err
		}
	}
	t.files[name] = parsed
	return nil
}

// parse makes a missing variable of the client an empty text: a client may
// leave out what the operator's template would like to show.
func parse(name, text string) (executor, error) {
	const option = "missingkey=zero"
	if strings.HasSuffix(name, partHTML) {
		return htmltemplate.New(name).Option(option).Parse(text)
	}
	return texttemplate.New(name).Option(option).Parse(text)
}

func kindOf(file string) Kind {
	kind, _, _ := strings.Cut(file, ".")
	return Kind(kind)
}

// try executes a template once and says what is wrong with the outcome.
func try(name string, e executor, d *data) error {
	var out strings.Builder
	if err := e.Execute(&out, d); err != nil {
		return fmt.Errorf("%w (the variables are %s)", err, variables)
	}
	secret, variable := d.Code, ".Code"
	if !kindOf(name).isOTP() {
		secret, variable = d.Bundle, ".Bundle"
	}
	switch {
	case strings.HasSuffix(name, partSubject):
		if subject(out.String()) == "" {
			return errors.New("the subject must not be empty")
		}
	case !strings.Contains(out.String(), secret):
		return fmt.Errorf("it must show {{%s}}, also where .Link is empty", variable)
	}
	return nil
}
