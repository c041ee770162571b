package translog

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// Checkpoint is what a log signs: that its tree had this size and root.
type Checkpoint struct {
	Origin string
	Head
}

// maxCheckpoint bounds a signed checkpoint: 16 signatures of the largest kind that
// there is, as signed-note asks, and more than that.
const maxCheckpoint = 256 << 10

// Text is the body of the note, C2SP tlog-checkpoint.
func (c Checkpoint) Text() string {
	return fmt.Sprintf("%s\n%d\n%s\n", c.Origin, c.Size, base64.StdEncoding.EncodeToString(c.Root[:]))
}

// ParseCheckpoint reads the body of a note. Extension lines are left alone: they
// say nothing about the tree.
func ParseCheckpoint(text string) (Checkpoint, error) {
	lines := strings.Split(text, "\n")
	if len(lines) < 4 || lines[len(lines)-1] != "" {
		return Checkpoint{}, errors.New("checkpoint: it does not consist of lines with origin, size and root")
	}
	for i, line := range lines[:len(lines)-1] {
		if line == "" {
			return Checkpoint{}, fmt.Errorf("checkpoint: line %d is empty", i+1)
		}
	}
	c := Checkpoint{Origin: lines[0]}
	if len(c.Origin) > maxName {
		return Checkpoint{}, fmt.Errorf("checkpoint: the origin is longer than %d bytes", maxName)
	}
	var err error
	if c.Size, err = parseSize(lines[1]); err != nil {
		return Checkpoint{}, fmt.Errorf("checkpoint: the size: %w", err)
	}
	if c.Root, err = parseHash(lines[2]); err != nil {
		return Checkpoint{}, fmt.Errorf("checkpoint: the root: %w", err)
	}
	return c, nil
}

func parseSize(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > MaxSize || strconv.FormatInt(n, 10) != text {
		return 0, fmt.Errorf("%.40q is not a decimal number from 0 to 2^60", text)
	}
	return n, nil
}

func parseHash(text string) (Hash, error) {
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != HashSize {
		return Hash{}, fmt.Errorf("%.60q is not a hash: 32 bytes in base64", text)
	}
	return Hash(b), nil
}

// PeekCheckpoint reads what a signed checkpoint says, and checks no signature: for
// one that is known to be genuine by other means.
func PeekCheckpoint(signed []byte) (Checkpoint, error) {
	if len(signed) > maxCheckpoint {
		return Checkpoint{}, fmt.Errorf("checkpoint: it has more than %d bytes", maxCheckpoint)
	}
	_, err := note.Open(signed, note.VerifierList())
	var unverified *note.UnverifiedNoteError
	if !errors.As(err, &unverified) {
		return Checkpoint{}, fmt.Errorf("checkpoint: it is not a signed note: %w", err)
	}
	return ParseCheckpoint(unverified.Note.Text)
}

// SignCheckpoint returns the checkpoint as a note with a signature of each signer.
func SignCheckpoint(c Checkpoint, signers ...note.Signer) ([]byte, error) {
	if _, err := ParseCheckpoint(c.Text()); err != nil {
		return nil, err
	}
	return note.Sign(&note.Note{Text: c.Text()}, signers...)
}

// Signed is a checkpoint whose signatures were verified.
type Signed struct {
	Checkpoint
	Text string     // of the note, with extension lines if there are any
	note *note.Note // its Sigs were verified, its UnverifiedSigs not
}

// OpenCheckpoint reads a signed checkpoint. Every key of logs whose name is the
// checkpoint's origin must have signed it, and there must be one; a wrong signature
// of any known key is refused. [Signed.CosignedBy] says which witnesses have signed.
func OpenCheckpoint(signed []byte, logs, witnesses Keys) (*Signed, error) {
	if len(signed) > maxCheckpoint {
		return nil, fmt.Errorf("checkpoint: it has more than %d bytes", maxCheckpoint)
	}
	for _, name := range witnesses.Names() { // or a log could be its own witness
		if len(logs.named(name)) > 0 {
			return nil, fmt.Errorf("checkpoint: %s is given both as a log and as a witness", name)
		}
	}
	n, err := note.Open(signed, note.VerifierList(append(logs.verifiers(), witnesses.verifiers()...)...))
	if err != nil {
		return nil, openError(err, logs, witnesses)
	}
	c, err := ParseCheckpoint(n.Text)
	if err != nil {
		return nil, err
	}
	own := logs.named(c.Origin)
	if len(own) == 0 {
		return nil, &UnknownLogError{Origin: c.Origin}
	}
	if missing := own.missing(n.Sigs); missing != nil {
		return nil, &SignatureError{fmt.Sprintf("it is not signed by %s", missing)}
	}
	return &Signed{Checkpoint: c, Text: n.Text, note: n}, nil
}

