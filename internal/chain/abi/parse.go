package abi

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/crypto/sha3"
)

// function is what a call needs to know of a function.
type function struct {
	name      string
	names     []string // of the inputs
	inputs    []*typ
	signature string // with canonical types; its hash begins with the selector
}

// entry and parameter are the JSON. A pointer tells an absent member from an
// empty one.
type entry struct {
	Type    *string      `json:"type"`
	Name    *string      `json:"name"`
	Inputs  *[]parameter `json:"inputs"`
	Outputs []parameter  `json:"outputs"`
}

type parameter struct {
	Name       *string     `json:"name"`
	Type       *string     `json:"type"`
	Components []parameter `json:"components"`
}

// Parse reads an interface. Its error is for the user who sent it.
func Parse(text string) (*Interface, error) {
	i, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("provided ABI is invalid: %w", err)
	}
	return i, nil
}

func parse(text string) (*Interface, error) {
	if n := utf8.RuneCountInString(text); n > MaxCharacters {
		return nil, fmt.Errorf("it has %d characters; at most %d are accepted", n, MaxCharacters)
	}
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		return nil, errors.New("expected an array of functions; if this is a compiler's output, send only its member abi")
	}
	var entries []entry
	// Members that occur twice, invalid UTF-8 and names in another case are not
	// accepted: that is the default of this package.
	if err := json.Unmarshal([]byte(text), &entries); err != nil {
		return nil, explain(err)
	}
	all := &Interface{functions: map[[4]byte]*function{}}
	for i := range entries {
		at := fmt.Sprintf("/%d", i)
		f, err := entries[i].function(at)
		if err != nil {
			return nil, err
		}
		if f == nil {
			continue
		}
		if err := all.add(f); err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
	}
	return all, nil
}

var nameText = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

// function reads the entry at a JSON pointer; nil if it is none that can be
// called by name.
func (e *entry) function(at string) (*function, error) {
	kind := "function" // the default of the specification
	if e.Type != nil {
		kind = *e.Type
	}
	switch kind {
	case "function":
	case "constructor", "fallback", "receive", "event", "error":
		return nil, nil
	default:
		return nil, fmt.Errorf("%s: unknown type %.40q; it is one of function, constructor, fallback, receive, event and error", at, kind)
	}
	switch {
	case e.Name == nil:
		return nil, fmt.Errorf("%s: the function has no name", at)
	case !nameText.MatchString(*e.Name):
		return nil, fmt.Errorf("%s: %.40q cannot be the name of a function", at, *e.Name)
	case e.Inputs == nil:
		return nil, fmt.Errorf("%s: inputs is missing; write [] for a function without parameters", at)
	}
	f := &function{name: *e.Name}
	var err error
	if f.inputs, err = readAll(*e.Inputs, at+"/inputs", 0); err != nil {
		return nil, err
	}
	if _, err := readAll(e.Outputs, at+"/outputs", 0); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for i, p := range *e.Inputs {
		name := *p.Name
		if name == "" {
			name = strconv.Itoa(i)
		}
		if seen[name] {
			return nil, fmt.Errorf("%s/inputs/%d: another parameter has the name %.40q", at, i, name)
		}
		seen[name] = true
		f.names = append(f.names, name)
	}
	f.signature = f.name + tuple(f.inputs).name
	return f, nil
}

// add keeps a function if no call could mean another one too.
func (i *Interface) add(f *function) error {
	selector := f.selector()
	known := i.functions[selector]
	switch {
	case known == nil:
		i.functions[selector] = f
	case known.signature != f.signature:
		return fmt.Errorf("%s and %s have the same selector", known.signature, f.signature)
	case !slices.Equal(known.names, f.names):
		return fmt.Errorf("%s is there twice with different parameter names", f.signature)
	}
	return nil
}

// selector is the first four bytes of the hash of the signature (Solidity ABI
// specification, "Function Selector").
func (f *function) selector() [4]byte {
	h := sha3.NewLegacyKeccak256()
	h.Write([]byte(f.signature))
	return [4]byte(h.Sum(nil))
}

// explain rewords the errors of the JSON package.
func explain(err error) error {
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return fmt.Errorf("the JSON is broken at byte %d: %w", syntax.ByteOffset, syntax.Err)
	}
	semantic, ok := errors.AsType[*json.SemanticError](err)
	if !ok || semantic.GoType == nil {
		return errors.New("it is not JSON")
	}
	expected := map[reflect.Kind]string{reflect.String: "a string", reflect.Slice: "an array", reflect.Struct: "an object"}[semantic.GoType.Kind()]
	return fmt.Errorf("%s: expected %s", semantic.JSONPointer, expected)
}
