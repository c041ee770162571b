package ops_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"latchkey/client"
	"latchkey/internal/domain"
	"latchkey/internal/server"
	"latchkey/internal/store"
	. "latchkey/internal/test/servertest"
	"latchkey/testvectors"
)

func account(curve, path, format string) m {
	return m{"curve": curve, "pathFormat": "PATH_FORMAT_BIP32", "path": path, "addressFormat": format}
}

var ethereumAccount = account("CURVE_SECP256K1", "m/44'/60'/0'/0/0", "ADDRESS_FORMAT_ETHEREUM")

// importWallet imports a phrase for the root user.
func importWallet(t testing.TB, s *Server, name, phrase string, accounts ...any) Value {
	t.Helper()
	target := s.Root.Submit(t, "init_import_wallet", m{"userId": s.Root.UserID}).Get("result", "initImportWalletResult", "importBundle").Text()
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
	target := s.Root.Submit(t, "init_import_private_key", m{"userId": s.Root.UserID}).Get("result", "initImportPrivateKeyResult", "importBundle").Text()
	return s.Root.Submit(t, "import_private_key", m{
		"userId": s.Root.UserID, "privateKeyName": name, "curve": curve, "addressFormats": formats,
		"encryptedBundle": s.Seal(t, s.Root, target, raw),
	}).Get("result", "importPrivateKeyResult")
}

// TestAddressVectors imports wallets and keys of the vectors and compares the
// addresses, for every format.
func TestAddressVectors(t *testing.T) {
	type record struct {
		Mnemonic, Passphrase, Curve, Path, PrivateKeyHex, AddressFormat, Address string
	}
	Each(t, func(t *testing.T, s *Server) {
		each := 3 // of a format
		if s.Kind != "sqlite" {
			each = 1 // no store has a part in it
		}
		type seed struct{ mnemonic, passphrase string }
		wallets, seen := map[seed][]record{}, map[string]int{}
		for _, r := range testvectors.Section[record](t, "addresses", "hd") {
			if key := (seed{r.Mnemonic, r.Passphrase}); seen[r.AddressFormat] < each && len(wallets[key]) < 100 {
				seen[r.AddressFormat]++
				wallets[key] = append(wallets[key], r)
			}
		}
		if len(seen) != 35 {
			t.Fatalf("%d formats of 35 are covered", len(seen))
		}
		var n int
		for key, records := range wallets {
			var accounts []any
			var want []any
			for _, r := range records {
				accounts = append(accounts, account(r.Curve, r.Path, r.AddressFormat))
				want = append(want, r.Address)
			}
			phrase := key.mnemonic
			if key.passphrase != "" {
				phrase += "\n" + key.passphrase
			}
			n++
			if got := importWallet(t, s, fmt.Sprint("wallet ", n), phrase, accounts...).Get("addresses").Any; !cmp.Equal(got, any(want)) {
				t.Errorf("addresses: %s", cmp.Diff(any(want), got))
			}
		}
		seen = map[string]int{}
		for i, r := range testvectors.Section[record](t, "addresses", "privateKeys") {
			if seen[r.AddressFormat]++; seen[r.AddressFormat] > 1 {
				continue
			}
			got := importKey(t, s, fmt.Sprint("key ", i), r.Curve, r.PrivateKeyHex, r.AddressFormat).Get("addresses", 0)
			if got.Get("address").Text() != r.Address || got.Get("format").Text() != r.AddressFormat {
				t.Errorf("%s: %v, want %s", r.AddressFormat, got, r.Address)
			}
		}
	})
}

