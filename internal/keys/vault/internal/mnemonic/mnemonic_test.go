package mnemonic

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"latchkey/internal/keys/vault/internal/secret"
)

var books = Load()

// Vectors of BIP-39 (passphrase TREZOR), and of its Japanese companion.
func TestPublishedVectors(t *testing.T) {
	var pool secret.Pool
	defer pool.Close()
	for _, tc := range []struct {
		language                         Language
		entropy, words, passphrase, seed string
	}{
		{English, "00000000000000000000000000000000", strings.Repeat("abandon ", 11) + "about", "TREZOR", "c55257c360c07c72029aebc1b53c05ed0362ada38ead3e3e9efa3708e53495531f09a6987599d18264c1e1c92f2cf141630c7a3c4ab7c81b2f001698e7463b04"},
		{English, "00000000000000000000000000000000", strings.Repeat("abandon ", 11) + "about", "", "5eb00bbddcf069084889a8ab9155568165f5c453ccb85e70811aaed6f6da5fc19a5ac40b389cd370d086206dec8aa6c43daea6690f20ad3d8d48b2d2ce9e38e4"},
		{English, "7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f", "legal winner thank year wave sausage worth useful legal winner thank yellow", "", "878386efb78845b3355bd15ea4d39ef97d179cb712b77d5c12b6be415fffeffe5f377ba02bf3f8544ab800b955e51fbff09828f682052a20faa6addbbddfb096"},
		{Japanese, "00000000000000000000000000000000", strings.Repeat("あいこくしん　", 11) + "あおぞら", "㍍ガバヴァぱばぐゞちぢ十人十色", "a262d6fb6122ecf45be09c50492b31f92e9beb7d9a845987a02cefda57a15f9c467a17872029a9e92299b5cbdf306e3a0ee620245cbd508959b6cb7ca637bd55"},
	} {
		p, err := books.Decode(&pool, []byte(tc.words))
		if err != nil {
			t.Fatalf("%s: %v", tc.words, err)
		}
		if p.Language != tc.language || hex.EncodeToString(p.Entropy.Raw()) != tc.entropy {
			t.Errorf("%s: %v %x", tc.words, p.Language, p.Entropy.Raw())
		}
		seed, err := Seed(&pool, p.Words, pool.Of([]byte(tc.passphrase)))
		if err != nil || hex.EncodeToString(seed.Raw()) != tc.seed {
			t.Errorf("%s: seed %x, %v", tc.words, seed.Raw(), err)
		}
		again, err := books.Encode(&pool, p.Entropy.Raw(), tc.language)
		if err != nil || string(again.Raw()) != string(p.Words.Raw()) {
			t.Errorf("%s: written again: %s, %v", tc.words, again.Raw(), err)
		}
		p.Wipe()
	}
}

func TestRefusedPhrases(t *testing.T) {
	var pool secret.Pool
	defer pool.Close()
	for _, tc := range []struct {
		text string
		want error
	}{
		{strings.Repeat("abandon ", 12), ErrChecksum},
		{strings.Repeat("abandon ", 11) + "zoo", ErrChecksum},
		{strings.Repeat("abandon ", 23) + "about", ErrChecksum},
		{strings.Repeat("test ", 12), ErrChecksum},
		{strings.Repeat("abandon ", 11), ErrLength},
		{strings.Repeat("abandon ", 11) + "about about", ErrLength},
		{strings.Repeat("abandon ", 8) + "about", ErrLength},
		{strings.Repeat("abandon ", 26) + "about", ErrLength},
		{"", ErrLength},
		{strings.Repeat("abandon ", 11) + "abouts", ErrWords},
		{"ABANDON " + strings.Repeat("abandon ", 10) + "about", ErrWords}, // words are as the lists have them
		{strings.Repeat("abandon ", 11) + "あおぞら", ErrWords},
		{strings.Repeat("\xff ", 12), ErrWords},
		{"  " + strings.Repeat("abandon ", 11) + "about\t", nil},
		{strings.Repeat("abandon  ", 11) + "about\r", nil},
		{strings.Repeat("abandon\u3000", 11) + "about", nil},
	} {
		p, err := books.Decode(&pool, []byte(tc.text))
		if !errors.Is(err, tc.want) {
			t.Errorf("%q: %v, want %v", tc.text, err, tc.want)
		}
		if err == nil && string(p.Words.Raw()) != strings.Repeat("abandon ", 11)+"about" {
			t.Errorf("%q: normalised to %q", tc.text, p.Words.Raw())
		}
	}
}

