package sealfile

import (
	"bytes"
	"crypto/hmac"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"

	"latchkey/internal/keys/vault/internal/secret"
)

// Follow opens a newer generation of this seal while a server runs on this one: by the
// recipient that opened this one, whose identity is still in memory, or, if that was
// taken away, by what otherwise opens. It makes sure that the newer one comes from
// this one. The caller closes both.
func (o *Opened) Follow(next *Seal, otherwise func(*Seal) (*Opened, error)) (*Opened, error) {
	if next.ID() != o.ID() {
		return nil, fmt.Errorf("%s is another seal than the one that the server was started with", next.path)
	}
	if next.Generation() <= o.Generation() {
		return nil, fmt.Errorf("%s is of generation %d, and the server has %d", next.path, next.Generation(), o.Generation())
	}
	opened, err := o.followBySame(next)
	if err != nil {
		return nil, err
	}
	if opened == nil {
		if opened, err = otherwise(next); err != nil {
			return nil, err
		}
	}
	if err := o.precedes(opened); err != nil {
		opened.Close()
		return nil, err
	}
	return opened, nil
}

// followBySame is nil if the recipient was taken away, or replaced by another of its
// name.
func (o *Opened) followBySame(next *Seal) (*Opened, error) {
	was, err := o.recipient(o.by)
	if err != nil {
		return nil, err
	}
	r, err := next.recipient(o.by)
	if err != nil || r.Recipient != was.Recipient {
		return nil, nil
	}
	return next.open(r, o.identity, &secret.Pool{})
}

// precedes checks the chain. Its link is under the key of the generation before; of
// several generations at once, the key that stayed, or that the newer one holds as the
// one before, shows the same.
func (o *Opened) precedes(next *Opened) error {
	sum, err := next.form.sum(o.master, chainInfo, "chain", "mac")
	if err != nil {
		return err
	}
	if hmac.Equal([]byte(next.form.Chain), []byte(hex.EncodeToString(sum))) {
		return nil
	}
	for _, held := range []*secret.Bytes{next.master, next.previous} {
		if next.Generation() > o.Generation()+1 && held != nil && subtle.ConstantTimeCompare(held.Raw(), o.master.Raw()) == 1 {
			return nil
		}
	}
	return fmt.Errorf("%s: generation %d does not come from generation %d, which the server has", next.path, next.Generation(), o.Generation())
}

// Row is the text of a newer generation for other servers, under the master key of
// this one, which they have: a copy of the database alone tells nothing of the seal.
func (o *Opened) Row(next *Opened) (string, error) {
	return sealUnder(o.master, rowInfo, next.text)
}

// ReadRow reads what [Opened.Row] wrote.
func (o *Opened) ReadRow(row string) (*Seal, error) {
	text, err := openUnder(o.master, rowInfo, row)
	if err != nil {
		return nil, errors.New("the newer seal, which another server left in the database, is not under the master key of this one: copy the file to this machine and restart the server")
	}
	f, err := parse(text)
	if err != nil {
		return nil, err
	}
	return &Seal{path: o.path, text: text, form: f}, nil
}

// Put writes a newer generation in the place of this one.
func (o *Opened) Put(next *Opened) error {
	return replace(o.path, o.text, next.text, func(now []byte) error {
		if bytes.Equal(now, next.text) { // it came from here, or another server shares the file
			return nil
		}
		return fmt.Errorf("%s is neither what the server was started with nor what another server has made of it; it is left as it is", o.path)
	})
}
