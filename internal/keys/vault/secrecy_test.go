package vault

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/mr-tron/base58"
	"pgregory.net/rapid"

	"latchkey/internal/keys/curve"
)

// forms are the ways in which bytes might show up in a text.
func forms(plain []byte) []string {
	return []string{
		string(plain), hex.EncodeToString(plain), strings.ToUpper(hex.EncodeToString(plain)), fmt.Sprintf("% x", plain),
		base58.Encode(plain), base64.StdEncoding.EncodeToString(plain), base64.RawURLEncoding.EncodeToString(plain),
		strings.Trim(fmt.Sprint(plain), "[]"),
	}
}

func leaks(text string, secrets ...[]byte) string {
	for _, plain := range secrets {
		for _, form := range forms(plain) {
			if strings.Contains(text, form) {
				return form
			}
		}
	}
	return ""
}

// Whatever a client or an operator feeds in, neither a printed object nor an
// error holds a secret, and nor does the ciphertexts.
func TestSecretsAreNeverShown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secretOf := func(label string, least int) []byte {
			return rapid.SliceOfN(rapid.ByteRange(1, 255), least, 48).Draw(t, label)
		}
		master := secretOf("master", 32)[:32]
		v, c, err := Open(fixed{"test", [32]byte(master)})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		ciphertexts := newMemory()
		authorized := c.Authorize(testScope)
		s, err := authorized.Begin(testScope, ciphertexts)
		if err != nil {
			t.Fatal(err)
		}
		serverKeys, err := v.LoadOrCreateServerKeys(newMemory())
		if err != nil {
			t.Fatal(err)
		}
		logKeys, err := v.LoadOrCreateLogKeys(newMemory(), "1", testOrigin)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		note := func(err error) {
			if err != nil {
				texts = append(texts, err.Error(), fmt.Sprintf("%+v %#v", err, err))
			}
		}
		key := secretOf("key", 16)
		words := "zebra " + hex.EncodeToString(secretOf("words", 16))
		for _, plain := range [][]byte{key, []byte(words), []byte(words + "\n" + string(key))} {
			note(s.DropImportTarget("t"))
			target, err := s.NewImportTarget("t")
			if err != nil {
				t.Fatal(err)
			}
			sealed := clientSeal(t, target, plain)
			note(s.ImportSeed("seed", "t", sealed))
			kc := rapid.SampledFrom([]curve.KeyCurve{curve.KeyP256, curve.KeySecp256k1, curve.KeyEd25519, "CURVE"}).Draw(t, "curve")
			_, err = s.ImportKey("key", "t", kc, sealed)
			note(err)
			_, err = s.ImportKey("key", "t", kc, plain) // a client that forgot to seal
			note(err)
			_, _, err = s.ExportKey("key", plain) // and one that mixed up its keys
			note(err)
			_, err = s.SignMessage("key", plain)
			note(err)
		}
		var log bytes.Buffer
		logger := slog.New(slog.NewJSONHandler(&log, nil))
		plain := slog.New(slog.NewTextHandler(&log, nil))
		for _, object := range []any{v, *c, c, authorized, s, serverKeys, logKeys, v.known()[0], v.known(), &v.ring} {
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%q"} {
				texts = append(texts, fmt.Sprintf(verb, object))
			}
			logger.Info("x", "object", object)
			plain.Info("x", "object", object)
			if text, err := json.Marshal(object); err == nil {
				texts = append(texts, string(text))
			}
		}
		texts = append(texts, log.String())
		for _, sealed := range ciphertexts.items {
			texts = append(texts, string(sealed))
		}
		data := v.ring.data.all
		secrets := [][]byte{master, key, []byte(words), v.known()[0].key.Raw(), serverKeys.signerKey(), serverKeys.sessionKey(), logKeys.seeds.Raw()[:logSeedSize], logKeys.seeds.Raw()[logSeedSize:]}
		for _, k := range data {
			secrets = append(secrets, k.Raw())
		}
		for _, text := range texts {
			if form := leaks(text, secrets...); form != "" {
				t.Fatalf("%q is in %q", form, text)
			}
		}
	})
}
