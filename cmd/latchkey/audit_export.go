package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/go-json-experiment/json"

	"latchkey/internal/audit"
	"latchkey/internal/request/ops"
)

type auditExportCommand struct {
	Config       string `placeholder:"FILE" help:"Config file of the server; this or --data."`
	Data         string `placeholder:"DIR" help:"Data folder of a dev server; this or --config."`
	After        string `placeholder:"CURSOR" help:"Continue after this entry: a cursor that an export has printed."`
	Organization string `placeholder:"ID" help:"Only the entries of this organization."`
}

// Run writes the log; a server may be running on it.
func (cmd auditExportCommand) Run(ctx context.Context) error {
	damaged, err := cmd.export(ctx)
	switch {
	case err != nil:
		fmt.Fprintf(os.Stderr, "latchkey: the log could not be exported: %v\n", err)
		return auditFailed
	case damaged > 0:
		fmt.Fprintf(os.Stderr, "latchkey: %d entries or activities are missing or damaged and were left out; latchkey audit verify names them\n", damaged)
		return auditFindings
	}
	return nil
}

func (cmd auditExportCommand) export(ctx context.Context) (damaged int64, err error) {
	opened, err := openAudited(ctx, cmd.Config, cmd.Data, "")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	if cmd.Organization != "" {
		version, err := opened.Image.Version(ctx, cmd.Organization)
		if err != nil {
			return 0, err
		}
		if version == 0 {
			return 0, fmt.Errorf("--organization: there is no organization %q", cmd.Organization)
		}
	}
	out := bufio.NewWriter(os.Stdout)
	run := &audit.Export{
		Image: opened.Image, Keys: opened.Rows, Catalog: ops.Catalog(), After: cmd.After, Organization: cmd.Organization,
		Write: func(e *audit.Exported) error {
			if err := json.MarshalWrite(out, e); err != nil {
				return err
			}
			return out.WriteByte('\n')
		},
	}
	damaged, err = run.Run(ctx)
	return damaged, errors.Join(err, out.Flush())
}
