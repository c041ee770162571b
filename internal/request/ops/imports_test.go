package ops_test

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"time"

	"latchkey/client"
	"latchkey/internal/domain"
	"latchkey/internal/server"
	"latchkey/internal/store"
	. "latchkey/internal/test/servertest"
	"latchkey/testvectors"
)

const phrase = "leaf lady until indicate praise final route toast cake minimum insect unknown"

// importWallet imports a phrase for the root user.
func importWallet(t testing.TB, s *Server, name, phrase string, accounts ...any) Value {
	t.Helper()
	target := importer{s}.walletTarget(t)
	return s.Root.Submit(t, "import_wallet", m{
		"userId": s.Root.UserID, "walletName": name, "accounts": accounts,
		"encryptedBundle": s.Seal(t, s.Root, target, []byte(phrase)),
	}).Get("result", "importWalletResult")
}

// importKey imports a private key for the root user.
func importKey(t testing.TB, s *Server, name, curve, key string, formats ...any) Value {
	t.Helper()
	raw, err := hex.DecodeString(strings.TrimPrefix(key, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	target := importer{s}.keyTarget(t)
	return s.Root.Submit(t, "import_private_key", m{
		"userId": s.Root.UserID, "privateKeyName": name, "curve": curve, "addressFormats": formats,
		"encryptedBundle": s.Seal(t, s.Root, target, raw),
	}).Get("result", "importPrivateKeyResult")
}

// TestImportExport moves wallets and keys in and out.
func TestImportExport(t *testing.T) {
	const private = "67ee05fc3bdf4161bc70701c221d8d77180294cefcfcea64ba83c4d4c732fcb9"
	Each(t, func(t *testing.T, s *Server) {
		recipient := NewRecipient(t)
		wallet := importWallet(t, s, "imported", phrase, ethereumAccount)
		id, address := wallet.Get("walletId").Text(), wallet.Get("addresses", 0).Text()
		if got := s.Root.Query(t, "get_wallet", m{"walletId": id}).Get("wallet"); got.Get("imported").Any != true || got.Get("exported").Any != false {
			t.Errorf("wallet: %v", got)
		}
		exported := s.Root.Submit(t, "export_wallet", m{"walletId": id, "targetPublicKey": recipient.PublicKey()}).Get("result", "exportWalletResult", "exportBundle").Text()
		if got := string(recipient.Open(t, s, s.Root, exported)); got != phrase {
			t.Errorf("exported %q", got)
		}
		if got := s.Root.Query(t, "get_wallet", m{"walletId": id}).Get("wallet", "exported"); got.Any != true {
			t.Errorf("the wallet does not say that it was exported")
		}
		exported = s.Root.Submit(t, "export_wallet_account", m{"address": strings.ToLower(address), "targetPublicKey": recipient.PublicKey()}).Get("result", "exportWalletAccountResult", "exportBundle").Text()
		again := importKey(t, s, "account as a key", "CURVE_SECP256K1", hex.EncodeToString(recipient.Open(t, s, s.Root, exported)), "ADDRESS_FORMAT_ETHEREUM")
		if got := again.Get("addresses", 0, "address").Text(); got != address {
			t.Errorf("the account's key has address %s, want %s", got, address)
		}
		withPassphrase := importWallet(t, s, "with a passphrase", phrase+"\nTREZOR", ethereumAccount)
		if withPassphrase.Get("addresses", 0).Text() == address {
			t.Errorf("the passphrase was ignored")
		}
		exported = s.Root.Submit(t, "export_wallet", m{"walletId": withPassphrase.Get("walletId").Text(), "targetPublicKey": recipient.PublicKey()}).Get("result", "exportWalletResult", "exportBundle").Text()
		if got := string(recipient.Open(t, s, s.Root, exported)); got != phrase+"\nTREZOR" {
			t.Errorf("exported %q", got)
		}
		key := importKey(t, s, "key", "CURVE_ED25519", private).Get("privateKeyId").Text()
		exported = s.Root.Submit(t, "export_private_key", m{"privateKeyId": key, "targetPublicKey": recipient.PublicKey()}).Get("result", "exportPrivateKeyResult", "exportBundle").Text()
		if got := hex.EncodeToString(recipient.Open(t, s, s.Root, exported)); got != private {
			t.Errorf("exported %q", got)
		}
		// Exported keys can be deleted without the flag.
		s.Root.Submit(t, "delete_private_keys", m{"privateKeyIds": []any{key}})
		s.Root.Submit(t, "delete_wallets", m{"walletIds": []any{id}})
	})
}

// TestImportRefused refuses what is not a key, or was not encrypted for this
// import, and imports nothing.
func TestImportRefused(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		i := importer{s}
		i.refusesPhrases(t)
		i.refusesKeys(t)
		i.refusesBundles(t)
		t.Run("used target", i.refusesUsedTarget)
		t.Run("expired target", i.refusesExpiredTarget)
		t.Run("for another user", i.refusesAnotherUser)
		if wallets := s.Root.Query(t, "list_wallets", nil).Get("wallets").List(); len(wallets) != 1 {
			t.Errorf("%d wallets, want the one that was imported", len(wallets))
		}
		t.Run("export to no key", i.refusesExportToNoKey)
	})
}

