package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"

	"latchkey/internal/console"
)

type consoleCommand struct {
	Data string `default:"./latchkey-data" placeholder:"DIR" help:"Data folder of the dev server. Default: ${default}."`
}

// Run prints an address that signs a browser on this machine in, once.
func (cmd consoleCommand) Run() error {
	file, err := readDevFile(cmd.Data)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s does not exist: --data must be the data folder of a dev server; on another server, open /console/ and sign in", devPath(cmd.Data))
	}
	if err != nil {
		return err
	}
	address, err := consoleAddress(cmd.Data, file.BaseURL)
	if err != nil {
		return err
	}
	fmt.Println(address)
	return nil
}

// consoleAddress makes a code for the dev server of a data folder, and the address
// with it.
func consoleAddress(folder, baseURL string) (string, error) {
	code, err := console.NewCode(folder)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(baseURL)
	if err != nil {
		return "", err
	}
	return console.Address(u.Port(), code), nil
}
