// Command quickstart makes a wallet and signs with it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"latchkey/client"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := connect(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	address, err := wallet(ctx, c, "Go client")
	var pending *client.PendingError
	if errors.As(err, &pending) {
		log.Fatalf("%s needs the votes of others: its fingerprint is %s", pending.Activity.ID, pending.Activity.Fingerprint)
	}
	if err != nil {
		log.Fatal(err)
	}
	signature, activity, err := c.SignRawPayload(ctx, client.SignRawPayloadParameters{
		SignWith: address, Payload: "hello",
		Encoding: client.PayloadEncodingTextUTF8, HashFunction: client.HashFunctionKeccak256,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("address  ", address)
	fmt.Println("signature", signature.R+signature.S+signature.V)
	fmt.Println("activity ", activity.ID, activity.CreatedAt.Time().Format(time.RFC3339))
}

// connect reads the file in which a development server says how to reach it.
func connect(path string) (*client.Client, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var dev struct{ BaseURL, OrganizationID, APIPrivateKey string }
	if err := json.Unmarshal(text, &dev); err != nil {
		return nil, err
	}
	stamper, err := client.NewAPIKeyStamper(client.P256, dev.APIPrivateKey)
	if err != nil {
		return nil, err
	}
	return &client.Client{BaseURL: dev.BaseURL, OrganizationID: dev.OrganizationID, Stamper: stamper}, nil
}

// wallet returns the address of a wallet, which it makes if there is none.
func wallet(ctx context.Context, c *client.Client, name string) (string, error) {
	wallets, err := c.ListWallets(ctx, client.ListWalletsRequest{})
	if err != nil {
		return "", err
	}
	for _, w := range wallets.Wallets {
		if w.WalletName != name {
			continue
		}
		accounts, err := c.ListWalletAccounts(ctx, client.ListWalletAccountsRequest{WalletID: w.WalletID})
		if err != nil {
			return "", err
		}
		if len(accounts.Accounts) == 0 {
			return "", fmt.Errorf("the wallet %q has no account", name)
		}
		return accounts.Accounts[0].Address, nil
	}
	made, _, err := c.CreateWallet(ctx, client.CreateWalletParameters{
		WalletName: name,
		Accounts: []client.WalletAccountParameters{{
			Curve: client.KeyCurveSecp256k1, PathFormat: client.PathFormatBIP32, Path: "m/44'/60'/0'/0/0",
			AddressFormat: client.AddressFormatEthereum,
		}},
	})
	if err != nil {
		return "", err
	}
	return made.Addresses[0], nil
}
