package mnemonic

import (
	"bytes"
	"errors"

	"latchkey/internal/keys/vault/internal/secret"
)

// Why a text is no phrase. None repeats a word of it.
var (
	ErrLength   = errors.New("it must have 12, 15, 18, 21 or 24 words")
	ErrWords    = errors.New("not all its words are in one of the nine word lists of BIP-39")
	ErrChecksum = errors.New("its checksum does not match: a word is wrong or out of place")
)

// Phrase is a text that has been understood.
type Phrase struct {
	Language Language
	Entropy  *secret.Bytes
	Words    *secret.Bytes // in NFKD, one space between words
}

// Wipe wipes the phrase.
func (p *Phrase) Wipe() {
	p.Entropy.Wipe()
	p.Words.Wipe()
}

// Decode reads a phrase in any of the languages. Spaces of any kind and number
// separate the words, and the form of accents does not matter (NFKD).
func (b *Books) Decode(pool *secret.Pool, text []byte) (*Phrase, error) {
	normal := nfkd(text)
	defer clear(normal)
	fields := bytes.Fields(normal)
	size := EntropySize(len(fields))
	if size == 0 {
		return nil, ErrLength
	}
	padded := pool.New(maxEntropy + 1)
	defer padded.Wipe()
	err := ErrWords
	for l := range languages {
		if !b.pack(padded.Raw(), fields, l) {
			continue
		}
		entropy, check := padded.Raw()[:size], padded.Raw()[size]
		if (check^checksum(entropy))&mask(size) != 0 {
			err = ErrChecksum
			continue
		}
		p := &Phrase{Language: l, Entropy: pool.New(size), Words: pool.New(len(normal) + len(fields))}
		copy(p.Entropy.Raw(), entropy)
		p.Words.Shrink(join(p.Words.Raw(), fields))
		return p, nil
	}
	return nil, err
}

// pack writes the numbers of the words, eleven bits each. It is false when a
// word is not of the language.
func (b *Books) pack(to []byte, fields [][]byte, l Language) bool {
	clear(to)
	for i, word := range fields {
		n, ok := b.index[l][string(word)]
		if !ok {
			return false
		}
		for j := range wordBits {
			bit := i*wordBits + j
			to[bit/8] |= byte(n>>(wordBits-1-j)&1) << (7 - bit%8)
		}
	}
	return true
}

func join(to []byte, fields [][]byte) (size int) {
	for i, word := range fields {
		if i > 0 {
			to[size] = ' '
			size++
		}
		size += copy(to[size:], word)
	}
	return size
}
