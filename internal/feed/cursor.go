package feed

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
)

// A cursor is a point of the log as a text: its epoch and index, and a tag that
// only this installation can make, for this log. It has no end: what it is made of
// stays when a server or the master key is replaced, and after a new epoch of the
// log it still names the place in the old one, after which the new one follows.

const (
	cursorFormat = 1
	cursorPlain  = 1 + 4 + 8
)

// Cursor is the text of a point.
func (f *Feed) Cursor(p domain.LogPlace) (string, error) {
	plain := plainCursor(p)
	name, _ := f.ledger.Name(p.Epoch)
	tag, err := f.store.CursorTag(name, plain)
	return base64.RawURLEncoding.EncodeToString(append(plain, tag...)), err
}

func plainCursor(p domain.LogPlace) []byte {
	plain := append(make([]byte, 0, 2*cursorPlain), cursorFormat)
	plain = binary.BigEndian.AppendUint32(plain, uint32(p.Epoch))
	return binary.BigEndian.AppendUint64(plain, uint64(p.Index))
}

// splitCursor takes a text apart that may be a cursor.
func splitCursor(text string) (p domain.LogPlace, plain, tag []byte, ok bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) < cursorPlain || raw[0] != cursorFormat {
		return p, nil, nil, false
	}
	p = domain.LogPlace{Epoch: int64(binary.BigEndian.Uint32(raw[1:])), Index: int64(binary.BigEndian.Uint64(raw[5:]))}
	return p, raw[:cursorPlain:cursorPlain], raw[cursorPlain:], p.Index >= 0
}

// ParseCursor reads a cursor. One that this installation did not make is a fault.
func (f *Feed) ParseCursor(ctx context.Context, text string) (domain.LogPlace, error) {
	p, plain, given, ok := splitCursor(text)
	if !ok {
		return domain.LogPlace{}, unknownCursor()
	}
	name, known := f.ledger.Name(p.Epoch)
	tag, err := f.store.CursorTag(name, plain)
	if err != nil {
		return domain.LogPlace{}, err
	}
	if !known || subtle.ConstantTimeCompare(tag, given) != 1 {
		return domain.LogPlace{}, unknownCursor()
	}
	end, err := f.ledger.End(ctx)
	if err == nil && end.Before(p) {
		err = unknownCursor()
	}
	return p, err
}

func unknownCursor() error {
	return fault.Fields("", []fault.Field{{
		Path: "after", Description: "is no cursor of this installation; use one that events, its stream or a webhook has given, " +
			`"now" for what comes from now on, or leave it out to begin with the first event`,
	}})
}
