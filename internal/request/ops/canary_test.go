package ops_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/mr-tron/base58"

	"latchkey/internal/server/config"
	"latchkey/internal/store/sqlite"
	. "latchkey/internal/test/servertest"
)

// TestCanary imports known keys, runs every kind of operation with them, and
// then searches everything that the server wrote or said, and a backup, for the
// keys, however they could be written.
func TestCanary(t *testing.T) {
	const phrase = "leaf lady until indicate praise final route toast cake minimum insect unknown"
	const private = "67ee05fc3bdf4161bc70701c221d8d77180294cefcfcea64ba83c4d4c732fcb9"
	const stored = "4242 4242 4242 4242, 11/29, 123: a card whose number is to be found nowhere"
	EachStore(t, func(t *testing.T, url string) {
		const master = "9d1c3f0be6a2457788c0d1e2f3a4b5c6d7e8f90123456789abcdef1032547698"
		keyFile := filepath.Join(t.TempDir(), "master.key")
		if err := os.WriteFile(keyFile, []byte(master+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s := StartWith(t, url, config.Default(), "file:"+keyFile, "")
		var said bytes.Buffer
		hear := func(v Value) Value { said.WriteString(v.String()); return v }
		wallet := hear(importWallet(t, s, "canary", phrase+"\nTREZOR", ethereumAccount))
		key := hear(importKey(t, s, "canary", "CURVE_SECP256K1", private, "ADDRESS_FORMAT_ETHEREUM"))
		recipient := NewRecipient(t)
		client := hear(s.Root.Submit(t, "create_oauth2_credential", m{"provider": "OAUTH2_PROVIDER_X", "clientId": "canary client", "encryptedClientSecret": s.SealClientSecret(t, oauth2Secret)}).
			Get("result", "createOauth2CredentialResult"))
		hear(s.Root.Query(t, "get_oauth2_credential", m{"oauth2CredentialId": client.Get("oauth2CredentialId").Text()}))
		secret := importSecrets(t, s, s.Root, secretOf(stored, m{"name": "card", "staticProperties": []any{m{"key": "kind", "value": "canary card"}}}))[0]
		hear(s.Root.Submit(t, "export_secrets", exportSecrets(recipient, secret)))
		hear(s.Root.Refused(t, 400, "import_secrets", m{"secrets": []any{importOf(t, s, s.Root, secretOf(stored), s.Root.Key.PublicKey())}}))
		for operation, params := range map[string]m{
			"sign_raw_payload":       {"signWith": key.Get("privateKeyId").Text(), "payload": "x", "encoding": "PAYLOAD_ENCODING_TEXT_UTF8", "hashFunction": "HASH_FUNCTION_SHA256"},
			"create_wallet_accounts": {"walletId": wallet.Get("walletId").Text(), "accounts": []any{account("CURVE_ED25519", "m/1'", "ADDRESS_FORMAT_SOLANA")}},
			"export_wallet":          {"walletId": wallet.Get("walletId").Text(), "targetPublicKey": recipient.PublicKey()},
			"export_private_key":     {"privateKeyId": key.Get("privateKeyId").Text(), "targetPublicKey": recipient.PublicKey()},
			"export_wallet_account":  {"address": wallet.Get("addresses", 0).Text(), "targetPublicKey": recipient.PublicKey()},
		} {
			hear(s.Root.Submit(t, operation, params))
		}
		for _, query := range []string{"list_wallets", "list_wallet_accounts", "list_private_keys", "list_secrets", "list_activities"} {
			hear(s.Root.Query(t, query, nil))
		}
		hear(s.Root.Refused(t, 400, "sign_raw_payload", m{"signWith": key.Get("privateKeyId").Text(), "payload": "x", "encoding": "PAYLOAD_ENCODING_TEXT_UTF8", "hashFunction": "HASH_FUNCTION_NO_OP"}))
		said.WriteString(s.Log.String())
		said.Write(Send(t, http.MethodGet, s.URL+"/metrics", http.Header{}, nil).Body)

		if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
			files, err := filepath.Glob(path + "*") // the database, its WAL, its index
			if err != nil || len(files) < 2 {
				t.Fatalf("files: %v, %v", files, err)
			}
			backup := filepath.Join(t.TempDir(), "backup.db")
			if made, err := sqlite.Backup(t.Context(), path, backup); err != nil || made.Sealed == 0 { // as "latchkey backup" does
				t.Fatalf("backup: %+v, %v", made, err)
			}
			for _, file := range append(files, backup) {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if file == backup && !bytes.Contains(text, []byte(wallet.Get("addresses", 0).Text())) {
					t.Fatal("the backup does not hold what must be in it")
				}
				said.Write(text)
			}
		} else {
			said.Write(dump(t, url))
		}
		if !bytes.Contains(said.Bytes(), []byte(wallet.Get("addresses", 0).Text())) {
			t.Fatal("the search does not even find what must be there")
		}
		if !bytes.Contains(said.Bytes(), []byte("canary card")) {
			t.Fatal("the search does not find what is known of the secret")
		}
		secrets := canaries(phrase, "TREZOR", private, master)
		secrets["the stored secret"] = []byte(stored)
		secrets["the client secret"] = []byte(oauth2Secret)
		for _, found := range search(said.Bytes(), secrets) {
			t.Errorf("found: %s", found)
		}
		// The search finds each secret in each form where it is planted.
		for kind, secret := range secrets {
			for form, text := range forms(secret) {
				if planted := append(bytes.Clone(said.Bytes()[:1000]), text...); !slices.Contains(search(planted, secrets), kind+" as "+form) {
					t.Errorf("%s as %s would not be found", kind, form)
				}
			}
		}
		for _, words := range []string{phrase, strings.Join(strings.Fields(phrase)[:4], " "), "TREZOR", stored, stored[:19]} {
			if bytes.Contains(said.Bytes(), []byte(words)) {
				t.Errorf("%q was found", words)
			}
		}
	})
}

// canaries are the secrets that lie behind what was imported, and the key that
// all of them are sealed under.
func canaries(phrase, passphrase, private, vault string) map[string][]byte {
	key, _ := hex.DecodeString(private)
	sealing, _ := hex.DecodeString(vault)
	seed, err := pbkdf2.Key(sha512.New, phrase, []byte("mnemonic"+passphrase), 2048, 64)
	if err != nil {
		panic(err)
	}
	mac := hmac.New(sha512.New, []byte("Bitcoin seed"))
	mac.Write(seed)
	master := mac.Sum(nil)
	return map[string][]byte{
		"the private key": key, "the seed": seed, "the first half of the seed": seed[:32],
		"the master key of the tree": master[:32], "its chain code": master[32:], "the master key of the vault": sealing,
	}
}

// search lists the secrets that are in a text, with the form of each.
func search(text []byte, secrets map[string][]byte) (found []string) {
	lower := bytes.ToLower(text)
	for kind, secret := range secrets {
		for form, written := range forms(secret) {
			if bytes.Contains(text, written) || form == "hex" && bytes.Contains(lower, written) {
				found = append(found, kind+" as "+form)
			}
		}
	}
	return found
}

// forms are the ways to write a secret.
func forms(secret []byte) map[string][]byte {
	return map[string][]byte{
		"raw":       secret,
		"hex":       []byte(hex.EncodeToString(secret)),
		"base64":    []byte(base64.RawStdEncoding.EncodeToString(secret))[:40],
		"base64url": []byte(base64.RawURLEncoding.EncodeToString(secret))[:40],
		"base58":    []byte(base58.Encode(secret)),
		"decimal":   []byte(new(big.Int).SetBytes(secret).String()),
	}
}

// dump is everything that PostgreSQL has of a database.
func dump(t *testing.T, url string) []byte {
	t.Helper()
	if program, err := exec.LookPath("pg_dump"); err == nil {
		if text, err := exec.Command(program, "--dbname", url).Output(); err == nil {
			// bytea comes as hex: look at the bytes as well.
			return append(text, unhexAll(text)...)
		}
	}
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var all []byte
	for _, query := range []string{"SELECT body FROM items", "SELECT body FROM activities"} {
		rows, err := conn.Query(context.Background(), query)
		if err != nil {
			t.Fatal(err)
		}
		bodies, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, bytes.Join(bodies, []byte("\n"))...)
	}
	return all
}

func unhexAll(text []byte) []byte {
	var all []byte
	for _, field := range bytes.FieldsFunc(text, func(r rune) bool { return r == '\t' || r == '\n' }) {
		if raw, err := hex.DecodeString(strings.TrimPrefix(string(field), "\\\\x")); err == nil {
			all = append(all, raw...)
		}
	}
	return all
}