// TestSigningVectors signs everything in the vectors, through the interface.
func TestSigningVectors(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		keys := map[string]string{}
		keyOf := func(curve, private string, formats ...any) string {
			t.Helper()
			name := fmt.Sprintf("%s %s %v", curve, private, formats)
			if keys[name] == "" {
				keys[name] = importKey(t, s, fmt.Sprint("key ", len(keys)), curve, private, formats...).Get("privateKeyId").Text()
			}
			return keys[name]
		}
		raw := func(signWith, payload, encoding, hash string) Value {
			t.Helper()
			return s.Root.Submit(t, "sign_raw_payload", m{
				"signWith": signWith, "payload": payload, "encoding": encoding, "hashFunction": hash,
			}).Get("result", "signRawPayloadResult")
		}
		transaction := func(signWith, kind, unsigned string) string {
			t.Helper()
			return s.Root.Submit(t, "sign_transaction", m{
				"signWith": signWith, "type": "TRANSACTION_TYPE_" + kind, "unsignedTransaction": unsigned,
			}).Get("result", "signTransactionResult", "signedTransaction").Text()
		}
		const hexadecimal, none, notApplicable = "PAYLOAD_ENCODING_HEXADECIMAL", "HASH_FUNCTION_NO_OP", "HASH_FUNCTION_NOT_APPLICABLE"

		type ecdsa struct{ PrivateKeyHex, DigestHex, R, S, VHex string }
		for i, v := range testvectors.Section[ecdsa](t, "signing", "ecdsa") {
			if i%4 != 0 {
				continue // all of them pass in the vault's own tests
			}
			got := raw(keyOf("CURVE_SECP256K1", v.PrivateKeyHex), v.DigestHex, hexadecimal, none)
			if got.Get("r").Text() != v.R || got.Get("s").Text() != v.S || got.Get("v").Text() != v.VHex {
				t.Errorf("ECDSA %d: %v", i, got)
			}
		}
		type ed25519 struct{ PrivateKeyHex, MessageHex, R, S string }
		for i, v := range testvectors.Section[ed25519](t, "signing", "ed25519") {
			if i%4 != 0 || v.MessageHex == "" {
				continue
			}
			got := raw(keyOf("CURVE_ED25519", v.PrivateKeyHex), v.MessageHex, hexadecimal, notApplicable)
			if got.Get("r").Text() != v.R || got.Get("s").Text() != v.S || got.Get("v").Text() != "00" {
				t.Errorf("Ed25519 %d: %v", i, got)
			}
		}
		type taproot struct{ PrivateKeyHex, DigestHex, SignatureHex string }
		for i, v := range testvectors.Section[taproot](t, "signing", "taproot") {
			const format = "ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR"
			id := keyOf("CURVE_SECP256K1", v.PrivateKeyHex, format)
			address := s.Root.Query(t, "get_private_key", m{"privateKeyId": id}).Get("privateKey", "addresses", 0, "address").Text()
			got := raw(address, v.DigestHex, hexadecimal, none)
			if got.Get("r").Text()+got.Get("s").Text() != v.SignatureHex {
				t.Errorf("taproot %d: %v", i, got)
			}
		}
		type ethereum struct{ Name, PrivateKeyHex, From, Unsigned, Signed string }
		for _, v := range testvectors.Section[ethereum](t, "signing", "ethereum") {
			keyOf("CURVE_SECP256K1", v.PrivateKeyHex, "ADDRESS_FORMAT_ETHEREUM")
			if got := transaction(strings.ToLower(v.From), "ETHEREUM", v.Unsigned); "0x"+got != v.Signed {
				t.Errorf("%s:\ngot  0x%s\nwant %s", v.Name, got, v.Signed)
			}
		}
		type solana struct {
			Name, UnsignedHex, SignedHex string
			Signers                      []struct{ Signer, PrivateKeyHex string }
		}
		for _, v := range testvectors.Section[solana](t, "signing", "solana") {
			signed := v.UnsignedHex
			for _, signer := range v.Signers {
				keyOf("CURVE_ED25519", signer.PrivateKeyHex, "ADDRESS_FORMAT_SOLANA")
				signed = transaction(signer.Signer, "SOLANA", signed)
			}
			if signed != v.SignedHex {
				t.Errorf("%s:\ngot  %s\nwant %s", v.Name, signed, v.SignedHex)
			}
		}
		type bitcoin struct {
			Name, PrivateKeyHex, UnsignedPsbtHex, SignedPsbtHex string
			Inputs                                              []struct{ Kind, Address string }
		}
		for _, v := range testvectors.Section[bitcoin](t, "signing", "bitcoin") {
			if strings.Contains(v.Name, "P2SH") || strings.Contains(v.Name, "P2WSH") {
				continue // scripts are not signed for
			}
			signed := v.UnsignedPsbtHex
			for _, in := range slices.CompactFunc(v.Inputs, func(a, b struct{ Kind, Address string }) bool { return a == b }) {
				keyOf("CURVE_SECP256K1", v.PrivateKeyHex, "ADDRESS_FORMAT_BITCOIN_TESTNET_"+strings.ToUpper(in.Kind))
				signed = transaction(in.Address, "BITCOIN", signed)
			}
			if signed != v.SignedPsbtHex {
				t.Errorf("%s:\ngot  %s\nwant %s", v.Name, signed, v.SignedPsbtHex)
			}
		}
		type tron struct{ Name, PrivateKeyHex, From, RawDataHex, SignedTransactionHex string }
		for _, v := range testvectors.Section[tron](t, "signing", "tron") {
			keyOf("CURVE_SECP256K1", v.PrivateKeyHex, "ADDRESS_FORMAT_TRON")
			if got := transaction(v.From, "TRON", v.RawDataHex); got != v.SignedTransactionHex {
				t.Errorf("%s:\ngot  %s\nwant %s", v.Name, got, v.SignedTransactionHex)
			}
		}
	})
}

