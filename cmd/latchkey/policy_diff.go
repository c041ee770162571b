package main

import (
	"context"
	"errors"
	"fmt"
	"os"
)

type policyDiffCommand struct{ policyFiles }

// Run compares files with an organization.
func (cmd policyDiffCommand) Run(ctx context.Context) error {
	_, plan, err := cmd.plan(ctx, false)
	if err == nil && plan.Different() {
		return exitStatus(policyDifferent)
	}
	return err
}

type policyPullCommand struct {
	Out string `placeholder:"FILE" help:"Write this new file. Default: standard output."`
	connection
}

// Run writes the policies of an organization as a file.
func (cmd policyPullCommand) Run(ctx context.Context) error {
	server, err := cmd.client()
	if err != nil {
		return err
	}
	organization, err := readOrganization(ctx, server)
	if err != nil {
		return err
	}
	text, err := organization.File()
	if err != nil {
		return err
	}
	if cmd.Out == "" {
		_, err = os.Stdout.Write(text)
		return err
	}
	// A file that is there may hold cases and comments, which the server does not
	// know.
	file, err := os.OpenFile(cmd.Out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s exists already; give the name of a new file, or compare with latchkey policy diff %s", cmd.Out, quote(cmd.Out))
	}
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}
