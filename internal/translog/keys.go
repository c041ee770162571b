package translog

import (
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/note"
)

// Keys are verifier keys that a verifier trusts. Several keys of one name belong to
// one log or witness.
type Keys []*Key

// ParseKeys reads the texts of verifier keys. A key that is given twice is one.
func ParseKeys(texts ...string) (Keys, error) {
	var keys Keys
	for _, text := range texts {
		k, err := ParseKey(text)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(keys, func(other *Key) bool { return other.Text() == k.Text() }) {
			keys = append(keys, k)
		}
	}
	return keys, nil
}

// ParseWitnessKeys reads the texts of verifier keys of witnesses, whose signatures
// have a time.
func ParseWitnessKeys(texts ...string) (Keys, error) {
	keys, err := ParseKeys(texts...)
	for _, k := range keys {
		if k.kind == Ed25519 {
			return nil, fmt.Errorf("verifier key %.80q: it is not one of a witness, whose keys are of type 0x04 or 0x06", k.Text())
		}
	}
	return keys, err
}

// Names lists the logs or witnesses that the keys belong to, each once.
func (keys Keys) Names() []string {
	var names []string
	for _, k := range keys {
		if !slices.Contains(names, k.name) {
			names = append(names, k.name)
		}
	}
	return names
}

// Texts is the keys as texts.
func (keys Keys) Texts() []string {
	var texts []string
	for _, k := range keys {
		texts = append(texts, k.Text())
	}
	return texts
}

// named is the keys of one name.
func (keys Keys) named(name string) Keys {
	var own Keys
	for _, k := range keys {
		if k.name == name {
			own = append(own, k)
		}
	}
	return own
}

// missing is a key without a signature, nil if each has one.
func (keys Keys) missing(sigs []note.Signature) *Key {
	for _, k := range keys {
		if !slices.ContainsFunc(sigs, func(s note.Signature) bool { return s.Name == k.name && s.Hash == k.hash }) {
			return k
		}
	}
	return nil
}

func (keys Keys) verifiers() []note.Verifier {
	var all []note.Verifier
	for _, k := range keys {
		all = append(all, k)
	}
	return all
}