// importer imports as the root user.
type importer struct{ *Server }

func (i importer) walletTarget(t testing.TB) string {
	t.Helper()
	return i.Root.Submit(t, "init_import_wallet", m{"userId": i.Root.UserID}).Get("result", "initImportWalletResult", "importBundle").Text()
}

func (i importer) keyTarget(t testing.TB) string {
	t.Helper()
	return i.Root.Submit(t, "init_import_private_key", m{"userId": i.Root.UserID}).Get("result", "initImportPrivateKeyResult", "importBundle").Text()
}

func (i importer) wallet(bundle string) m {
	return m{"userId": i.Root.UserID, "walletName": "w", "accounts": []any{}, "encryptedBundle": bundle}
}

func (i importer) key(bundle string) m {
	return m{"userId": i.Root.UserID, "privateKeyName": "k", "curve": "CURVE_SECP256K1", "addressFormats": []any{}, "encryptedBundle": bundle}
}

func (i importer) refusesPhrases(t *testing.T) {
	for name, secret := range map[string]string{
		"bad checksum": strings.Replace(phrase, "unknown", "leaf", 1),
		"eleven words": strings.TrimSuffix(phrase, " unknown"),
		"no words":     "hello",
		"nothing":      "",
	} {
		t.Run(name, func(t *testing.T) {
			i.Root.Refused(t, 400, "import_wallet", i.wallet(i.Seal(t, i.Root, i.walletTarget(t), []byte(secret))))
		})
	}
}

func (i importer) refusesKeys(t *testing.T) {
	type invalid struct{ PrivateKeyHex, Label, Curve string }
	for _, v := range testvectors.Section[invalid](t, "addresses", "invalidPrivateKeys") {
		raw, err := hex.DecodeString(v.PrivateKeyHex)
		if err != nil || strings.ToLower(v.PrivateKeyHex) != v.PrivateKeyHex {
			continue // how a key is written is the client's business
		}
		t.Run(v.Label+" "+v.Curve, func(t *testing.T) {
			params := i.key(i.Seal(t, i.Root, i.keyTarget(t), raw))
			params["curve"] = v.Curve
			i.Root.Refused(t, 400, "import_private_key", params)
		})
	}
}