// TestWallets creates, reads, changes and deletes wallets and accounts.
func TestWallets(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		solana := account("CURVE_ED25519", "m/44'/501'/0'/0'", "ADDRESS_FORMAT_SOLANA")
		named := account("CURVE_SECP256K1", "m/44'/60'/1'/0/0", "ADDRESS_FORMAT_ETHEREUM")
		named["name"] = "second"
		created := s.Root.Submit(t, "create_wallet", m{"walletName": "main", "accounts": []any{ethereumAccount, solana}, "mnemonicLength": 24}).Get("result", "createWalletResult")
		wallet := created.Get("walletId").Text()
		ethereum := created.Get("addresses", 0).Text()

		more := s.Root.Submit(t, "create_wallet_accounts", m{"walletId": wallet, "accounts": []any{named}}).Get("result", "createWalletAccountsResult", "addresses", 0).Text()
		told := s.Root.Submit(t, "create_wallet_accounts", m{"walletId": wallet, "persist": false, "accounts": []any{
			account("CURVE_SECP256K1", "m/44'/60'/1'/0/0", "ADDRESS_FORMAT_ETHEREUM"), account("CURVE_SECP256K1", "m/9", "ADDRESS_FORMAT_COMPRESSED"),
		}}).Get("result", "createWalletAccountsResult", "addresses")
		if told.Get(0).Text() != more {
			t.Errorf("told %v, stored %s", told, more)
		}
		list := func(params m) []Value { return s.Root.Query(t, "list_wallet_accounts", params).Get("accounts").List() }
		all := list(m{"walletId": wallet})
		if len(all) != 3 || all[0].Get("address").Text() != ethereum || all[2].Get("name").Text() != "second" || all[0].Has("walletDetails") ||
			all[0].Get("caip2Prefix").Text() != "eip155" || all[1].Get("caip2Prefix").Text() != "solana" {
			t.Fatalf("accounts: %v", all)
		}
		id := func(i int) string { return all[i].Get("walletAccountId").Text() }
		for name, c := range map[string]struct {
			params m
			want   []string
		}{
			"all wallets":   {m{}, []string{id(0), id(1), id(2)}},
			"first page":    {m{"paginationOptions": m{"limit": "2"}}, []string{id(0), id(1)}},
			"next page":     {m{"walletId": wallet, "paginationOptions": m{"limit": "2", "after": id(1)}}, []string{id(2)}},
			"page before":   {m{"walletId": wallet, "paginationOptions": m{"limit": "1", "before": id(2)}}, []string{id(1)}},
			"between":       {m{"paginationOptions": m{"after": id(0), "before": id(2)}}, []string{id(1)}},
			"after the end": {m{"paginationOptions": m{"after": id(2)}}, nil},
		} {
			var got []string
			for _, a := range list(c.params) {
				got = append(got, a.Get("walletAccountId").Text())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s: %v, want %v", name, got, c.want)
			}
		}
		if got := list(m{"includeWalletDetails": true})[0].Get("walletDetails", "walletName").Text(); got != "main" {
			t.Errorf("wallet details: %s", got)
		}
		find := func(params m) Value {
			params["walletId"] = wallet
			return s.Root.Query(t, "get_wallet_account", params).Get("account")
		}
		if find(m{"address": strings.ToLower(ethereum)}).Get("walletAccountId").Text() != id(0) ||
			find(m{"path": "m/44'/501'/0'/0'"}).Get("walletAccountId").Text() != id(1) ||
			find(m{"address": more, "path": "m/44'/60'/1'/0/0"}).Get("walletAccountId").Text() != id(2) {
			t.Errorf("get_wallet_account found another account")
		}

		// One path may carry several formats; then it does not name one account.
		s.Root.Submit(t, "create_wallet_accounts", m{"walletId": wallet, "accounts": []any{
			account("CURVE_SECP256K1", "m/44'/60'/0'/0/0", "ADDRESS_FORMAT_COSMOS"),
		}})
		if got := s.Root.Refused(t, 400, "get_wallet_account", m{"walletId": wallet, "path": "m/44'/60'/0'/0/0"}).Get("message").Text(); !strings.Contains(got, ethereum) {
			t.Errorf("ambiguous path: %s", got)
		}

		s.Root.Submit(t, "update_wallet", m{"walletId": wallet, "walletName": "renamed"})
		other := s.Root.Submit(t, "create_wallet", m{"walletName": "main", "accounts": []any{}}).Get("result", "createWalletResult", "walletId").Text()
		if got := s.Root.Query(t, "get_wallet", m{"walletId": wallet}).Get("wallet"); got.Get("walletName").Text() != "renamed" || got.Get("exported").Any != false || got.Get("imported").Any != false {
			t.Errorf("wallet: %v", got)
		}
		second := account("CURVE_SECP256K1", "m/1", "ADDRESS_FORMAT_ETHEREUM")
		second["name"] = "second"
		for name, c := range map[string]struct {
			operation string
			status    int
			params    m
		}{
			"taken name":             {"create_wallet", 409, m{"walletName": "main", "accounts": []any{}}},
			"rename to a taken name": {"update_wallet", 409, m{"walletId": wallet, "walletName": "main"}},
			"used path":              {"create_wallet_accounts", 400, m{"walletId": wallet, "accounts": []any{ethereumAccount}}},
			"same path twice":        {"create_wallet", 400, m{"walletName": "x", "accounts": []any{ethereumAccount, ethereumAccount}}},
			"used by hardening":      {"create_wallet_accounts", 400, m{"walletId": wallet, "accounts": []any{account("CURVE_ED25519", "m/44'/501'/0'/0", "ADDRESS_FORMAT_SOLANA")}}},
			"taken account name":     {"create_wallet_accounts", 409, m{"walletId": wallet, "accounts": []any{second}}},
			"unknown wallet":         {"create_wallet_accounts", 404, m{"walletId": unknownID, "accounts": []any{second}}},
			"bad path":               {"create_wallet", 400, m{"walletName": "x", "accounts": []any{account("CURVE_SECP256K1", "m/x", "ADDRESS_FORMAT_ETHEREUM")}}},
			"curve of another chain": {"create_wallet", 400, m{"walletName": "x", "accounts": []any{account("CURVE_ED25519", "m/0'", "ADDRESS_FORMAT_ETHEREUM")}}},
			"thirteen words":         {"create_wallet", 400, m{"walletName": "x", "accounts": []any{}, "mnemonicLength": 13}},
			"wallet not exported":    {"delete_wallets", 400, m{"walletIds": []any{wallet}}},
			"account not exported":   {"delete_wallet_accounts", 400, m{"walletAccountIds": []any{id(0)}}},
			"delete all or nothing":  {"delete_wallets", 404, m{"walletIds": []any{wallet, unknownID}, "deleteWithoutExport": true}},
		} {
			t.Run(name, func(t *testing.T) { s.Root.Refused(t, c.status, c.operation, c.params) })
		}
		s.Root.Submit(t, "delete_wallet_accounts", m{"walletAccountIds": []any{id(2)}, "deleteWithoutExport": true})
		s.Root.Refused(t, 404, "get_wallet_account", m{"walletId": wallet, "address": more})
		s.Root.Submit(t, "delete_wallets", m{"walletIds": []any{wallet, other}, "deleteWithoutExport": true})
		if left := len(s.Root.Query(t, "list_wallets", nil).Get("wallets").List()) + len(list(m{})); left != 0 {
			t.Errorf("%d wallets and accounts are left", left)
		}
		if names := sealedNames(t, s); len(names) != 0 {
			t.Errorf("secrets of deleted wallets are left: %v", names)
		}
	})
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

