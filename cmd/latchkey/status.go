package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"text/tabwriter"
	"time"

	"latchkey/internal/server"
)

type statusCommand struct {
	located
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Run shows how an installation is, whether servers run or not.
func (cmd statusCommand) Run(ctx context.Context) error {
	where, err := cmd.installation()
	if err != nil {
		return err
	}
	now := time.Now()
	s, err := server.ReadStatus(ctx, where, now)
	if err != nil {
		return err
	}
	if cmd.JSON {
		return printJSON(s)
	}
	return showStatus(os.Stdout, s, now)
}

func showStatus(to io.Writer, s server.Status, now time.Time) error {
	out := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "installation\t%s\n", s.Installation)
	fmt.Fprintf(out, "log\tepoch %d, %s in the tree, %d waiting, published up to %d\n", s.Log.Epoch, count(s.Log.Size, "entry", "entries"), s.Log.Waiting, s.Log.Published)
	fmt.Fprintf(out, "messages\t%d waiting", s.Messages.Waiting)
	if s.Messages.Oldest != nil {
		fmt.Fprintf(out, ", the oldest for %s", since(now, *s.Messages.Oldest))
	}
	fmt.Fprintf(out, "\nwebhooks\t%s, at most %s behind, %d failing\n", count(int64(s.Webhooks.Endpoints), "endpoint", "endpoints"), count(s.Webhooks.Behind, "entry", "entries"), len(s.Webhooks.Failing))
	for _, f := range s.Webhooks.Failing {
		state := "for " + since(now, f.Since)
		if f.SwitchedOff != "" {
			state = "switched off"
		}
		fmt.Fprintf(out, "\t%s of %s: %s, %s, %s\n", f.EndpointID, f.OrganizationID, state, count(int64(f.Attempts), "attempt", "attempts"), f.LastError)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if len(s.Nodes) == 0 {
		_, err := fmt.Fprintln(to, "\nNo server has told that it runs.")
		return err
	}
	fmt.Fprintln(to)
	out = tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "SERVER\tHOST\tADDRESS\tVERSION\tGENERATION\tUP FOR\tSEEN")
	for _, n := range s.Nodes {
		generation, seen := "-", since(now, n.SeenAt)+" ago"
		if n.Generation > 0 {
			generation = strconv.Itoa(n.Generation)
		}
		if !n.Alive {
			seen += " (gone)"
		}
		fmt.Fprintf(out, "%s\t%s (%d)\t%s\t%s\t%s\t%s\t%s\n", n.ID, n.Host, n.Process, n.Address, n.Version, generation, since(n.SeenAt, n.StartedAt), seen)
		if n.Refusal != "" {
			fmt.Fprintf(out, "  carries out nothing: %s\n", n.Refusal)
		}
	}
	return out.Flush()
}

// count is a number of things.
func count(n int64, one, more string) string {
	if n == 1 {
		more = one
	}
	return strconv.FormatInt(n, 10) + " " + more
}

// since is how long ago something was, for people.
func since(now, then time.Time) string {
	d := max(0, now.Sub(then))
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	case d >= 2*time.Minute:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d s", int(d.Seconds()))
}