// UnknownLogError says that no key of the log that a checkpoint names was given.
type UnknownLogError struct{ Origin string }

func (e *UnknownLogError) Error() string {
	return fmt.Sprintf("checkpoint: it is one of the log %.80q, of which no verifier key was given", e.Origin)
}

// SignatureError says that a signature on a checkpoint is wrong or missing.
type SignatureError struct{ reason string }

func (e *SignatureError) Error() string { return "checkpoint: " + e.reason }

// openError says what note found wrong, in words about checkpoints.
func openError(err error, logs, witnesses Keys) error {
	var wrong *note.InvalidSignatureError
	var unsigned *note.UnverifiedNoteError
	switch {
	case errors.As(err, &wrong):
		return &SignatureError{fmt.Sprintf("the signature of %s+%08x is wrong: the checkpoint or the signature was changed", wrong.Name, wrong.Hash)}
	case errors.As(err, &unsigned):
		c, err := ParseCheckpoint(unsigned.Note.Text)
		if err != nil {
			return err
		}
		if len(logs) == 0 && len(witnesses) > 0 {
			return &SignatureError{fmt.Sprintf("none of its signatures is by %s", witnesses[0])}
		}
		if len(logs.named(c.Origin)) == 0 {
			return &UnknownLogError{Origin: c.Origin}
		}
		return &SignatureError{fmt.Sprintf("none of its signatures is by %s", logs.named(c.Origin)[0])}
	case len(logs)+len(witnesses) == 0:
		return errors.New("checkpoint: there is no verifier key to check it with")
	}
	return fmt.Errorf("checkpoint: it is not a signed note: %w", err)
}

// CosignedBy lists the witnesses all of whose given keys have signed.
func (s *Signed) CosignedBy(witnesses Keys) []string {
	return slices.DeleteFunc(witnesses.Names(), func(name string) bool { return witnesses.named(name).missing(s.note.Sigs) != nil })
}

// Cosigned returns the signed checkpoint with further signature lines, those of
// known keys that verify; lines of other keys are left out.
func (s *Signed) Cosigned(lines []byte, witnesses Keys) (*Signed, error) {
	if len(lines) > maxCheckpoint {
		return nil, fmt.Errorf("cosignatures: they have more than %d bytes", maxCheckpoint)
	}
	n, err := note.Open(append([]byte(s.Text+"\n"), lines...), note.VerifierList(witnesses.verifiers()...))
	if err != nil {
		return nil, openError(err, nil, witnesses)
	}
	return s.with(n.Sigs), nil
}

// Join returns the checkpoint with the signatures of another reading of it: of the
// same text.
func (s *Signed) Join(other *Signed) *Signed {
	if other.Text != s.Text {
		return s
	}
	return s.with(other.note.Sigs)
}

// with adds signatures that were verified.
func (s *Signed) with(sigs []note.Signature) *Signed {
	all := &note.Note{Text: s.Text, Sigs: append([]note.Signature(nil), s.note.Sigs...), UnverifiedSigs: s.note.UnverifiedSigs}
	for _, sig := range sigs {
		all.Sigs = append(withoutKey(all.Sigs, sig), sig)
		all.UnverifiedSigs = withoutKey(all.UnverifiedSigs, sig)
	}
	return &Signed{Checkpoint: s.Checkpoint, Text: s.Text, note: all}
}

func withoutKey(sigs []note.Signature, key note.Signature) []note.Signature {
	var kept []note.Signature
	for _, s := range sigs {
		if s.Name != key.Name || s.Hash != key.Hash {
			kept = append(kept, s)
		}
	}
	return kept
}

// Note is the signed checkpoint as it is published.
func (s *Signed) Note() []byte {
	text, err := note.Sign(s.note)
	if err != nil {
		panic("translog: a note that was read cannot be written: " + err.Error())
	}
	return text
}
