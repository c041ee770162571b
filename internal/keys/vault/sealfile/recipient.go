package sealfile

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"
	"filippo.io/age/plugin"
	"github.com/btcsuite/btcd/btcutil/bech32"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/keys/vault/internal/secret"
)

// Kinds of recipients. The texts are in files, and stay.
const (
	// KindPassphrase keeps its identity in an age file under a passphrase.
	KindPassphrase = "passphrase"
	// KindAge is an identity that its owner keeps, in a file or behind a plugin.
	KindAge = "age"
	// KindPeople gives each of several people a share of its identity.
	KindPeople = "people"
)

// workFactor is the logarithm of scrypt's N when a file is made: about a second.
// maxWorkFactor bounds what a file may ask for.
const (
	workFactor    = 18
	maxWorkFactor = 20
)

// recipient is one that opens the seal.
type recipient struct {
	Name      string         `json:"name"`
	Kind      string         `json:"kind"`
	Recipient string         `json:"recipient"`
	Kept      jsontext.Value `json:"kept,omitzero"`

	// What kept says, by kind.
	passphrase string
	people     peopleKept
	outside    outside
}

// peopleKept is what a seal keeps of a group: nothing that opens it.
type peopleKept struct {
	Threshold int      `json:"threshold"`
	Checks    []string `json:"checks"` // of the share of each person
}

// read reads kept, and puts it into the form in which it is written.
func (r *recipient) read() error {
	if err := r.readKept(); err != nil {
		return err
	}
	if _, err := parseRecipient(r.Recipient); err != nil {
		return err
	}
	return r.write()
}

func (r *recipient) readKept() (err error) {
	switch r.Kind {
	case KindPassphrase:
		return unmarshalKept(r.Kept, &r.passphrase)
	case KindAge:
		if len(r.Kept) > 0 {
			return errors.New("nothing is kept of a recipient of this kind")
		}
		return nil
	case KindPeople:
		if err := unmarshalKept(r.Kept, &r.people); err != nil {
			return err
		}
		return checkGroup(r.people.Threshold, len(r.people.Checks))
	case KindPKCS11, KindTPM, KindTransit, KindKMS:
		r.outside, err = readOutside(r.Kind, r.Kept)
		return err
	}
	return fmt.Errorf("this version of Latchkey knows no kind %.40q", r.Kind)
}

func unmarshalKept(kept jsontext.Value, to any) error {
	if len(kept) == 0 {
		return errors.New("kept is missing")
	}
	if err := json.Unmarshal(kept, to, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("kept: %w", err)
	}
	return nil
}

// write sets kept.
func (r *recipient) write() (err error) {
	switch r.Kind {
	case KindPassphrase:
		r.Kept, err = json.Marshal(r.passphrase)
	case KindPeople:
		r.Kept, err = json.Marshal(r.people)
	case KindPKCS11, KindTPM, KindTransit, KindKMS:
		r.Kept, err = json.Marshal(r.outside)
	}
	return err
}

func checkGroup(threshold, people int) error {
	if threshold < 2 {
		return fmt.Errorf("%d of %d people: at least two must be needed; one alone is a passphrase", threshold, people)
	}
	if people < threshold || people > MaxPeople {
		return fmt.Errorf("%d of %d people: there must be at least %d and at most %d people", threshold, people, threshold, MaxPeople)
	}
	return nil
}

// parseRecipient is what encrypts to age1….
func parseRecipient(text string) (age.Recipient, error) {
	if strings.HasPrefix(strings.ToUpper(text), "AGE-") {
		return nil, errors.New("this is a private key of age; a recipient begins with age1")
	}
	if found, err := age.ParseX25519Recipient(text); err == nil {
		return found, nil
	}
	if found, err := age.ParseHybridRecipient(text); err == nil {
		return found, nil
	}
	found, err := plugin.NewRecipient(text, pluginUI())
	if err != nil {
		return nil, fmt.Errorf("%.80q is not a recipient of age (age1…)", text)
	}
	return found, nil
}

// Spec is a recipient that is to be.
type Spec struct {
	Name string
	Kind string
	// Secret is the passphrase of KindPassphrase, the PIN of KindPKCS11, the token of
	// KindTransit. It is wiped.
	Secret []byte
	// Place is what guards the identity: the URI of KindPKCS11, DEVICE[,pcrs=…] of
	// KindTPM, the address of KindTransit, the key of KindKMS.
	Place string
	// Recipient is that of KindAge: age1….
	Recipient string
	// Threshold of People must come together, of KindPeople.
	Threshold, People int
}

// Share is the text of a share, for one person. Wipe it after use.
type Share struct {
	Recipient string
	Index     int
	Text      []byte
}

// made is a recipient with what is to be handed out, or forgotten, after it was
// written.
type made struct {
	recipient
	identity age.Identity // nil: its owner has it
	shares   []Share
}