// TestImportExport moves wallets and keys in and out.
func TestImportExport(t *testing.T) {
	const phrase = "leaf lady until indicate praise final route toast cake minimum insect unknown"
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
	const phrase = "leaf lady until indicate praise final route toast cake minimum insect unknown"
	Each(t, func(t *testing.T, s *Server) {
		begin := func(c *Caller, operation, result string) string {
			t.Helper()
			return c.Submit(t, operation, m{"userId": c.UserID}).Get("result", result, "importBundle").Text()
		}
		walletTarget := func() string { return begin(s.Root, "init_import_wallet", "initImportWalletResult") }
		keyTarget := func() string { return begin(s.Root, "init_import_private_key", "initImportPrivateKeyResult") }
		wallet := func(bundle string) m {
			return m{"userId": s.Root.UserID, "walletName": "w", "accounts": []any{}, "encryptedBundle": bundle}
		}
		key := func(bundle string) m {
			return m{"userId": s.Root.UserID, "privateKeyName": "k", "curve": "CURVE_SECP256K1", "addressFormats": []any{}, "encryptedBundle": bundle}
		}
		refusedWallet := func(name, secret string) {
			t.Run(name, func(t *testing.T) {
				s.Root.Refused(t, 400, "import_wallet", wallet(s.Seal(t, s.Root, walletTarget(), []byte(secret))))
			})
		}
		refusedWallet("bad checksum", strings.Replace(phrase, "unknown", "leaf", 1))
		refusedWallet("eleven words", strings.TrimSuffix(phrase, " unknown"))
		refusedWallet("no words", "hello")
		refusedWallet("nothing", "")
		type invalid struct{ PrivateKeyHex, Label, Curve string }
		for _, v := range testvectors.Section[invalid](t, "addresses", "invalidPrivateKeys") {
			raw, err := hex.DecodeString(v.PrivateKeyHex)
			if err != nil || strings.ToLower(v.PrivateKeyHex) != v.PrivateKeyHex {
				continue // how a key is written is the client's business
			}
			t.Run(v.Label+" "+v.Curve, func(t *testing.T) {
				params := key(s.Seal(t, s.Root, keyTarget(), raw))
				params["curve"] = v.Curve
				s.Root.Refused(t, 400, "import_private_key", params)
			})
		}
		good := s.Seal(t, s.Root, walletTarget(), []byte(phrase))
		for name, bundle := range map[string]string{
			"not JSON":          "hello",
			"no member":         "{}",
			"cut ciphertext":    strings.Replace(good, `"}`, ``, 1),
			"tampered":          strings.Replace(good, `"ciphertext":"`, `"ciphertext":"00`, 1),
			"for another key":   SealTo(t, NewRecipient(t).PublicKey(), []byte(phrase)),
			"for another kind":  s.Seal(t, s.Root, keyTarget(), []byte(phrase)),
			"an older target's": s.Seal(t, s.Root, func() string { old := walletTarget(); walletTarget(); return old }(), []byte(phrase)),
		} {
			t.Run(name, func(t *testing.T) { s.Root.Refused(t, 400, "import_wallet", wallet(bundle)) })
		}
		t.Run("used target", func(t *testing.T) {
			bundle := s.Seal(t, s.Root, walletTarget(), []byte(phrase))
			s.Root.Submit(t, "import_wallet", wallet(bundle))
			params := wallet(bundle)
			params["walletName"] = "again"
			s.Root.Refused(t, 400, "import_wallet", params)
		})
		t.Run("expired target", func(t *testing.T) {
			bundle := s.Seal(t, s.Root, keyTarget(), make([]byte, 31))
			targets := func() []string {
				return slices.DeleteFunc(sealedNames(t, s), func(name string) bool { return !strings.Contains(name, "target") })
			}
			if len(targets()) == 0 {
				t.Fatal("no target can be told by its name")
			}
			age(t, s, 61*time.Minute)
			if got := s.Root.Refused(t, 400, "import_private_key", key(bundle)).Get("message").Text(); !strings.Contains(got, "within an hour") {
				t.Errorf("message: %s", got)
			}
			// Its private half does not stay behind, whether it is this sweep
			// or the server's own that finds it.
			if _, err := server.Sweep(t.Context(), s.Store, time.Now()); err != nil {
				t.Error(err)
			}
			if left := targets(); len(left) != 0 {
				t.Errorf("what is left: %v", left)
			}
		})
		t.Run("for another user", func(t *testing.T) {
			ada := s.NewUser(t, s.Root, "Ada", client.P256)
			s.Root.Refused(t, 403, "init_import_wallet", m{"userId": ada.UserID})
			params := wallet(good)
			params["userId"] = ada.UserID
			s.Root.Refused(t, 403, "import_wallet", params)
		})
		if wallets := s.Root.Query(t, "list_wallets", nil).Get("wallets").List(); len(wallets) != 1 {
			t.Errorf("%d wallets, want the one that was imported", len(wallets))
		}
		t.Run("export to no key", func(t *testing.T) {
			id := s.Root.Query(t, "list_wallets", nil).Get("wallets", 0, "walletId").Text()
			for _, target := range []string{"04", "00", strings.Repeat("ab", 65), NewRecipient(t).PublicKey()[2:]} {
				s.Root.Refused(t, 400, "export_wallet", m{"walletId": id, "targetPublicKey": target})
			}
			if s.Root.Query(t, "get_wallet", m{"walletId": id}).Get("wallet", "exported").Any != false {
				t.Errorf("a refused export counts as one")
			}
		})
	})
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

// TestPrivateKeys creates, tags and deletes keys.
func TestPrivateKeys(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		tag := s.Root.Submit(t, "create_private_key_tag", m{"privateKeyTagName": "hot", "privateKeyIds": []any{}}).Get("result", "createPrivateKeyTagResult", "privateKeyTagId").Text()
		key := func(name, curve string, formats ...any) m {
			return m{"privateKeyName": name, "curve": curve, "privateKeyTags": []any{tag}, "addressFormats": append([]any{}, formats...)}
		}
		created := s.Root.Submit(t, "create_private_keys", m{"privateKeys": []any{
			key("one", "CURVE_SECP256K1", "ADDRESS_FORMAT_ETHEREUM", "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH"),
			key("two", "CURVE_ED25519", "ADDRESS_FORMAT_SOLANA"),
			key("three", "CURVE_P256"),
		}}).Get("result", "createPrivateKeysResultV2", "privateKeys").List()
		older := s.Root.MustPost(t, "create_private_keys", s.Root.BodyOf(t, "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS", m{"privateKeys": []any{key("four", "CURVE_SECP256K1")}})).
			Get("activity", "result", "createPrivateKeysResult", "privateKeyIds", 0).Text()
		id := func(i int) string { return created[i].Get("privateKeyId").Text() }
		one := s.Root.Query(t, "get_private_key", m{"privateKeyId": id(0)}).Get("privateKey")
		if one.Get("privateKeyName").Text() != "one" || len(one.Get("publicKey").Text()) != 130 || len(one.Get("addresses").List()) != 2 ||
			one.Get("privateKeyTags", 0).Text() != tag || one.Get("exported").Any != false || one.Get("imported").Any != false {
			t.Errorf("key: %v", one)
		}
		for i, length := range []int{130, 64, 130} {
			if got := s.Root.Query(t, "get_private_key", m{"privateKeyId": id(i)}).Get("privateKey", "publicKey").Text(); len(got) != length {
				t.Errorf("public key %d has %d digits", i, len(got))
			}
		}
		if all := s.Root.Query(t, "list_private_keys", nil).Get("privateKeys").List(); len(all) != 4 || all[3].Get("privateKeyId").Text() != older {
			t.Errorf("keys: %v", all)
		}
		s.Root.Submit(t, "update_private_key_tag", m{"privateKeyTagId": tag, "newPrivateKeyTagName": "cold", "addPrivateKeyIds": []any{}, "removePrivateKeyIds": []any{id(1)}})
		if listed := s.Root.Query(t, "list_private_key_tags", nil).Get("privateKeyTags"); listed.Get(0, "tagName").Text() != "cold" || listed.Get(0, "tagType").Text() != "TAG_TYPE_PRIVATE_KEY" {
			t.Errorf("tags: %v", listed)
		}
		if tags := s.Root.Query(t, "list_user_tags", nil).Get("userTags").List(); len(tags) != 0 {
			t.Errorf("a key's tag is listed among users': %v", tags)
		}
		userTag := s.Root.Submit(t, "create_user_tag", m{"userTagName": "cold", "userIds": []any{}}).Get("result", "createUserTagResult", "userTagId").Text()
		wrong := key("five", "CURVE_SECP256K1")
		wrong["privateKeyTags"] = []any{userTag}
		for name, c := range map[string]struct {
			operation string
			status    int
			params    m
		}{
			"taken name":             {"create_private_keys", 409, m{"privateKeys": []any{key("one", "CURVE_P256")}}},
			"tag of users":           {"create_private_keys", 404, m{"privateKeys": []any{wrong}}},
			"format of another":      {"create_private_keys", 400, m{"privateKeys": []any{key("five", "CURVE_P256", "ADDRESS_FORMAT_SOLANA")}}},
			"all or nothing":         {"create_private_keys", 409, m{"privateKeys": []any{key("five", "CURVE_P256"), key("five", "CURVE_P256")}}},
			"not exported":           {"delete_private_keys", 400, m{"privateKeyIds": []any{id(0)}}},
			"delete of a user's tag": {"delete_private_key_tags", 404, m{"privateKeyTagIds": []any{userTag}}},
			"unknown key to tag":     {"create_private_key_tag", 404, m{"privateKeyTagName": "x", "privateKeyIds": []any{tag}}},
		} {
			t.Run(name, func(t *testing.T) { s.Root.Refused(t, c.status, c.operation, c.params) })
		}
		deleted := s.Root.Submit(t, "delete_private_key_tags", m{"privateKeyTagIds": []any{tag}}).Get("result", "deletePrivateKeyTagsResult", "privateKeyIds").List()
		if len(deleted) != 3 {
			t.Errorf("the tag was on %v", deleted)
		}
		s.Root.Submit(t, "delete_private_keys", m{"privateKeyIds": []any{id(0), id(1), id(2), older}, "deleteWithoutExport": true})
		if names := sealedNames(t, s); len(names) != 0 {
			t.Errorf("secrets of deleted keys are left: %v", names)
		}
		s.Root.Refused(t, 404, "sign_raw_payload", m{"signWith": id(0), "payload": "00", "encoding": "PAYLOAD_ENCODING_HEXADECIMAL", "hashFunction": "HASH_FUNCTION_SHA256"})
	})
}

