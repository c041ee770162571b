package main

import (
	"errors"
	"fmt"
	"io/fs"

	"latchkey/client"
	"latchkey/internal/secretfile"
)

type keygenCommand struct {
	Curve string `default:"p256" enum:"p256,secp256k1,ed25519" help:"Curve: p256, secp256k1 or ed25519. Default: ${default}."`
	Out   string `placeholder:"FILE" help:"Write the private key to this new file and print only the public key."`
}

// Run makes a key pair.
func (cmd keygenCommand) Run() error {
	key, err := client.GenerateKey(client.Curve(cmd.Curve))
	if err != nil {
		return err
	}
	if cmd.Out == "" {
		return printJSON(struct {
			PublicKey string `json:"publicKey"`
			KeyFile   string `json:"keyFile"` // the text that --out would have written
		}{key.PublicKey(), key.KeyFile()})
	}
	err = secretfile.Create(cmd.Out, []byte(key.KeyFile()+"\n"))
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists; keygen never overwrites a key", cmd.Out)
	}
	if err != nil {
		return err
	}
	fmt.Println(key.PublicKey())
	return nil
}
