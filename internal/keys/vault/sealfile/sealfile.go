// Package sealfile keeps the master key in a file for several recipients, any of
// which opens it: a passphrase, the owner of an age key (or of hardware that has an
// age plugin), a group of people of whom some must come together, a PKCS#11 token, a
// TPM, a key of a transit engine or of a cloud.
//
// The file is JSON:
//
//	format      "latchkey seal 1"
//	id          of this seal, for its whole life
//	generation  from 1, one more with every change
//	recipients  [{name, kind, recipient: "age1…", kept}]
//	master      an armored age file to all recipients; in it the key as 64 hex digits
//	previous    the master key before, under this one, until nothing is under it any more
//	chain       HMAC under the master key of the generation before
//	mac         HMAC under the master key
//
// Each recipient owns an X25519 pair of age, because an age file under a passphrase
// can have no other recipient; kept is its identity, guarded as the kind says. So
// stock age opens master with any identity. mac is over the RFC 8785 JSON of
// everything but itself, chain over everything but the two.
//
// A file is used only if it is, byte by byte, what this package would write.
package sealfile

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/keys/vault/internal/secret"
	"latchkey/internal/secretfile"
)

const (
	format     = "latchkey seal 1"
	keySize    = 32
	scalarSize = 32
	maxFile    = 1 << 20
	// MaxPeople is how many people a group can have.
	MaxPeople = 16
)

// The purposes for which HKDF (RFC 5869) derives from a master key.
const (
	macInfo      = "latchkey seal mac"
	chainInfo    = "latchkey seal chain"
	previousInfo = "latchkey seal previous"
	rowInfo      = "latchkey seal row"
)

// form is the file.
type form struct {
	Format     string      `json:"format"`
	ID         string      `json:"id"`
	Generation int         `json:"generation"`
	Recipients []recipient `json:"recipients"`
	Master     string      `json:"master"`
	Previous   string      `json:"previous"`
	Chain      string      `json:"chain"`
	MAC        string      `json:"mac"`
}

// Seal is a file that was read and not opened.
type Seal struct {
	path string
	text []byte
	form form
}

// Read reads a file. It finds what a program or a disk has damaged; what somebody
// changed on purpose is found when it is opened.
func Read(path string) (*Seal, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s is larger than %d bytes: it is not a seal", path, maxFile)
	}
	text, err := secretfile.Read(path)
	if err != nil {
		return nil, err
	}
	f, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &Seal{path: path, text: text, form: f}, nil
}

func parse(text []byte) (f form, err error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return form{}, errors.New("the file is empty: it is not a seal")
	}
	if err := json.Unmarshal(text, &f, json.RejectUnknownMembers(true)); err != nil {
		return form{}, fmt.Errorf("this is not a whole seal: %w", err)
	}
	if f.Format != format {
		return form{}, fmt.Errorf("its format is %.40q, and this version of Latchkey knows %q", f.Format, format)
	}
	if f.Generation < 1 || f.ID == "" || len(f.Recipients) == 0 || f.Master == "" || len(f.MAC) != 2*sha256.Size {
		return form{}, errors.New("this is not a whole seal: id, generation, recipients, master and mac must be there")
	}
	for i := range f.Recipients {
		if err := f.Recipients[i].read(); err != nil {
			return form{}, fmt.Errorf("recipient %.64q: %w", f.Recipients[i].Name, err)
		}
	}
	if err := checkNames(f.Recipients); err != nil {
		return form{}, err
	}
	if err := checkWays(f.Recipients); err != nil {
		return form{}, err
	}
	same, err := f.marshal()
	if err != nil {
		return form{}, err
	}
	if !bytes.Equal(same, text) {
		return form{}, errors.New("it is not as Latchkey writes a seal: it was changed, or copied by a program that alters text; put a good copy back")
	}
	return f, nil
}

// marshal is the one way in which a seal is written.
func (f *form) marshal() ([]byte, error) {
	text, err := json.Marshal(f, jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("sealfile: %w", err)
	}
	return append(text, '\n'), nil
}

