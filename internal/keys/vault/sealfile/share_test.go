package sealfile

import (
	"bytes"
	"strings"
	"testing"

	"latchkey/internal/keys/vault/internal/secret"
)

func lines(text []byte) (words, code string) {
	words, code, _ = strings.Cut(strings.TrimSpace(string(text)), "\n")
	return words, code
}

func TestShareText(t *testing.T) {
	pool := &secret.Pool{}
	defer pool.Close()
	given := share{group: groupOf("age1x"), index: 7, value: pool.Random(scalarSize)}
	text, err := given.text(pool, books())
	if err != nil {
		t.Fatal(err)
	}
	words, code := lines(text)
	if n := len(strings.Fields(words)); n != shareWords {
		t.Errorf("%d words", n)
	}
	for _, form := range []string{
		words, code, strings.ToUpper(words), strings.ToUpper(code),
		"  " + strings.ReplaceAll(words, " ", "\t ") + "\r\n", code + "\n",
	} {
		got, err := parseShare(pool, books(), []byte(form))
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if got.group != given.group || got.index != given.index || !bytes.Equal(got.value.Raw(), given.value.Raw()) {
			t.Error("another share came back")
		}
	}
	list := strings.Fields(words)
	swapped := append([]string{list[1], list[0]}, list[2:]...)
	for name, tc := range map[string]struct{ text, problem string }{
		"nothing":           {" \n", "28 words"},
		"a word less":       {strings.Join(list[1:], " "), "has 27"},
		"a word more":       {words + " abandon", "has 29"},
		"an unknown word":   {strings.Join(append([]string{"latchkey"}, list[1:]...), " "), "word 1"},
		"two words swapped": {strings.Join(swapped, " "), "checksum"},
		"a last word":       {strings.Join(append(list[:27:27], "zoo"), " "), "word 28"},
		"a cut code":        {code[:len(code)-1], "not whole"},
		"a changed code":    {code[:20] + flip(code[20:21]) + code[21:], "not whole"},
		"far too long":      {strings.Repeat("abandon ", 1000), "too long"},
	} {
		if name == "two words swapped" && list[0] == list[1] {
			continue
		}
		_, err := parseShare(pool, books(), []byte(tc.text))
		if err == nil || !strings.Contains(err.Error(), tc.problem) {
			t.Errorf("%s: %v, want %q", name, err, tc.problem)
		}
	}
}

// flip is another character of bech32.
func flip(c string) string {
	if c == "q" {
		return "p"
	}
	return "q"
}

func FuzzParseShare(f *testing.F) {
	pool := &secret.Pool{}
	f.Cleanup(pool.Close)
	s := share{group: groupOf("age1x"), index: 1, value: pool.Random(scalarSize)}
	text, err := s.text(pool, books())
	if err != nil {
		f.Fatal(err)
	}
	words, code := lines(text)
	f.Add([]byte(words))
	f.Add([]byte(code))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := parseShare(pool, books(), text)
		if err != nil {
			return
		}
		defer got.value.Wipe()
		again, err := got.text(pool, books())
		if err != nil {
			t.Fatal(err)
		}
		same, err := parseShare(pool, books(), again[:bytes.IndexByte(again, '\n')])
		if err != nil || same.index != got.index || same.group != got.group {
			t.Fatalf("%v, %v", same, err)
		}
		same.value.Wipe()
	})
}
