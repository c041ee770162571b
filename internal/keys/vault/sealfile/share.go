package sealfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/btcutil/bech32"

	"latchkey/internal/keys/vault/internal/mnemonic"
	"latchkey/internal/keys/vault/internal/secret"
)

// A share on paper is 38 bytes: two that name the group, its index, 32 of the share
// itself, three of a checksum. In words these are 28 of BIP-39's English list, eleven
// bits each, with four zero bits at the end; for a QR code they are bech32.
const (
	groupSize    = 2
	indexAt      = groupSize
	valueAt      = indexAt + 1
	checksumAt   = valueAt + scalarSize
	shareSize    = checksumAt + 3
	shareWords   = 28
	wordBits     = 11
	sharePrefix  = "lkshare"
	checkSize    = 16
	maxShareText = 1 << 10
)

// share is what one person of a group holds.
type share struct {
	group [groupSize]byte
	index byte
	value *secret.Bytes
}

// groupOf names a group on its shares.
func groupOf(recipient string) (group [groupSize]byte) {
	sum := sha256.Sum256([]byte("latchkey share group " + recipient))
	copy(group[:], sum[:])
	return group
}

// check tells a right share from a wrong one without telling the share: a share
// alone is random.
func (s *share) check() string {
	h := sha256.New()
	h.Write([]byte("latchkey share check "))
	h.Write(s.group[:])
	h.Write([]byte{s.index})
	h.Write(s.value.Raw())
	return hex.EncodeToString(h.Sum(nil)[:checkSize])
}

// text writes the share twice, a line each: in words, and for a QR code.
func (s *share) text(pool *secret.Pool, words *mnemonic.Books) ([]byte, error) {
	raw := pool.New(shareSize)
	defer raw.Wipe()
	b := raw.Raw()
	copy(b, s.group[:])
	b[indexAt] = s.index
	copy(b[valueAt:], s.value.Raw())
	sum := shareChecksum(b)
	copy(b[checksumAt:], sum[:])
	text := make([]byte, 0, maxShareText)
	for i := range shareWords {
		if i > 0 {
			text = append(text, ' ')
		}
		text = append(text, words.Word(mnemonic.English, bitsAt(b, i))...)
	}
	text = append(text, '\n')
	code, err := bech32.EncodeFromBase256(sharePrefix, b)
	if err != nil {
		return nil, fmt.Errorf("sealfile: %w", err)
	}
	return append(append(text, code...), '\n'), nil
}

func shareChecksum(b []byte) (sum [shareSize - checksumAt]byte) {
	whole := sha256.Sum256(b[:checksumAt])
	copy(sum[:], whole[:])
	return sum
}

// bitsAt reads the i-th eleven bits, with zeros after the end.
func bitsAt(b []byte, i int) (n uint16) {
	for bit := i * wordBits; bit < (i+1)*wordBits; bit++ {
		n <<= 1
		if bit/8 < len(b) {
			n |= uint16(b[bit/8] >> (7 - bit%8) & 1)
		}
	}
	return n
}

// parseShare reads a share in either form. No error quotes it.
func parseShare(pool *secret.Pool, words *mnemonic.Books, text []byte) (*share, error) {
	text = bytes.TrimSpace(text)
	raw := pool.New(shareSize)
	defer raw.Wipe()
	var err error
	switch {
	case len(text) == 0:
		return nil, errors.New("there is no share: it is 28 words, or a text that begins with lkshare1")
	case len(text) > maxShareText:
		return nil, errors.New("this is too long for a share: it is 28 words, or a text that begins with lkshare1")
	case bytes.HasPrefix(bytes.ToLower(text), []byte(sharePrefix+"1")):
		err = readCode(raw.Raw(), string(text))
	default:
		err = readWords(raw.Raw(), words, string(text))
	}
	if err != nil {
		return nil, err
	}
	b := raw.Raw()
	if sum := shareChecksum(b); !bytes.Equal(sum[:], b[checksumAt:]) {
		return nil, errors.New("the checksum of the share does not fit: a word is wrong, or two are in each other's place")
	}
	s := &share{index: b[indexAt], value: pool.New(scalarSize)}
	copy(s.group[:], b)
	copy(s.value.Raw(), b[valueAt:checksumAt])
	return s, nil
}

func readCode(to []byte, text string) error {
	_, raw, err := bech32.DecodeToBase256(text)
	defer clear(raw)
	if err != nil || len(raw) != shareSize {
		return errors.New("the share that begins with lkshare1 is not whole, or a character in it is wrong")
	}
	copy(to, raw)
	return nil
}

func readWords(to []byte, words *mnemonic.Books, text string) error {
	given := strings.Fields(strings.ToLower(text))
	if len(given) != shareWords {
		return fmt.Errorf("a share has %d words, this has %d", shareWords, len(given))
	}
	for i, word := range given {
		n, known := words.Index(mnemonic.English, word)
		if !known {
			return fmt.Errorf("word %d of the share is not in the list of BIP-39", i+1)
		}
		for at := range wordBits {
			bit := i*wordBits + at
			set := byte(n>>(wordBits-1-at)) & 1
			if bit/8 < len(to) {
				to[bit/8] |= set << (7 - bit%8)
			} else if set != 0 {
				return fmt.Errorf("word %d of the share cannot be its last one", i+1)
			}
		}
	}
	return nil
}

// groupName is how a group is shown.
func groupName(group [groupSize]byte) string {
	return fmt.Sprintf("%04x", binary.BigEndian.Uint16(group[:]))
}
