package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/translog"
)

type auditCommand struct {
	Verify  auditVerifyCommand  `cmd:"" help:"Check every stored row, head, index and signature, and the log. Exit status: 0 all is well, 1 with findings, 2 could not run."`
	Export  auditExportCommand  `cmd:"" help:"Write the log with the activities that it speaks of as JSON lines, in the order of commits. Exit status: 1 something is missing or damaged, 2 could not run."`
	Receipt auditReceiptCommand `cmd:"" help:"Verify a receipt, without a server and without a network. Exit status: 1 it does not prove what it says, 2 could not run."`
}

type auditReceiptCommand struct {
	File    string   `arg:"" help:"The server's reply, or the receipt in it; - is standard input."`
	Key     []string `required:"" sep:"none" placeholder:"VKEY" help:"Verifier key of the log, from /.well-known/latchkey.json, or @FILE with some, one a line. Each that is given must have signed; give both of a log."`
	Witness []string `sep:"none" placeholder:"VKEY" help:"Verifier key of a witness, or @FILE. Of a witness that counts, each key that is given must have signed."`
	Quorum  *int     `placeholder:"N" help:"How many of the witnesses must have signed; all of them if it is not given."`
	JSON    bool     `name:"json" help:"Print JSON, for programs."`
}

// auditedReceipt is what --json prints.
type auditedReceipt struct {
	Valid     bool           `json:"valid"`
	Error     string         `json:"error,omitempty"`
	Record    jsontext.Value `json:"record,omitempty"`
	Origin    string         `json:"origin,omitempty"`
	Index     int64          `json:"index"`
	Size      int64          `json:"size"`
	Root      string         `json:"root,omitempty"`
	Witnesses []string       `json:"witnesses"`
}

// Run verifies the receipt.
func (cmd auditReceiptCommand) Run() error {
	logs, witnesses, text, err := cmd.read()
	if err != nil {
		fmt.Fprintf(os.Stderr, "latchkey: %v\n", err)
		return exitStatus(2)
	}
	quorum := len(witnesses.Names())
	if cmd.Quorum != nil {
		quorum = *cmd.Quorum
	}
	proven, err := verifyReceipt(text, logs, witnesses, quorum)
	if cmd.JSON {
		return cmd.printJSON(proven, witnesses, err)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "latchkey: %s is not proven: %v\n", cmd.File, err)
		return exitStatus(1)
	}
	return describeReceipt(os.Stdout, proven, witnesses)
}

// read fetches what is needed before anything can be verified.
func (cmd auditReceiptCommand) read() (logs, witnesses translog.Keys, text []byte, err error) {
	if logs, err = readKeys(cmd.Key, translog.ParseKeys); err != nil {
		return nil, nil, nil, err
	}
	if witnesses, err = readKeys(cmd.Witness, translog.ParseWitnessKeys); err != nil {
		return nil, nil, nil, err
	}
	if most := len(witnesses.Names()); cmd.Quorum != nil && (*cmd.Quorum < 0 || *cmd.Quorum > most) {
		return nil, nil, nil, fmt.Errorf("--quorum is %d, and %d witnesses are given", *cmd.Quorum, most)
	}
	if cmd.File == "-" {
		text, err = io.ReadAll(os.Stdin)
	} else {
		text, err = os.ReadFile(cmd.File)
	}
	return logs, witnesses, text, err
}

// readKeys reads verifier keys; @FILE stands for those in a file, because one of
// ML-DSA-44 is long.
func readKeys(given []string, parse func(...string) (translog.Keys, error)) (translog.Keys, error) {
	var texts []string
	for _, text := range given {
		path, isFile := strings.CutPrefix(text, "@")
		if !isFile {
			texts = append(texts, text)
			continue
		}
		file, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		in := strings.Fields(string(file))
		if len(in) == 0 {
			return nil, fmt.Errorf("%s has no verifier key", path)
		}
		texts = append(texts, in...)
	}
	return parse(texts...)
}

func verifyReceipt(text []byte, logs, witnesses translog.Keys, quorum int) (*translog.Proven, error) {
	receipt, err := translog.ParseReceipt(text)
	if err != nil {
		return nil, err
	}
	return translog.VerifyReceipt(receipt, logs, witnesses, quorum)
}

func (cmd auditReceiptCommand) printJSON(proven *translog.Proven, witnesses translog.Keys, wrong error) error {
	if wrong != nil {
		if err := printJSON(auditedReceipt{Error: wrong.Error(), Witnesses: []string{}}); err != nil {
			return err
		}
		return exitStatus(1)
	}
	c := proven.Checkpoint
	return printJSON(auditedReceipt{
		Valid: true, Record: proven.Record.AppendText(nil), Origin: c.Origin, Index: proven.Index, Size: c.Size, Root: c.Root.String(),
		Witnesses: append([]string{}, c.CosignedBy(witnesses)...),
	})
}

func describeReceipt(to io.Writer, proven *translog.Proven, witnesses translog.Keys) error {
	r, c := proven.Record, proven.Checkpoint
	what := "activity     " + r.ActivityID
	if r.Kind != "" {
		what = "kind         " + r.Kind
	}
	by := "none that was given"
	if names := c.CosignedBy(witnesses); len(names) > 0 {
		by = strings.Join(names, ", ")
	}
	_, err := fmt.Fprintf(to, "proven: entry %d of the log %s\n%s\norganization %s, number %d\nstatus       %s\ntime         %s\nsigned       by the log, when it had %d entries\nwitnesses    %s\n",
		proven.Index, c.Origin, what, r.OrganizationID, r.Sequence, r.Status, time.UnixMilli(r.TimeMs).UTC().Format(time.RFC3339Nano), c.Size, by)
	return err
}