// Every language and length comes back, composed or not.
func TestRoundTrip(t *testing.T) {
	var pool secret.Pool
	defer pool.Close()
	rapid.Check(t, func(t *rapid.T) {
		l := Language(rapid.IntRange(0, int(languages)-1).Draw(t, "language"))
		size := rapid.SampledFrom([]int{16, 20, 24, 28, 32}).Draw(t, "size")
		entropy := rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "entropy")
		words, err := books.Encode(&pool, entropy, l)
		if err != nil {
			t.Fatal(err)
		}
		defer words.Wipe()
		text := string(words.Raw())
		if rapid.Bool().Draw(t, "composed") {
			text = norm.NFC.String(text)
		}
		p, err := books.Decode(&pool, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		defer p.Wipe()
		if string(p.Words.Raw()) != string(words.Raw()) {
			t.Fatalf("%q became %q", words.Raw(), p.Words.Raw())
		}
		// Lists share words, so that a text may be taken for an earlier language.
		if p.Language > l || p.Language == l && string(p.Entropy.Raw()) != string(entropy) {
			t.Fatalf("%q: %v %x, want %v %x", text, p.Language, p.Entropy.Raw(), l, entropy)
		}
	})
}

func TestWordsFitTheBuffer(t *testing.T) {
	for l := range languages {
		seen := map[string]bool{}
		for _, word := range books.words[l] {
			if len(word)+1 > 40 {
				t.Errorf("%v: %s has %d bytes", l, word, len(word))
			}
			if seen[word] {
				t.Errorf("%v: %s is there twice", l, word)
			}
			seen[word] = true
		}
	}
}

func TestLanguages(t *testing.T) {
	for l := range languages {
		if got, ok := ParseLanguage(l.String()); !ok || got != l {
			t.Errorf("%v is read as %v, %v", l, got, ok)
		}
	}
	if _, ok := ParseLanguage(""); ok {
		t.Error("nothing is a language")
	}
	for _, name := range []string{"ENGLISH", "MNEMONIC_LANGUAGE_KLINGON", "mnemonic_language_english"} {
		if _, ok := ParseLanguage(name); ok {
			t.Errorf("%q is a language", name)
		}
	}
	var pool secret.Pool
	if _, err := books.Encode(&pool, make([]byte, 16), languages); err == nil {
		t.Error("an unknown language has words")
	}
	if _, err := books.Encode(&pool, make([]byte, 17), English); err == nil {
		t.Error("17 bytes have words")
	}
}

func FuzzMnemonic(f *testing.F) {
	f.Add(strings.Repeat("abandon ", 11) + "about")
	f.Add(strings.Repeat("あいこくしん　", 11) + "あおぞら")
	f.Add(strings.Repeat("abandon ", 23) + "art")
	f.Add("\xff\x00 e\u0301")
	var pool secret.Pool
	f.Fuzz(func(t *testing.T, text string) {
		p, err := books.Decode(&pool, []byte(text))
		if err != nil {
			for _, word := range strings.Fields(text) {
				if len(word) > 8 && strings.Contains(err.Error(), word) {
					t.Errorf("the error quotes %q", word)
				}
			}
			return
		}
		defer p.Wipe()
		words, err := books.Encode(&pool, p.Entropy.Raw(), p.Language)
		if err != nil {
			t.Fatal(err)
		}
		defer words.Wipe()
		if string(words.Raw()) != string(p.Words.Raw()) {
			t.Errorf("%q is written again as %q", p.Words.Raw(), words.Raw())
		}
	})
}
