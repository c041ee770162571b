package idl

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Parse reads an interface. Its error is for the user who sent it.
func Parse(text string) (*Interface, error) {
	i, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("provided IDL is invalid: %w", err)
	}
	return i, nil
}

func parse(text string) (*Interface, error) {
	if n := utf8.RuneCountInString(text); n > MaxCharacters {
		return nil, fmt.Errorf("it has %d characters; at most %d are accepted", n, MaxCharacters)
	}
	var document any
	// Members that occur twice and invalid UTF-8 are not accepted: that is the
	// default of this package.
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
			return nil, fmt.Errorf("the JSON is broken at byte %d: %w", syntax.ByteOffset, syntax.Err)
		}
		return nil, errors.New("it is not JSON")
	}
	root, ok := document.(map[string]any)
	if !ok {
		return nil, errors.New("expected an object with the members instructions and types")
	}
	p := &parser{definitions: map[string]*definition{}}
	if _, ok := root["types"]; !ok {
		return nil, errors.New("types is missing; write [] if the program defines none")
	}
	if err := p.readTypes(root); err != nil {
		return nil, err
	}
	i := &Interface{}
	list, err := array(root, "instructions", "")
	if err != nil {
		return nil, err
	}
	for k, v := range list {
		in, err := p.instruction(v, fmt.Sprintf("/instructions/%d", k))
		if err != nil {
			return nil, err
		}
		i.instructions = append(i.instructions, *in)
	}
	return i, i.checkDiscriminators()
}

// checkDiscriminators makes sure that data cannot mean two instructions.
func (i *Interface) checkDiscriminators() error {
	sorted := slices.Clone(i.instructions)
	slices.SortFunc(sorted, func(a, b instruction) int { return bytes.Compare(a.discriminator, b.discriminator) })
	for k := 1; k < len(sorted); k++ { // what begins with another comes right behind it
		if bytes.HasPrefix(sorted[k].discriminator, sorted[k-1].discriminator) {
			return fmt.Errorf("the instructions %.40q and %.40q cannot be told apart by their discriminators", sorted[k-1].name, sorted[k].name)
		}
	}
	return nil
}

// parser turns JSON, as read into maps and slices, into types. The at of its
// methods is a JSON pointer to what they read, for errors.
type parser struct {
	definitions map[string]*definition
}

func (p *parser) instruction(v any, at string) (*instruction, error) {
	o, err := object(v, at)
	if err != nil {
		return nil, err
	}
	in := &instruction{}
	if in.name, err = name(o, at); err != nil {
		return nil, err
	}
	if in.discriminator, err = discriminator(o["discriminator"], in.name, at+"/discriminator"); err != nil {
		return nil, err
	}
	if in.accounts, err = accounts(o, "", at, 0); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, account := range in.accounts {
		if seen[account] {
			return nil, fmt.Errorf("%s/accounts: two accounts have the name %.40q", at, account)
		}
		seen[account] = true
	}
	args, err := array(o, "args", at)
	if err != nil {
		return nil, err
	}
	if in.args, err = p.named(args, at+"/args"); err != nil {
		return nil, err
	}
	for k, t := range in.args.types {
		depth, reason, err := t.check(0)
		if err == nil && depth > maxDepth {
			err = fmt.Errorf("it is nested deeper than %d levels", maxDepth)
		}
		if err == nil && reason != "" {
			err = errors.New(reason)
		}
		if err != nil {
			return nil, fmt.Errorf("%s/args/%d: %w", at, k, err)
		}
	}
	return in, nil
}

// discriminator is what the data of an instruction begins with: as given, or
// what Anchor makes of the name.
func discriminator(v any, name, at string) ([]byte, error) {
	if v == nil {
		sum := sha256.Sum256([]byte("global:" + snakeCase(name)))
		return sum[:8], nil
	}
	list, ok := v.([]any)
	if !ok || len(list) == 0 || len(list) > 64 {
		return nil, fmt.Errorf("%s: expected an array of 1 to 64 bytes", at)
	}
	b := make([]byte, len(list))
	for i, v := range list {
		n, ok := whole(v, 255)
		if !ok {
			return nil, fmt.Errorf("%s/%d: expected a number from 0 to 255", at, i)
		}
		b[i] = byte(n)
	}
	return b, nil
}

// snakeCase turns the name that old interfaces show back into that of the
// function, which is what Anchor hashes.
func snakeCase(name string) string {
	var b strings.Builder
	for i, c := range []byte(name) {
		if 'A' <= c && c <= 'Z' {
			if i > 0 && name[i-1] != '_' {
				b.WriteByte('_')
			}
			c += 'a' - 'A'
		}
		b.WriteByte(c)
	}
	return b.String()
}

// accounts lists the names of the accounts in order. Those of a group have its
// name and a dot before theirs.
func accounts(o map[string]any, prefix, at string, depth int) ([]string, error) {
	list, err := array(o, "accounts", at)
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("%s: it is nested deeper than %d levels", at, maxDepth)
	}
	var names []string
	for i, v := range list {
		at := fmt.Sprintf("%s/accounts/%d", at, i)
		account, err := object(v, at)
		if err != nil {
			return nil, err
		}
		own, err := name(account, at)
		if err != nil {
			return nil, err
		}
		if _, group := account["accounts"]; group {
			inner, err := accounts(account, prefix+own+".", at, depth+1)
			if err != nil {
				return nil, err
			}
			names = append(names, inner...)
			continue
		}
		// Nothing depends on them: a transaction's header says who signs. But
		// another type here means that this is no account.
		for _, flag := range []string{"isMut", "isSigner", "isOptional", "writable", "signer", "optional"} {
			switch account[flag].(type) {
			case nil, bool:
			default:
				return nil, fmt.Errorf("%s/%s: expected true or false", at, flag)
			}
		}
		names = append(names, prefix+own)
	}
	return names, nil
}

func object(v any, at string) (map[string]any, error) {
	if o, ok := v.(map[string]any); ok {
		return o, nil
	}
	return nil, fmt.Errorf("%s: expected an object", at)
}

func array(o map[string]any, member, at string) ([]any, error) {
	v, ok := o[member]
	if !ok {
		return nil, fmt.Errorf("%s: %s is missing", at, member)
	}
	if list, ok := v.([]any); ok {
		return list, nil
	}
	return nil, fmt.Errorf("%s/%s: expected an array", at, member)
}

func name(o map[string]any, at string) (string, error) {
	if text, ok := o["name"].(string); ok && text != "" {
		return text, nil
	}
	return "", fmt.Errorf("%s: expected a name that is not empty", at)
}

// whole reads a whole number from 0 to most.
func whole(v any, most int) (int, bool) {
	n, ok := v.(float64)
	if !ok || n < 0 || n > float64(most) || n != float64(int(n)) {
		return 0, false
	}
	return int(n), true
}
