package sealfile

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"filippo.io/age"
	"golang.org/x/sys/unix"

	"latchkey/internal/ids"
	"latchkey/internal/keys/vault"
	"latchkey/internal/keys/vault/internal/secret"
	"latchkey/internal/secretfile"
)

// Hand gives the shares of a new group of people out. It is called before the file
// is written, so that there is never a group whose shares nobody has.
type Hand func([]Share) error

// Create makes a new seal of a master key, or of a fresh one if from is nil. It
// refuses a path where there is something: the key that is lost could not be
// replaced.
func Create(path string, from vault.Unsealer, specs []Spec, hand Hand) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return exists(path, err)
	}
	pool := &secret.Pool{}
	defer pool.Close()
	master, err := masterKey(pool, from)
	if err != nil {
		return err
	}
	c := change{pool: pool, path: path, master: master, form: form{Format: format, ID: ids.New()}}
	if err := c.add(specs); err != nil {
		return err
	}
	return c.finish(hand)
}

func exists(path string, err error) error {
	if err == nil {
		err = fs.ErrExist
	}
	return fmt.Errorf("%s: %w; a seal is never overwritten, and nothing was made", path, err)
}

func masterKey(pool *secret.Pool, from vault.Unsealer) (*secret.Bytes, error) {
	if from == nil {
		return pool.Random(keySize), nil
	}
	master := pool.New(keySize)
	err := from.Unseal(func(key *[32]byte) error {
		copy(master.Raw(), key[:])
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("the master key from %s: %w", from.Name(), err)
	}
	return master, nil
}

// Add adds recipients. The master key stays.
func (o *Opened) Add(specs []Spec, hand Hand) error {
	c := o.change()
	if err := c.add(specs); err != nil {
		return err
	}
	return c.finish(hand)
}

// Remove takes recipients away, and makes a new master key for those who stay: who
// was taken away may have kept the old one. The old one stays in the seal, under the
// new one, until [Opened.Forget].
func (o *Opened) Remove(names []string) error {
	c := o.change()
	for _, name := range names {
		if _, err := o.recipient(name); err != nil {
			return err
		}
		if name == o.by {
			return fmt.Errorf("the seal was opened by %q: to take that away, open it by one that stays (--secret NAME=SOURCE)", name)
		}
	}
	if o.previous != nil {
		return errors.New("the master key is being replaced already: run latchkey vault rotate first, then remove more")
	}
	c.form.Recipients = slices.DeleteFunc(slices.Clone(c.form.Recipients), func(r recipient) bool { return slices.Contains(names, r.Name) })
	if len(c.form.Recipients) == 0 {
		return errors.New("no recipient would stay: add another one first")
	}
	if err := checkWays(c.form.Recipients); err != nil {
		return err
	}
	c.master = o.pool.Random(keySize)
	var err error
	if c.form.Previous, err = sealPrevious(c.master, o.master); err != nil {
		return err
	}
	return c.finish(nil)
}

// Forget drops the master key before, when nothing is under it any more.
func (o *Opened) Forget() error {
	if o.previous == nil {
		return nil
	}
	c := o.change()
	c.form.Previous = ""
	return c.finish(nil)
}

// change is a new generation of a seal.
type change struct {
	pool    *secret.Pool
	path    string
	form    form
	master  *secret.Bytes // of the new generation
	former  *secret.Bytes // of the one before; nil: there is none
	expects []byte        // what the file must still be; nil: there must be none
	// by opens the seal by a recipient that is in it: nil if none is at hand.
	by     age.Identity
	shares []Share
}

func (o *Opened) change() *change {
	f := o.form
	f.Recipients = slices.Clone(f.Recipients)
	return &change{
		pool: o.pool, path: o.path, form: f,
		master: o.master, former: o.master, expects: o.text, by: o.identity,
	}
}

func (c *change) add(specs []Spec) error {
	if len(specs) == 0 {
		return errors.New("no recipient was named; --passphrase NAME, --age NAME=age1…, --people NAME=K/N, --pkcs11 NAME=URI, --tpm NAME=DEVICE, --transit NAME=URL or --kms NAME=aws:ARN name one")
	}
	// Before any of them is made, which may need hardware.
	all := append(slices.Clone(c.form.Recipients), planned(specs)...)
	if err := checkNames(all); err != nil {
		return err
	}
	if err := checkWays(all); err != nil {
		return err
	}
	for _, spec := range specs {
		m, err := newRecipient(c.pool, spec)
		if err != nil {
			return err
		}
		c.form.Recipients = append(c.form.Recipients, m.recipient)
		c.shares = append(c.shares, m.shares...)
		if c.by == nil {
			c.by = m.identity
		}
	}
	return nil
}

// planned are recipients as far as their names and kinds are known.
func planned(specs []Spec) (all []recipient) {
	for _, spec := range specs {
		all = append(all, recipient{Name: spec.Name, Kind: spec.Kind})
	}
	return all
}

// finish writes the file, after it has opened what it is going to write.
func (c *change) finish(hand Hand) error {
	c.form.Generation++
	to := make([]age.Recipient, len(c.form.Recipients))
	for i, r := range c.form.Recipients {
		var err error
		if to[i], err = parseRecipient(r.Recipient); err != nil {
			return fmt.Errorf("recipient %q: %w", r.Name, err)
		}
	}
	text := append(hex.AppendEncode(make([]byte, 0, 2*keySize+1), c.master.Raw()), '\n')
	defer clear(text)
	var err error
	if c.form.Master, err = encrypt(text, to...); err != nil {
		return fmt.Errorf("%s: encrypting to %s: %w", c.path, names(c.form.Recipients), err)
	}
	if err := c.form.sign(c.master, c.former); err != nil {
		return err
	}
	file, err := c.form.marshal()
	if err != nil {
		return err
	}
	if err := c.opens(file); err != nil {
		return err
	}
	if err := c.unchanged(); err != nil {
		return err
	}
	if hand != nil && len(c.shares) > 0 {
		if err := hand(c.shares); err != nil {
			return err
		}
	}
	if c.expects == nil {
		return secretfile.Create(c.path, file)
	}
	// Once more: people may have taken long to write their shares down.
	return replace(c.path, c.expects, file, func([]byte) error {
		return fmt.Errorf("%w; shares that were handed out open nothing", c.changed())
	})
}

func (c *change) unchanged() error {
	if c.expects == nil {
		return nil
	}
	now, err := os.ReadFile(c.path)
	if err == nil && !bytes.Equal(now, c.expects) {
		err = c.changed()
	}
	return err
}

func (c *change) changed() error {
	return fmt.Errorf("%s was changed in the meantime; nothing was done, run the command again", c.path)
}

// replace writes text in the place of a file that is still as expected; if it is not,
// otherwise says what to do about what it is. Of several processes that do so at once
// one finds what it expects: a newer seal that is overwritten is a lost master key.
func replace(path string, expected, text []byte, otherwise func(now []byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() // which ends the lock
	if err := lock(file); err != nil {
		return fmt.Errorf("locking %s: %w", path, err)
	}
	// By its path: what is locked may have been replaced while this waited for it.
	now, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, expected) {
		return otherwise(now)
	}
	return secretfile.Write(path, text)
}

func lock(file *os.File) error {
	for {
		if err := unix.Flock(int(file.Fd()), unix.LOCK_EX); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// opens makes sure that what is to be written can be read, and opened.
func (c *change) opens(file []byte) error {
	f, err := parse(file)
	if err == nil {
		err = f.verify(c.master)
	}
	if err == nil && c.by != nil {
		var text []byte
		text, err = decrypt(f.Master, c.by)
		clear(text)
	}
	if err != nil {
		return fmt.Errorf("%s: the seal did not open after it was made, and was not written: %w", c.path, err)
	}
	return nil
}
