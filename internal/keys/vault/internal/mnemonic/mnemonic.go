// Package mnemonic turns entropy into words and back, in the nine languages of
// BIP-39, and words into a seed.
//
// A seed follows from the text of the words and not from the entropy: the same
// entropy in two languages gives two seeds.
package mnemonic

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/sha512"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"latchkey/internal/keys/vault/internal/secret"
)

// Language is the number of a language as it is stored. The order is fixed.
type Language byte

// The languages, in the order in which a text is tried. A text that is valid
// in two of them is taken to be in the first; its seed is the same in both.
const (
	English Language = iota
	SimplifiedChinese
	TraditionalChinese
	Czech
	French
	Italian
	Japanese
	Korean
	Spanish
	languages
)

var names = [languages]string{
	"ENGLISH", "SIMPLIFIED_CHINESE", "TRADITIONAL_CHINESE", "CZECH", "FRENCH", "ITALIAN", "JAPANESE", "KOREAN", "SPANISH",
}

// files has a list for each language, as BIP-39 publishes it: wordlists/README.md.
//
//go:embed wordlists/*.txt
var files embed.FS

// lists are the names of the files.
var lists = [languages]string{
	"english", "chinese_simplified", "chinese_traditional", "czech", "french", "italian", "japanese", "korean", "spanish",
}

const prefix = "MNEMONIC_LANGUAGE_"

// ParseLanguage reads a language as the interface names it.
func ParseLanguage(name string) (Language, bool) {
	for l, n := range names {
		if name == prefix+n {
			return Language(l), true
		}
	}
	return 0, false
}

func (l Language) String() string {
	if l >= languages {
		return fmt.Sprintf("%s%d", prefix, byte(l))
	}
	return prefix + names[l]
}

// BIP-39: each word carries 11 bits; a phrase is 32 bits of entropy and one
// bit of checksum for every three words.
const (
	wordBits   = 11
	wordCount  = 1 << wordBits
	minWords   = 12
	maxWords   = 24
	maxEntropy = 32
	rounds     = 2048
	// SeedSize is the number of bytes of a seed.
	SeedSize = 64
)

// EntropySize is the number of bytes behind a number of words, zero when
// BIP-39 knows no such phrase.
func EntropySize(words int) int {
	if words < minWords || words > maxWords || words%3 != 0 {
		return 0
	}
	return words / 3 * 4
}

// Books are the word lists with their indexes, in NFKD, which is how the files
// have them.
type Books struct {
	words [languages][]string
	index [languages]map[string]uint16
}

// Load builds the books. It takes some milliseconds; keep the result.
func Load() *Books {
	var b Books
	for l, name := range lists {
		text, err := files.ReadFile("wordlists/" + name + ".txt")
		if err != nil {
			panic(err) // the file is part of the program
		}
		b.words[l], b.index[l] = strings.Fields(string(text)), make(map[string]uint16, wordCount)
		for i, word := range b.words[l] {
			b.index[l][word] = uint16(i)
		}
		if len(b.words[l]) != wordCount || len(b.index[l]) != wordCount {
			panic("mnemonic: the word list " + name + " is not complete")
		}
	}
	return &b
}

// Encode writes the words of entropy, separated by spaces, in NFKD.
func (b *Books) Encode(pool *secret.Pool, entropy []byte, l Language) (*secret.Bytes, error) {
	words := len(entropy) * 3 / 4
	if l >= languages || EntropySize(words) != len(entropy) {
		return nil, errors.New("mnemonic: there are no words for this entropy or language")
	}
	padded := pool.New(maxEntropy + 1)
	defer padded.Wipe()
	copy(padded.Raw(), entropy)
	padded.Raw()[len(entropy)] = checksum(entropy)
	const longest = 40 // bytes of a word and its space; checked by a test
	text := pool.New(words * longest)
	size := 0
	for i := range words {
		if i > 0 {
			text.Raw()[size] = ' '
			size++
		}
		size += copy(text.Raw()[size:], b.words[l][eleven(padded.Raw(), i)])
	}
	text.Shrink(size)
	return text, nil
}

// checksum is the first byte of the hash; a phrase uses its first bits.
func checksum(entropy []byte) byte {
	hash := sha256.Sum256(entropy)
	defer clear(hash[:])
	return hash[0]
}

// eleven reads the i-th group of eleven bits.
func eleven(b []byte, i int) (n uint16) {
	for bit := i * wordBits; bit < (i+1)*wordBits; bit++ {
		n = n<<1 | uint16(b[bit/8]>>(7-bit%8)&1)
	}
	return n
}

// Seed stretches words and passphrase into a seed: BIP-39 "From mnemonic to
// seed". The words are as Encode or Decode return them.
func Seed(pool *secret.Pool, words, passphrase *secret.Bytes) (*secret.Bytes, error) {
	normal := nfkd(passphrase.Raw())
	salt := slices.Concat([]byte("mnemonic"), normal)
	defer clear(normal)
	defer clear(salt)
	seed, err := pbkdf2.Key(sha512.New, string(words.Raw()), salt, rounds, SeedSize)
	if err != nil {
		return nil, fmt.Errorf("mnemonic: %w", err)
	}
	return pool.Of(seed), nil
}

// nfkd normalises. The caller wipes the result; it is made large enough at once,
// because growing would leave copies behind.
func nfkd(text []byte) []byte {
	return norm.NFKD.Append(make([]byte, 0, 4*len(text)+64), text...)
}

// mask has the checksum bits of an entropy of n bytes: one for each 32 bits.
func mask(n int) byte { return 0xff << (8 - n/4) }

// Word is the word of a language for eleven bits.
func (b *Books) Word(l Language, n uint16) string { return b.words[l][n%wordCount] }

// Index is what a word of a language stands for.
func (b *Books) Index(l Language, word string) (n uint16, known bool) {
	n, known = b.index[l][word]
	return n, known
}