// newRecipient makes a recipient, and what opens it.
func newRecipient(pool *secret.Pool, spec Spec) (m made, err error) {
	m.recipient = recipient{Name: spec.Name, Kind: spec.Kind, Recipient: spec.Recipient}
	if spec.Kind != KindAge {
		scalar := pool.Random(scalarSize)
		defer scalar.Wipe()
		identity, err := identityOf(scalar)
		if err != nil {
			return made{}, err
		}
		m.identity, m.Recipient = identity, identity.Recipient().String()
		switch spec.Kind {
		case KindPassphrase:
			m.passphrase, err = underPassphrase(identity, spec.Secret)
		case KindPeople:
			if err = checkGroup(spec.Threshold, spec.People); err == nil {
				err = m.hand(pool, scalar, spec)
			}
		case KindPKCS11, KindTPM, KindTransit, KindKMS:
			err = m.guard(scalar, spec)
		default:
			err = fmt.Errorf("there is no kind %q", spec.Kind)
		}
		if err != nil {
			return made{}, fmt.Errorf("recipient %q: %w", spec.Name, err)
		}
	}
	if err := m.write(); err != nil {
		return made{}, err
	}
	if _, err := parseRecipient(m.Recipient); err != nil {
		return made{}, fmt.Errorf("recipient %q: %w", spec.Name, err)
	}
	return m, nil
}

// guard has the scalar guarded outside, and makes sure that the guard gives it back.
func (m *made) guard(scalar *secret.Bytes, spec Spec) (err error) {
	defer clear(spec.Secret)
	if m.outside, err = guardOutside(&m.recipient, scalar.Raw(), spec); err != nil {
		return err
	}
	if _, err := m.byOutside(spec.Secret); err != nil {
		return fmt.Errorf("it took the key and does not give it back: %w", err)
	}
	return nil
}

// identityOf is the identity with a scalar.
func identityOf(scalar *secret.Bytes) (*age.X25519Identity, error) {
	text, err := bech32.EncodeFromBase256("age-secret-key-", scalar.Raw())
	if err != nil {
		return nil, fmt.Errorf("sealfile: %w", err)
	}
	return age.ParseX25519Identity(strings.ToUpper(text))
}

func underPassphrase(identity *age.X25519Identity, passphrase []byte) (string, error) {
	defer clear(passphrase)
	to, err := age.NewScryptRecipient(string(passphrase))
	if err != nil {
		return "", errors.New("the passphrase is empty")
	}
	to.SetWorkFactor(workFactor)
	return encrypt([]byte(identity.String()+"\n"), to)
}

// hand makes the shares of a group.
func (m *made) hand(pool *secret.Pool, scalar *secret.Bytes, spec Spec) error {
	m.people.Threshold = spec.Threshold
	for i, value := range split(pool, scalar, spec.Threshold, spec.People) {
		defer value.Wipe()
		s := share{group: groupOf(m.Recipient), index: byte(i + 1), value: value}
		text, err := s.text(pool, books())
		if err != nil {
			return err
		}
		m.people.Checks = append(m.people.Checks, s.check())
		m.shares = append(m.shares, Share{Recipient: spec.Name, Index: i + 1, Text: text})
	}
	return nil
}

// encrypt writes an armored age file.
func encrypt(plain []byte, to ...age.Recipient) (string, error) {
	var text bytes.Buffer
	armored := armor.NewWriter(&text)
	w, err := age.Encrypt(armored, to...)
	if err == nil {
		_, err = w.Write(plain)
	}
	if err == nil {
		err = errors.Join(w.Close(), armored.Close())
	}
	return text.String(), err
}

// decrypt reads an armored age file, whose content is short.
func decrypt(text string, identity age.Identity) ([]byte, error) {
	r, err := age.Decrypt(armor.NewReader(strings.NewReader(text)), identity)
	if err != nil {
		return nil, err
	}
	const most = 4 << 10
	plain := make([]byte, most+1) // all at once: growing would leave copies behind
	n, err := io.ReadFull(r, plain)
	if err == nil {
		clear(plain)
		return nil, errors.New("it is too long")
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		clear(plain)
		return nil, err
	}
	return plain[:n], nil
}

// parseKey reads the text of a master key.
func parseKey(pool *secret.Pool, text []byte) (*secret.Bytes, error) {
	text = bytes.TrimSpace(text)
	key := pool.New(keySize)
	if len(text) != 2*keySize {
		key.Wipe()
		return nil, errors.New("what the seal holds is not a master key")
	}
	if _, err := hex.Decode(key.Raw(), text); err != nil {
		key.Wipe()
		return nil, errors.New("what the seal holds is not a master key")
	}
	return key, nil
}

func names(recipients []recipient) string {
	all := make([]string, len(recipients))
	for i, r := range recipients {
		all[i] = r.Name
	}
	return strings.Join(all, ", ")
}