// TestSigningRefused refuses what cannot be signed as asked.
func TestSigningRefused(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		wallet := s.Root.Submit(t, "create_wallet", m{"walletName": "w", "accounts": []any{
			ethereumAccount, account("CURVE_ED25519", "m/44'/501'/0'/0'", "ADDRESS_FORMAT_SOLANA"),
		}}).Get("result", "createWalletResult", "addresses")
		ethereum, solana := wallet.Get(0).Text(), wallet.Get(1).Text()
		raw := func(with, payload, encoding, hash string) m {
			return m{"signWith": with, "payload": payload, "encoding": "PAYLOAD_ENCODING_" + encoding, "hashFunction": "HASH_FUNCTION_" + hash}
		}
		tx := func(with, kind, unsigned string) m {
			return m{"signWith": with, "type": "TRANSACTION_TYPE_" + kind, "unsignedTransaction": unsigned}
		}
		type signed struct{ Unsigned, Signed string }
		ethereumVector := testvectors.Section[signed](t, "signing", "ethereum")[0]
		type solanaVector struct{ UnsignedHex string }
		foreign := testvectors.Section[solanaVector](t, "signing", "solana")[0].UnsignedHex
		digest := strings.Repeat("ab", 32)
		for name, c := range map[string]struct {
			operation string
			status    int
			params    m
		}{
			"unknown address":          {"sign_raw_payload", 404, raw("0x0000000000000000000000000000000000000001", digest, "HEXADECIMAL", "NO_OP")},
			"digest of 31 bytes":       {"sign_raw_payload", 400, raw(ethereum, digest[2:], "HEXADECIMAL", "NO_OP")},
			"digest of 33 bytes":       {"sign_raw_payload", 400, raw(ethereum, digest+"00", "HEXADECIMAL", "NO_OP")},
			"no hex":                   {"sign_raw_payload", 400, raw(ethereum, "xyz", "HEXADECIMAL", "SHA256")},
			"hash on Ed25519":          {"sign_raw_payload", 400, raw(solana, digest, "HEXADECIMAL", "SHA256")},
			"no hash on secp256k1":     {"sign_raw_payload", 400, raw(ethereum, digest, "HEXADECIMAL", "NOT_APPLICABLE")},
			"EIP-712 on Ed25519":       {"sign_raw_payload", 400, raw(solana, "{}", "EIP712", "NO_OP")},
			"EIP-712 that is none":     {"sign_raw_payload", 400, raw(ethereum, "{}", "EIP712", "NO_OP")},
			"typed data in a list":     {"sign_raw_payloads", 400, m{"signWith": ethereum, "payloads": []any{"{}"}, "encoding": "PAYLOAD_ENCODING_EIP712", "hashFunction": "HASH_FUNCTION_NO_OP"}},
			"one bad of several":       {"sign_raw_payloads", 400, m{"signWith": ethereum, "payloads": []any{digest, "xyz"}, "encoding": "PAYLOAD_ENCODING_HEXADECIMAL", "hashFunction": "HASH_FUNCTION_NO_OP"}},
			"not a transaction":        {"sign_transaction", 400, tx(ethereum, "ETHEREUM", "00")},
			"signed transaction":       {"sign_transaction", 400, tx(ethereum, "ETHEREUM", ethereumVector.Signed)},
			"transaction not hex":      {"sign_transaction", 400, tx(ethereum, "ETHEREUM", "hello")},
			"wrong curve":              {"sign_transaction", 400, tx(solana, "ETHEREUM", ethereumVector.Unsigned)},
			"signer who is not ours":   {"sign_transaction", 400, tx(solana, "SOLANA", foreign)},
			"Bitcoin with an Ethereum": {"sign_transaction", 400, tx(ethereum, "BITCOIN", "70736274ff")},
			"network that is unknown":  {"sign_transaction", 400, tx(ethereum, "TEMPO", "76")},
		} {
			t.Run(name, func(t *testing.T) { s.Root.Refused(t, c.status, c.operation, c.params) })
		}
		// The old way to name a key, and keys named by their public halves.
		older := s.Root.BodyOf(t, "ACTIVITY_TYPE_SIGN_TRANSACTION", tx(ethereum, "ETHEREUM", ethereumVector.Unsigned))
		s.Root.MustPost(t, "sign_transaction", older)
		publicKey := s.Root.Query(t, "list_wallet_accounts", nil).Get("accounts", 0, "publicKey").Text()
		byKey := s.Root.Submit(t, "sign_raw_payload", raw(strings.ToUpper(publicKey), digest, "HEXADECIMAL", "NO_OP")).Get("result", "signRawPayloadResult")
		byAddress := s.Root.Submit(t, "sign_raw_payload", raw(strings.ToLower(ethereum), "0x"+digest, "HEXADECIMAL", "NO_OP")).Get("result", "signRawPayloadResult")
		if !cmp.Equal(byKey.Any, byAddress.Any) {
			t.Errorf("signatures differ: %v %v", byKey, byAddress)
		}
		several := s.Root.Submit(t, "sign_raw_payloads", m{"signWith": ethereum, "payloads": []any{digest, strings.Repeat("cd", 32)}, "encoding": "PAYLOAD_ENCODING_HEXADECIMAL", "hashFunction": "HASH_FUNCTION_NO_OP"}).
			Get("result", "signRawPayloadsResult", "signatures").List()
		if len(several) != 2 || !cmp.Equal(several[0].Any, byKey.Any) || cmp.Equal(several[1].Any, byKey.Any) {
			t.Errorf("signatures: %v", several)
		}
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		ada.Refused(t, 403, "sign_raw_payload", raw(ethereum, digest, "HEXADECIMAL", "NO_OP"))
	})
}
