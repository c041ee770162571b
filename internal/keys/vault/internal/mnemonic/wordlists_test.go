package mnemonic

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// The files are those of BIP-39, byte for byte, and each language has its own.
// A list that changes makes other wallets of the words that people have on paper.
func TestListsAreTheOfficialOnes(t *testing.T) {
	want := map[Language]string{
		English:            "2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda",
		SimplifiedChinese:  "5c5942792bd8340cb8b27cd592f1015edf56a8c5b26276ee18a482428e7c5726",
		TraditionalChinese: "417b26b3d8500a4ae3d59717d7011952db6fc2fb84b807f3f94ac734e89c1b5f",
		Czech:              "7e80e161c3e93d9554c2efb78d4e3cebf8fc727e9c52e03b83b94406bdcc95fc",
		French:             "ebc3959ab7801a1df6bac4fa7d970652f1df76b683cd2f4003c941c63d517e59",
		Italian:            "d392c49fdb700a24cd1fceb237c1f65dcc128f6b34a8aacb58b59384b5c648c2",
		Japanese:           "2eed0aef492291e061633d7ad8117f1a2b03eb80a29d0e4e3117ac2528d05ffd",
		Korean:             "9e95f86c167de88f450f0aaf89e87f6624a57f973c67b516e338e8e8b8897f60",
		Spanish:            "46846a5a0139d1e3cb77293e521c2865f7bcdb82c44e8d0a06a2cd0ecba48c0b",
	}
	for l := range languages {
		text, err := files.ReadFile("wordlists/" + lists[l] + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		hash := sha256.Sum256(text)
		if got := hex.EncodeToString(hash[:]); got != want[l] {
			t.Errorf("%v: the file has the hash %s, want %s", l, got, want[l])
		}
		if strings.Join(books.words[l], "\n")+"\n" != string(text) {
			t.Errorf("%v: what is loaded differs from the file", l)
		}
		if !norm.NFKD.IsNormal(text) {
			t.Errorf("%v: the file is not in NFKD", l)
		}
	}
	entries, err := files.ReadDir("wordlists")
	if err != nil || len(entries) != int(languages) {
		t.Errorf("%d files for %d languages, %v", len(entries), languages, err)
	}
}

func TestListsAreWhole(t *testing.T) {
	for l := range languages {
		if n := len(books.words[l]); n != 2048 {
			t.Errorf("%v has %d words", l, n)
		}
		for i, word := range books.words[l] {
			if n, ok := books.index[l][word]; !ok || int(n) != i {
				t.Errorf("%v: word %d, %s, is found at %d, %v", l, i, word, n, ok)
			}
		}
	}
}

// BIP-39 wants sorted lists. As published, the Chinese ones go by frequency, the
// Japanese one as its dictionaries do, and in the Czech one "svatba" comes late;
// for these the hash alone holds the order.
func TestListsAreSorted(t *testing.T) {
	// Accents do not count, but ñ is a letter after n.
	plain := func(word string) string {
		return strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Mn, r) && r != '\u0303' {
				return -1
			}
			return r
		}, word)
	}
	for _, l := range []Language{English, French, Italian, Korean, Spanish} {
		var words []string
		for _, word := range books.words[l] {
			words = append(words, plain(word))
		}
		if !slices.IsSorted(words) {
			t.Errorf("%v is not sorted", l)
		}
	}
}
