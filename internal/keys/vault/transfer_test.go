package vault

import (
	"bytes"
	"crypto/ecdh"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/mr-tron/base58"
	"golang.org/x/text/unicode/norm"

	"latchkey/internal/fault"
	"latchkey/internal/keys/curve"
	"latchkey/internal/keys/vault/bundle"
	"latchkey/internal/keys/vault/internal/hd"
	"latchkey/internal/keys/vault/internal/hpkebox"
	"latchkey/internal/keys/vault/internal/secret"
)

var allLanguages = []string{
	"", "MNEMONIC_LANGUAGE_ENGLISH", "MNEMONIC_LANGUAGE_SIMPLIFIED_CHINESE", "MNEMONIC_LANGUAGE_TRADITIONAL_CHINESE",
	"MNEMONIC_LANGUAGE_CZECH", "MNEMONIC_LANGUAGE_FRENCH", "MNEMONIC_LANGUAGE_ITALIAN", "MNEMONIC_LANGUAGE_JAPANESE",
	"MNEMONIC_LANGUAGE_KOREAN", "MNEMONIC_LANGUAGE_SPANISH",
}

// What a client got in any language it can bring back, and it has then the same
// words; brought back in English, it is the same wallet.
func TestSeedsGoOutAndComeBack(t *testing.T) {
	s, _ := begin(t)
	c := newClient(t)
	for _, words := range []int{12, 15, 18, 21, 24} {
		id := "s" + string(rune('a'+words))
		if err := s.CreateSeed(id, words); err != nil {
			t.Fatal(err)
		}
		for _, language := range allLanguages {
			text := exportSeed(t, s, c, id, language)
			if n := len(strings.Fields(text)); n != words {
				t.Fatalf("%s: %d words", language, n)
			}
			for _, form := range []string{text, norm.NFC.String(text), "  " + strings.ReplaceAll(text, " ", "　") + " ", text + "\npass phrase"} {
				if err := importSeed(t, s, "copy", form); err != nil {
					t.Fatalf("%s %q: %v", language, form, err)
				}
				_, passphrase, has := strings.Cut(form, "\n")
				back := exportSeed(t, s, c, "copy", language)
				want := text
				if has {
					want += "\n" + passphrase
				}
				// Chinese words may have been taken for the other list.
				if back != want && !strings.Contains(language, "CHINESE") {
					t.Errorf("%s: %q came back as %q", language, want, back)
				}
				// Without a language, the words are those that lead to the same keys.
				if back := exportSeed(t, s, c, "copy", ""); back != want {
					t.Errorf("%s: %q came back as %q by default", language, want, back)
				}
				same := publicKey(t, s, "copy") == publicKey(t, s, id)
				if english := language == "" || language == "MNEMONIC_LANGUAGE_ENGLISH"; same != (english && !has) {
					t.Errorf("%s, passphrase %v: same keys: %v", language, has, same)
				}
				if err := s.Destroy("copy"); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if _, _, err := s.ExportSeed("sm", "MNEMONIC_LANGUAGE_KLINGON", c.public()); !isFault(err) {
		t.Errorf("an unknown language: %v", err)
	}
}

func exportSeed(t testing.TB, s *Session, c client, id, language string) string {
	t.Helper()
	enc, ciphertext, err := s.ExportSeed(id, language, c.public())
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.open(enc, ciphertext)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func publicKey(t testing.TB, s *Session, seed string) string {
	t.Helper()
	public, err := s.Derive(seed, curve.KeyEd25519, nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(public)
}

func isFault(err error) bool { _, ok := fault.As(err); return ok }

func TestInvalidMnemonics(t *testing.T) {
	s, ciphertexts := begin(t)
	for _, text := range []string{
		strings.Repeat("abandon ", 12), strings.Repeat("abandon ", 11), "correct horse battery staple", "\n", "\xff",
		strings.Repeat("abandon ", 11) + "abouts", strings.Repeat("abandon ", 11) + "\nabout",
	} {
		if err := s.DropImportTarget("target of x"); err != nil {
			t.Fatal(err)
		}
		err := importSeed(t, s, "x", text)
		if !isFault(err) || !strings.Contains(err.Error(), "invalid mnemonic") {
			t.Errorf("%q: %v", text, err)
		}
		if err != nil && (strings.Contains(err.Error(), "abandon") || strings.Contains(err.Error(), "horse")) {
			t.Errorf("the refusal quotes: %v", err)
		}
	}
	if ciphertexts.items["target/target of x"] == nil {
		t.Error("an import that failed used up its target")
	}
}

func TestImportTargets(t *testing.T) {
	s, ciphertexts := begin(t)
	target, err := s.NewImportTarget("t")
	if err != nil || len(target) != 65 || target[0] != 4 {
		t.Fatalf("target %x, %v", target, err)
	}
	if _, err := s.NewImportTarget("t"); err == nil {
		t.Error("a target was replaced without being dropped")
	}
	key := bytes.Repeat([]byte{3}, 32)
	good := clientSeal(t, target, key)
	other, err := s.NewImportTarget("other")
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"no such target":    func() error { _, err := s.ImportKey("k", "x", curve.KeyP256, good); return err },
		"another target":    func() error { _, err := s.ImportKey("k", "other", curve.KeyP256, good); return err },
		"not JSON":          func() error { _, err := s.ImportKey("k", "t", curve.KeyP256, []byte("x")); return err },
		"altered":           func() error { _, err := s.ImportKey("k", "t", curve.KeyP256, flip(good)); return err },
		"unknown curve":     func() error { _, err := s.ImportKey("k", "t", "CURVE", good); return err },
		"a key as a phrase": func() error { return s.ImportSeed("k", "t", good) },
		"31 bytes": func() error {
			_, err := s.ImportKey("k", "t", curve.KeyP256, clientSeal(t, target, key[1:]))
			return err
		},
		"enc is no point": func() error {
			_, err := s.ImportKey("k", "t", curve.KeyP256, []byte(`{"encappedPublic":"04`+strings.Repeat("11", 64)+`","ciphertext":"`+strings.Repeat("00", 48)+`"}`))
			return err
		},
	} {
		if err := call(); !isFault(err) {
			t.Errorf("%s: %v, want a fault", name, err)
		}
	}
	if ciphertexts.items["target/t"] == nil || ciphertexts.items["key/k"] != nil {
		t.Error("a refused import changed the ciphertexts")
	}
	if _, err := s.ImportKey("k", "t", curve.KeyP256, good); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ImportKey("k2", "t", curve.KeyP256, good); !isFault(err) {
		t.Errorf("a target was used twice: %v", err)
	}
	if err := s.DropImportTarget("other"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ImportKey("k2", "other", curve.KeyP256, clientSeal(t, other, key)); !isFault(err) {
		t.Errorf("a target that was dropped: %v", err)
	}
}

// flip changes the last hex digit of the ciphertext.
func flip(text []byte) []byte {
	bad := bytes.Clone(text)
	i := bytes.LastIndexByte(bad, '"') - 1
	if j := bytes.IndexByte(bad, '}'); bad[j-1] == '"' {
		i = j - 2
	}
	if bad[i] == '0' {
		bad[i] = '1'
	} else {
		bad[i] = '0'
	}
	return bad
}

func TestKeysGoOut(t *testing.T) {
	s, _ := begin(t)
	c := newClient(t)
	if err := s.CreateSeed("seed", 12); err != nil {
		t.Fatal(err)
	}
	for _, kc := range []curve.KeyCurve{curve.KeySecp256k1, curve.KeyP256, curve.KeyEd25519} {
		raw := sha256.Sum256([]byte(kc))
		if _, err := importKey(t, s, string(kc), kc, bytes.Clone(raw[:])); err != nil {
			t.Fatal(err)
		}
		for name, recipient := range map[string][]byte{"uncompressed": c.public(), "compressed": hd.Compress(c.public())} {
			enc, ciphertext, err := s.ExportKey(string(kc), recipient)
			if err != nil {
				t.Fatal(err)
			}
			if plain, err := c.open(enc, ciphertext); err != nil || !bytes.Equal(plain, raw[:]) {
				t.Errorf("%s, %s: %x, %v", kc, name, plain, err)
			}
		}
		// A derived key goes out as it would be derived anew.
		public, err := s.StoreDerived("derived "+string(kc), "seed", kc, []uint32{1 << 31, 7})
		if err != nil {
			t.Fatal(err)
		}
		again, err := s.Derive("seed", kc, []uint32{1 << 31, 7})
		if err != nil || !bytes.Equal(again, public) {
			t.Errorf("%s: stored %x, derived %x, %v", kc, public, again, err)
		}
		enc, ciphertext, err := s.ExportKey("derived "+string(kc), c.public())
		if err != nil {
			t.Fatal(err)
		}
		plain, err := c.open(enc, ciphertext)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := hd.Public(kc, plain); err != nil || !bytes.Equal(got, public) {
			t.Errorf("%s: exported the key of %x, %v, want %x", kc, got, err, public)
		}
	}
}

func TestRecipients(t *testing.T) {
	s, _ := begin(t)
	if _, err := s.CreateKey("k", curve.KeyEd25519); err != nil {
		t.Fatal(err)
	}
	if err := s.CreateSeed("s", 12); err != nil {
		t.Fatal(err)
	}
	good := newClient(t).public()
	for name, recipient := range map[string][]byte{
		"nothing": nil, "infinity": {0}, "short": good[:64], "long": append(bytes.Clone(good), 0),
		"off the curve": append(bytes.Clone(good[:64]), good[64]^1), "hybrid": append([]byte{6}, good[1:]...),
		"x not on the curve": append([]byte{2}, bytes.Repeat([]byte{0xff}, 32)...),
	} {
		_, _, keyErr := s.ExportKey("k", recipient)
		_, _, seedErr := s.ExportSeed("s", "", recipient)
		_, _, credentialErr := s.NewCredential(recipient)
		for _, err := range []error{keyErr, seedErr, credentialErr} {
			if !isFault(err) || !strings.Contains(err.Error(), "targetPublicKey") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// wire.md 4.2: what a client does with a credential bundle.
func TestCredential(t *testing.T) {
	s, ciphertexts := begin(t)
	c := newClient(t)
	public, text, err := s.NewCredential(c.public())
	if err != nil {
		t.Fatal(err)
	}
	if len(ciphertexts.items) != 0 {
		t.Error("a credential was stored")
	}
	plain := openCredential(t, c, text)
	private, err := ecdh.P256().NewPrivateKey(plain)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(hd.Compress(private.PublicKey().Bytes()), public) {
		t.Error("the public key is not that of the private key")
	}
}

func openCredential(t testing.TB, c client, text string) []byte {
	t.Helper()
	all, err := base58.Decode(text)
	if err != nil || len(all) < 33+16+4 {
		t.Fatalf("%d bytes, %v", len(all), err)
	}
	payload, sum := all[:len(all)-4], all[len(all)-4:]
	once := sha256.Sum256(payload)
	if twice := sha256.Sum256(once[:]); !bytes.Equal(twice[:4], sum) {
		t.Fatal("the checksum is wrong")
	}
	plain, err := c.open(hd.Expand(payload[:33]), payload[33:])
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// The worked examples of wire.md, Appendix A.2 to A.4. The texts were made by
// the clients' own libraries, or opened by them.
const (
	exampleReceiver = "20fa65df11f24833790ae283fc9a0c215eecbbc589549767977994dc69d05a56"
	exampleKey      = "67ee05fc3bdf4161bc70701c221d8d77180294cefcfcea64ba83c4d4c732fcb9"
	examplePhrase   = "leaf lady until indicate praise final route toast cake minimum insect unknown"
)

func TestExamplesOfCredentials(t *testing.T) {
	private, err := ecdh.P256().NewPrivateKey(unhex(t, exampleReceiver))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"w99a5xV6A75TfoAUkZn869fVyDYvgVsKrawMALZXmrauZd8hEv66EkPU1Z42CUaHESQjcA5bqd8dynTGBMLWB9ewtXWPEVbZvocB4Tw2K1vQVp7uwjf",
		"knxedaQ1ZeJMFLJvUH11rSrKmMznsXa2PMnBsBBVRSMnPgjxefSdoTfzidsyfkUxiNdS8wfwgiXxVYcZfLwEtMpb7sk4dU75b2uBvPVima1pfhgqbNF",
	} {
		if got := hex.EncodeToString(openCredential(t, client{private}, text)); got != exampleKey {
			t.Errorf("%.10s: %s", text, got)
		}
		all, err := base58.Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		if again := bundle.Credential(all[:33], all[33:len(all)-4]); again != text {
			t.Errorf("written again: %s", again)
		}
	}
}

// plant puts a known import target on the ciphertexts.
func plant(t testing.TB, s *Session, id string, private []byte) {
	t.Helper()
	target := s.vault.pool.Of(bytes.Clone(private))
	defer target.Wipe()
	if err := s.put(kindTarget, id, target); err != nil {
		t.Fatal(err)
	}
}

func TestExamplesOfImports(t *testing.T) {
	s, _ := begin(t)
	tek := bytes.Repeat([]byte{0x33}, 32)
	for name, text := range map[string]string{
		"hex":    `{"encappedPublic":"044d642f4a0333911300e2bd9253d3e69b6c72a242aebc1b2e35181997f86b7d03e21c581452e2b07ed676509e68b1edd84a1e9d919bb68c7aa24048d99e3298ce","ciphertext":"6a882a344ff8aa5133c20aae5222f08811a9a605ed5ac98174861676eec971e95b9bf0074e8e0b11fb32cfb3ac714d9f"}`,
		"solana": `{"encappedPublic":"0464f55fa8c278bbf0610ef8e774a8cc324acb07a58f5de9d110c276d49e455c1acb475163a7ea2377b54606d7cbba412c0175686b7e6da0455789bb88ec4b9e03","ciphertext":"25baea92d0a466c080f7abf24c0d70e60ebfa9c1de319aeea837e8c325e797baf2f8c1bc954195950214238791722349"}`,
	} {
		plant(t, s, name, tek)
		public, err := s.ImportKey(name, name, curve.KeyEd25519, []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want, err := hd.Public(curve.KeyEd25519, unhex(t, exampleKey))
		if err != nil || !bytes.Equal(public, want) {
			t.Errorf("%s: %x, want %x", name, public, want)
		}
	}
	plant(t, s, "phrase", tek)
	if err := s.ImportSeed("phrase", "phrase", []byte(`{"encappedPublic":"0445f66631b089e5998883d0a41d19e5be2fa80a56c939302133b3378a4def5e423253ddcb12061256b95d0c47e38523dd7d9d1b33515d0f6fd52e353fb2b8a4f6","ciphertext":"31233803239f5120aa716024085f643645adece85d7f69a59de3b943963430715ec14c6fba298a8c24fa51b3e6879b071ded75ddf9c154f11928982ba52b9ce0a68a640549fb3aae4595688cc2f2d56ec494298edfea738456fa4b9de7"}`)); err != nil {
		t.Fatal(err)
	}
	if got := exportSeed(t, s, newClient(t), "phrase", ""); got != examplePhrase {
		t.Errorf("%s", got)
	}
	// The bundle of a one-time code has another plaintext, but the same form.
	sealed, err := bundle.ParseEncrypted([]byte(`{"encappedPublic":"041d59ddfbeb1c8dd6ac6ad9850ba976abe600251a2bc580b3e036716e7f5dc41889181b0f9da59821bc707c70aaefc675a2f6c21b9b3fef80e9715f52571b6362","ciphertext":"ceec69168b8a670650b889ad1f75259d67604af7e1160c2737596a83cc806464e846e4b05814203ef18a636501a4c2c585f4f1a0609f24fc029f086a368df4bdce5793a5990d0a4071b954f503a2a28ce5d3b2378c36524a1412b9d4f6930005c40cf5db990958b90711631788ed242f1849e99128d37b"}`))
	if err != nil {
		t.Fatal(err)
	}
	var pool secret.Pool
	plain, err := hpkebox.Open(&pool, pool.Of(tek), sealed.Enc, sealed.Ciphertext)
	if err != nil || string(plain.Raw()) != `{"otp_code":"123456","public_key":"036335b78f92736e32e99dc6aed979aff0b5c24192e76b1628aa54edaf58c8c15d"}` {
		t.Errorf("%v", err)
	}
}

func TestExamplesOfExports(t *testing.T) {
	private, err := ecdh.P256().NewPrivateKey(unhex(t, exampleReceiver))
	if err != nil {
		t.Fatal(err)
	}
	c := client{private}
	for _, tc := range []struct{ enc, ciphertext, want string }{
		{"04bd9596ebdb0d71206e7eb95ee341485091a7e886d64b581ac28d3da5a5a2b04bcf2a63eb845afa7ca5c04de2b7f3a2bde3adc2ea9bd244c86b97e60ff3340229", "5aeaccebd18fdd8a39af6d5878f9d9f6b60324004a250ef6dea843d660f673e6aadadc0b76fb2ed78ee548ec3ae1d38d", string(unhex(t, exampleKey))},
		{"048e5dd8373b2d3bbaf4e650d5e920980b9cc66277891dbe2fdd0346dc5a188e03e9b3c63d381dc492fb63949a1f4e25877ce7e59e2e4c6497aa9424d3ece0ee7f", "75ddf5e9deecc2516ae295a3f05f333dc68591d790b87f6ed5702295a297b09e5b97f9dccb8d26133c7b2e8d849b314dab44979aa3609a3b1d81cb3dd0b69167ec2cb823ed863b449ae0017f8cb270a7d268987489a033658db706ab03", examplePhrase},
	} {
		plain, err := c.open(unhex(t, tc.enc), unhex(t, tc.ciphertext))
		if err != nil || string(plain) != tc.want {
			t.Errorf("%q, %v", plain, err)
		}
	}
}

func FuzzImportBundle(f *testing.F) {
	s, _ := begin(f)
	target, err := s.NewImportTarget("t")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(clientSeal(f, target, bytes.Repeat([]byte{0xff}, 32))) // not below n: refused
	f.Add(clientSeal(f, target, []byte("too short")))
	f.Add([]byte(`{"encappedPublic":"04","ciphertext":""}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := s.ImportKey("k", "t", curve.KeySecp256k1, text); !isFault(err) {
			t.Errorf("as a key: %v", err)
		}
		if err := s.ImportSeed("k", "t", text); !isFault(err) {
			t.Errorf("as a phrase: %v", err)
		}
	})
}
