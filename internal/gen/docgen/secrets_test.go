package docgen

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"encoding/hex"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// TestNoSecrets checks that what was recorded holds no private key: no 32 bytes
// in it are that of a public key in it, and no words are those of a wallet. The
// keys are of tests and worth nothing, but a page that shows one would teach to
// send them.
func TestNoSecrets(t *testing.T) {
	text := read(t, filepath.Join(api, "examples.json"))
	found := secrets(text)
	if len(found) > 0 {
		t.Errorf("examples.json holds %d secrets, the first at %q…", len(found), found[0][:8])
	}
}

// TestSecretsAreFound makes sure that the search above can find something.
func TestSecretsAreFound(t *testing.T) {
	key := strings.Repeat("44", 32) // its public keys are those of the stamps' test vectors
	for name, text := range map[string]string{
		"P-256":        key + `","025b36890dacbd7c9a96bb74a1ee28b3d2d75b72e09a20ef25cf8e6fd8a9f0350d"`,
		"secp256k1":    "032c0b7cf95324a07d05398b240174dc0c2be444d96b159aa6c7f7b1e668680991 0x" + key,
		"uncompressed": key + " 042c0b7cf95324a07d05398b240174dc0c2be444d96b159aa6c7f7b1e668680991",
		"Ed25519":      key + "/d759793bbc13a2819a827c76adb6fba8a49aee007f49f2d0992d99b825ad2c48",
		"a mnemonic":   `"leaf lady until indicate praise final route toast cake minimum insect unknown"`,
	} {
		if len(secrets(text)) != 1 {
			t.Errorf("%s: found %d secrets, want 1", name, len(secrets(text)))
		}
	}
	if found := secrets("025b36890dacbd7c9a96bb74a1ee28b3d2d75b72e09a20ef25cf8e6fd8a9f0350d " + strings.Repeat("45", 32)); len(found) > 0 {
		t.Errorf("found %q, which is no secret", found)
	}
}

var (
	digits = regexp.MustCompile(`[0-9a-fA-F]{64,}`)
	words  = regexp.MustCompile(`\b(?:[a-z]{3,8} ){11,}[a-z]{3,8}\b`)
)

// secrets finds private keys whose public key is in the text too, and mnemonics.
func secrets(text string) []string {
	found := words.FindAllString(text, -1)
	lower := strings.ToLower(text)
	runs := digits.FindAllString(lower, -1)
	slices.Sort(runs)
	for _, run := range slices.Compact(runs) {
		// A private key is shown by itself, or with its public key after it.
		for _, private := range slices.Compact([]string{run[:64], run[len(run)-64:]}) {
			if slices.ContainsFunc(publicKeys(private), func(public string) bool { return strings.Contains(lower, public) }) {
				found = append(found, private)
			}
		}
	}
	return found
}

// publicKeys are those of a private key, without what tells their forms apart:
// an x coordinate is a part of all forms.
func publicKeys(private string) []string {
	raw, err := hex.DecodeString(private)
	if err != nil {
		return nil
	}
	ed := ed25519.NewKeyFromSeed(raw).Public().(ed25519.PublicKey)
	keys := []string{
		hex.EncodeToString(ed),
		hex.EncodeToString(secp256k1.PrivKeyFromBytes(raw).PubKey().SerializeCompressed()[1:]),
	}
	if p256, err := ecdh.P256().NewPrivateKey(raw); err == nil {
		keys = append(keys, hex.EncodeToString(p256.PublicKey().Bytes()[1:33]))
	}
	return keys
}
