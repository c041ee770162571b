package client_test

import (
	"crypto/sha256"
	"slices"
	"strings"
	"testing"

	"latchkey/client"
	"latchkey/internal/test/servertest"
)

// Secrets go in and out as the client sealed them, and only with the server's
// signature.
func TestImportAndExport(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ctx, c, want := t.Context(), clientOf(s, s.Root), expect(s, s.Root)
		secret := sha256.Sum256([]byte("a private key"))
		target, _, err := c.InitImportPrivateKey(ctx, client.InitImportPrivateKeyParameters{UserID: s.Root.UserID})
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := client.SealImport(target.ImportBundle, want, secret[:])
		if err != nil {
			t.Fatal(err)
		}
		key, _, err := c.ImportPrivateKey(ctx, client.ImportPrivateKeyParameters{
			UserID: s.Root.UserID, PrivateKeyName: "Imported", EncryptedBundle: sealed,
			Curve: client.KeyCurveSecp256k1, AddressFormats: []client.AddressFormat{client.AddressFormatEthereum},
		})
		if err != nil {
			t.Fatal(err)
		}
		recipient, err := client.NewRecipient()
		if err != nil {
			t.Fatal(err)
		}
		export, _, err := c.ExportPrivateKey(ctx, client.ExportPrivateKeyParameters{PrivateKeyID: key.PrivateKeyID, TargetPublicKey: recipient.PublicKey()})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := recipient.OpenExport(export.ExportBundle, want); err != nil || !slices.Equal(got, secret[:]) {
			t.Errorf("%x, %v", got, err)
		}

		const words = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"
		phrase, _, err := c.InitImportWallet(ctx, client.InitImportWalletParameters{UserID: s.Root.UserID})
		if err != nil {
			t.Fatal(err)
		}
		if sealed, err = client.SealImport(phrase.ImportBundle, want, []byte(words)); err != nil {
			t.Fatal(err)
		}
		wallet, _, err := c.ImportWallet(ctx, client.ImportWalletParameters{
			UserID: s.Root.UserID, WalletName: "Known", EncryptedBundle: sealed, Accounts: []client.WalletAccountParameters{ethereum},
		})
		if err != nil || wallet.Addresses[0] != "0x9858EfFD232B4033E47d90003D41EC34EcaEda94" {
			t.Fatalf("%+v, %v", wallet, err)
		}
		out, _, err := c.ExportWallet(ctx, client.ExportWalletParameters{WalletID: wallet.WalletID, TargetPublicKey: recipient.PublicKey()})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := recipient.OpenExport(out.ExportBundle, want); err != nil || string(got) != words {
			t.Errorf("%q, %v", got, err)
		}
		refuseBundles(t, want, target.ImportBundle, export.ExportBundle, recipient)
	})
}

// refuseBundles opens valid bundles with the wrong expectations.
func refuseBundles(t *testing.T, want client.Expect, target, export string, recipient *client.Recipient) {
	t.Helper()
	stranger, err := client.NewRecipient()
	if err != nil {
		t.Fatal(err)
	}
	otherServer, otherOrganization, noOrganization, otherUser := want, want, want, want
	otherServer.SignerPublicKey = stranger.PublicKey()
	otherOrganization.OrganizationID = want.UserID
	noOrganization.OrganizationID = ""
	otherUser.UserID = want.OrganizationID
	damaged := strings.Replace(export, `"data":"7b22`, `"data":"7b20`, 1)
	for name, tt := range map[string]struct {
		want      client.Expect
		target    string
		export    string
		recipient *client.Recipient
		says      string
	}{
		"another server":         {otherServer, target, export, recipient, "signed by another key"},
		"another organization":   {otherOrganization, target, export, recipient, "of another organization"},
		"no organization":        {noOrganization, target, export, recipient, "of another organization"},
		"another user":           {otherUser, target, "", nil, "for another user"},
		"another recipient":      {want, "", export, stranger, "encrypted to another key"},
		"damaged":                {want, strings.Replace(target, `"data":"7b22`, `"data":"7b20`, 1), damaged, recipient, "does not fit the data"},
		"another version":        {want, strings.Replace(target, "v1.0.0", "v2.0.0", 1), strings.Replace(export, "v1.0.0", "v2.0.0", 1), recipient, "is not known"},
		"no bundle":              {want, "{", "null]", recipient, "not the JSON text of a bundle"},
		"no signer":              {client.Expect{OrganizationID: want.OrganizationID, UserID: want.UserID}, target, export, recipient, "no uncompressed point"},
		"an export for a target": {want, export, target, recipient, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.target != "" {
				if _, err := client.SealImport(tt.target, tt.want, []byte("x")); err == nil || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("SealImport: %v", err)
				}
			}
			if tt.export != "" {
				if _, err := tt.recipient.OpenExport(tt.export, tt.want); err == nil || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("OpenExport: %v", err)
				}
			}
		})
	}
}