func (i importer) refusesBundles(t *testing.T) {
	good := i.Seal(t, i.Root, i.walletTarget(t), []byte(phrase))
	older := i.walletTarget(t)
	i.walletTarget(t)
	for name, bundle := range map[string]string{
		"not JSON":          "hello",
		"no member":         "{}",
		"cut ciphertext":    strings.Replace(good, `"}`, ``, 1),
		"tampered":          strings.Replace(good, `"ciphertext":"`, `"ciphertext":"00`, 1),
		"for another key":   SealTo(t, NewRecipient(t).PublicKey(), []byte(phrase)),
		"for another kind":  i.Seal(t, i.Root, i.keyTarget(t), []byte(phrase)),
		"an older target's": i.Seal(t, i.Root, older, []byte(phrase)),
	} {
		t.Run(name, func(t *testing.T) { i.Root.Refused(t, 400, "import_wallet", i.wallet(bundle)) })
	}
}

func (i importer) refusesUsedTarget(t *testing.T) {
	bundle := i.Seal(t, i.Root, i.walletTarget(t), []byte(phrase))
	i.Root.Submit(t, "import_wallet", i.wallet(bundle))
	params := i.wallet(bundle)
	params["walletName"] = "again"
	i.Root.Refused(t, 400, "import_wallet", params)
}

func (i importer) refusesExpiredTarget(t *testing.T) {
	bundle := i.Seal(t, i.Root, i.keyTarget(t), make([]byte, 31))
	targets := func() []string {
		return slices.DeleteFunc(sealedNames(t, i.Server), func(name string) bool { return !strings.Contains(name, "target") })
	}
	if len(targets()) == 0 {
		t.Fatal("no target can be told by its name")
	}
	age(t, i.Server, 61*time.Minute)
	if got := i.Root.Refused(t, 400, "import_private_key", i.key(bundle)).Get("message").Text(); !strings.Contains(got, "within an hour") {
		t.Errorf("message: %s", got)
	}
	// Its private half does not stay behind, whether it is this sweep or the
	// server's own that finds it.
	if _, err := server.Sweep(t.Context(), i.Store, time.Now()); err != nil {
		t.Error(err)
	}
	if left := targets(); len(left) != 0 {
		t.Errorf("what is left: %v", left)
	}
}

func (i importer) refusesAnotherUser(t *testing.T) {
	ada := i.NewUser(t, i.Root, "Ada", client.P256)
	i.Root.Refused(t, 403, "init_import_wallet", m{"userId": ada.UserID})
	params := i.wallet(i.Seal(t, i.Root, i.walletTarget(t), []byte(phrase)))
	params["userId"] = ada.UserID
	i.Root.Refused(t, 403, "import_wallet", params)
}

func (i importer) refusesExportToNoKey(t *testing.T) {
	id := i.Root.Query(t, "list_wallets", nil).Get("wallets", 0, "walletId").Text()
	for _, target := range []string{"04", "00", strings.Repeat("ab", 65), NewRecipient(t).PublicKey()[2:]} {
		i.Root.Refused(t, 400, "export_wallet", m{"walletId": id, "targetPublicKey": target})
	}
	if i.Root.Query(t, "get_wallet", m{"walletId": id}).Get("wallet", "exported").Any != false {
		t.Errorf("a refused export counts as one")
	}
}

// age makes the import targets of the organization older.
func age(t *testing.T, s *Server, by time.Duration) {
	t.Helper()
	err := s.Store.Update(context.Background(), s.Root.OrganizationID, func(tx *store.Tx) error {
		targets, err := tx.ImportTargets().List("", 0)
		if err != nil {
			return err
		}
		for _, target := range targets {
			if err := tx.ImportTargets().Edit(target.ID, func(x *domain.ImportTarget) error {
				x.CreatedAt = x.CreatedAt.Add(-by)
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sealedNames lists what the vault keeps for the organization, but for the key
// that seals all else. It reads the store directly, since no operation can.
func sealedNames(t *testing.T, s *Server) []string {
	t.Helper()
	var names []string
	err := s.Store.View(context.Background(), s.Root.OrganizationID, func(tx *store.Tx) error {
		var err error
		names, err = tx.Ciphertexts().Names()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(names, func(name string) bool { return strings.Contains(name, "data-key") })
}