// sum is an HMAC over the file without some members.
func (f *form) sum(master *secret.Bytes, info string, without ...string) ([]byte, error) {
	key, err := hkdf.Expand(sha256.New, master.Raw(), info, keySize)
	if err != nil {
		return nil, fmt.Errorf("sealfile: %w", err)
	}
	defer clear(key)
	text, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("sealfile: %w", err)
	}
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, fmt.Errorf("sealfile: %w", err)
	}
	for _, name := range without {
		delete(members, name)
	}
	if text, err = json.Marshal(members); err != nil {
		return nil, fmt.Errorf("sealfile: %w", err)
	}
	canonical := jsontext.Value(text)
	if err := canonical.Canonicalize(); err != nil {
		return nil, fmt.Errorf("sealfile: %w", err)
	}
	h := hmac.New(sha256.New, key)
	h.Write(canonical)
	return h.Sum(nil), nil
}

// sign sets chain and mac. former is the master key of the generation before, nil
// for the first one.
func (f *form) sign(master, former *secret.Bytes) error {
	f.Chain = ""
	if former != nil {
		sum, err := f.sum(former, chainInfo, "chain", "mac")
		if err != nil {
			return err
		}
		f.Chain = hex.EncodeToString(sum)
	}
	sum, err := f.sum(master, macInfo, "mac")
	if err != nil {
		return err
	}
	f.MAC = hex.EncodeToString(sum)
	return nil
}

// verify checks the mac.
func (f *form) verify(master *secret.Bytes) error {
	sum, err := f.sum(master, macInfo, "mac")
	if err != nil {
		return err
	}
	if !hmac.Equal([]byte(f.MAC), []byte(hex.EncodeToString(sum))) {
		return errors.New("the seal was changed without the master key; put a good copy back")
	}
	return nil
}

// Status is what a seal tells without being opened.
type Status struct {
	File       string `json:"file"`
	Generation int    `json:"generation"`
	// Fingerprint is of the whole file: the same on every machine that has it.
	Fingerprint string            `json:"fingerprint"`
	Recipients  []RecipientStatus `json:"recipients"`
}

// RecipientStatus is what is known about a recipient.
type RecipientStatus struct {
	Name      string `json:"name"`
	Kind      string `json:"kind"`
	Threshold int    `json:"threshold,omitzero"`
	Shares    int    `json:"shares,omitzero"`
}

// Status describes the seal.
func (s *Seal) Status() Status {
	sum := sha256.Sum256(s.text)
	status := Status{File: s.path, Generation: s.form.Generation, Fingerprint: hex.EncodeToString(sum[:8])}
	for i := range s.form.Recipients {
		r := &s.form.Recipients[i]
		status.Recipients = append(status.Recipients, RecipientStatus{
			Name: r.Name, Kind: r.Kind, Threshold: r.people.Threshold, Shares: len(r.people.Checks),
		})
	}
	return status
}

// Same reports whether two files are the same, byte by byte.
func (s *Seal) Same(other *Seal) bool { return bytes.Equal(s.text, other.text) }

// Path is where the file is.
func (s *Seal) Path() string { return s.path }

// ID names the seal for its whole life.
func (s *Seal) ID() string { return s.form.ID }

// Generation counts the changes of the seal.
func (s *Seal) Generation() int { return s.form.Generation }

// recipient finds one by its name.
func (s *Seal) recipient(name string) (*recipient, error) {
	i := slices.IndexFunc(s.form.Recipients, func(r recipient) bool { return r.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("%s has no recipient %q; it has %s", s.path, name, names(s.form.Recipients))
	}
	return &s.form.Recipients[i], nil
}

// nameForm is what a recipient can be called: it is a part of file names and flags.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func checkNames(recipients []recipient) error {
	seen := map[string]bool{}
	for _, r := range recipients {
		if !nameForm.MatchString(r.Name) {
			return fmt.Errorf("%.64q cannot be the name of a recipient: letters, digits, dots, dashes and underscores, at most 64", r.Name)
		}
		if seen[r.Name] {
			return fmt.Errorf("two recipients have the name %q", r.Name)
		}
		seen[r.Name] = true
	}
	return nil
}
