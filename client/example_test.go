package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"latchkey/client"
)

// A client needs the address of a server, an organization, and the file of a
// key that a user of the organization has registered.
func Example() {
	server := startServer() // in place of https://keys.example.com
	defer server.Close()

	text, err := os.ReadFile(server.KeyFile) // latchkey keygen wrote it
	if err != nil {
		log.Fatal(err)
	}
	key, err := client.ParseKeyFile(string(text))
	if err != nil {
		log.Fatal(err)
	}
	c := &client.Client{BaseURL: server.URL, Stamper: key.Stamper(), OrganizationID: server.OrganizationID}

	who, err := c.Whoami(context.Background(), client.WhoamiRequest{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(who.Username, "of", who.OrganizationName)
	// Output: Root user of Test organization
}

// A wallet derives the keys of its accounts from one seed. An address of it
// names the key to sign with.
func ExampleClient_SignRawPayload() {
	server := startServer()
	defer server.Close()
	ctx, c := context.Background(), server.client()

	wallet, _, err := c.CreateWallet(ctx, client.CreateWalletParameters{
		WalletName: "Treasury",
		Accounts: []client.WalletAccountParameters{{
			Curve: client.KeyCurveSecp256k1, PathFormat: client.PathFormatBIP32, Path: "m/44'/60'/0'/0/0",
			AddressFormat: client.AddressFormatEthereum,
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	signature, activity, err := c.SignRawPayload(ctx, client.SignRawPayloadParameters{
		SignWith: wallet.Addresses[0], Payload: "hello",
		Encoding: client.PayloadEncodingTextUTF8, HashFunction: client.HashFunctionKeccak256,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(activity.Status)
	fmt.Println(len(signature.R), "and", len(signature.S), "hex digits")
	// Output:
	// ACTIVITY_STATUS_COMPLETED
	// 64 and 64 hex digits
}

// An activity that needs the votes of others is a [client.PendingError]. The
// next approver names it by its fingerprint; the last approval executes it.
func ExampleClient_ApproveActivity() {
	server := startServer()
	defer server.Close()
	ctx, submitter, approver := context.Background(), server.client(), server.secondApprover()

	_, _, err := submitter.CreateUserTag(ctx, client.CreateUserTagParameters{UserTagName: "admins"})
	var pending *client.PendingError
	if !errors.As(err, &pending) {
		log.Fatal(err)
	}
	fmt.Println(pending.Activity.Status)

	activity, err := approver.ApproveActivity(ctx, client.ApproveActivityParameters{Fingerprint: pending.Activity.Fingerprint})
	if err != nil {
		log.Fatal(err)
	}
	if err := activity.Err(); err != nil {
		log.Fatal(err) // pending still, if more votes are needed
	}
	var tag client.CreateUserTagResult
	if err := activity.DecodeResult(&tag); err != nil {
		log.Fatal(err)
	}
	fmt.Println(activity.Status)
	// Output:
	// ACTIVITY_STATUS_CONSENSUS_NEEDED
	// ACTIVITY_STATUS_COMPLETED
}

// An export is encrypted to a key of the caller, and believed only if the
// server has signed it.
func ExampleRecipient_OpenExport() {
	server := startServer()
	defer server.Close()
	ctx, c := context.Background(), server.client()

	wallet, _, err := c.CreateWallet(ctx, client.CreateWalletParameters{WalletName: "Treasury", MnemonicLength: 24})
	if err != nil {
		log.Fatal(err)
	}
	recipient, err := client.NewRecipient()
	if err != nil {
		log.Fatal(err)
	}
	export, _, err := c.ExportWallet(ctx, client.ExportWalletParameters{
		WalletID: wallet.WalletID, TargetPublicKey: recipient.PublicKey(),
	})
	if err != nil {
		log.Fatal(err)
	}
	mnemonic, err := recipient.OpenExport(export.ExportBundle, client.Expect{
		SignerPublicKey: server.SignerPublicKey, // from the configuration, not from this connection
		OrganizationID:  server.OrganizationID,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(strings.Fields(string(mnemonic))), "words")
	// Output: 24 words
}
