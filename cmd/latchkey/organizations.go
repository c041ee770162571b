package main

import (
	"context"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"latchkey/internal/server"
)

type organizationsCommand struct {
	List organizationsListCommand `cmd:"" help:"List the parent organizations of an installation, whether servers run or not."`
}

type organizationsListCommand struct {
	located
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Run lists the organizations.
func (cmd organizationsListCommand) Run(ctx context.Context) error {
	where, err := cmd.installation()
	if err != nil {
		return err
	}
	all, err := server.ListOrganizations(ctx, where)
	if err != nil {
		return err
	}
	if cmd.JSON {
		return printJSON(map[string]any{"organizations": all})
	}
	if len(all) == 0 {
		fmt.Println("There is no organization yet: latchkey init creates one.")
		return nil
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "ID\tCREATED\tUSERS\tSUB-ORGANIZATIONS\tNAME")
	for _, o := range all {
		fmt.Fprintf(out, "%s\t%s\t%d\t%d\t%q\n", o.ID, o.CreatedAt.UTC().Format(time.DateTime), o.Users, o.SubOrganizations, o.Name)
	}
	return out.Flush()
}
