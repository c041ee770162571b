package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/audit"
	"latchkey/internal/keys/vault"
	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
)

type auditVerifyCommand struct {
	Config string `placeholder:"FILE" help:"Config file of the server; this or --data."`
	Data   string `placeholder:"DIR" help:"Data folder of a dev server; this or --config."`
	Backup string `placeholder:"FILE" help:"Check this file, which 'latchkey backup' made, instead of the database. Alone, without the master key, it checks signatures and indexes only."`
	JSON   bool   `name:"json" help:"Print one JSON object."`
}

// Statuses of the command, for scripts.
const (
	auditFindings = exitStatus(1)
	auditFailed   = exitStatus(2)
)

// Run checks an installation; a server may be running on it.
func (cmd auditVerifyCommand) Run(ctx context.Context) error {
	counts, err := cmd.verify(ctx)
	switch {
	case err != nil:
		fmt.Fprintf(os.Stderr, "latchkey: the audit could not be carried out: %v\n", err)
		return auditFailed
	case counts.Findings > 0:
		return auditFindings
	}
	return nil
}

func (cmd auditVerifyCommand) verify(ctx context.Context) (counts audit.Counts, err error) {
	image, keys, done, err := cmd.open(ctx)
	if err != nil {
		return counts, err
	}
	defer func() { err = errors.Join(err, done()) }()
	out := bufio.NewWriter(os.Stdout)
	report := auditReport(textReport{out})
	if cmd.JSON {
		report = &jsonReport{out: out}
	}
	run := &audit.Audit{Image: image, Keys: keys, Found: report.found}
	if isTerminal(os.Stderr) {
		run.Progress = showProgress
	}
	counts, err = run.Run(ctx)
	if run.Progress != nil {
		fmt.Fprint(os.Stderr, "\r\x1b[K")
	}
	if err != nil {
		return counts, errors.Join(err, out.Flush())
	}
	var unchecked []string
	if keys == nil {
		unchecked = append(unchecked, "the marks of rows and the heads of organizations: they need the master key, so name the server's --data or --config too")
	}
	return counts, errors.Join(report.end(counts, unchecked), out.Flush())
}

// open opens what is to be checked, and the keys for it; nil if they are not
// named.
func (cmd auditVerifyCommand) open(ctx context.Context) (_ store.Image, _ *vault.RowKeys, done func() error, err error) {
	if cmd.Config != "" && cmd.Data != "" {
		return nil, nil, nil, errors.New("--config and --data: name one of them")
	}
	var where *config.Config
	switch {
	case cmd.Config != "" || cmd.Data != "":
		if where, err = installation(cmd.Config, cmd.Data); err != nil {
			return nil, nil, nil, err
		}
	case cmd.Backup == "":
		return nil, nil, nil, errors.New("name the server's --config or --data, or a --backup")
	}
	from := "sqlite:" + cmd.Backup
	if cmd.Backup == "" {
		from = where.Store
	}
	image, err := server.OpenImage(ctx, from)
	if err != nil {
		return nil, nil, nil, err
	}
	if where == nil {
		return image, nil, image.Close, nil
	}
	v, keys, err := server.OpenRowKeys(ctx, image, where)
	if err != nil {
		return nil, nil, nil, errors.Join(err, image.Close())
	}
	return image, keys, func() error {
		v.Close()
		return image.Close()
	}, nil
}

// auditReport prints findings as they come, and then what was checked.
type auditReport interface {
	found(store.Finding) error
	end(counts audit.Counts, unchecked []string) error
}

type textReport struct{ out io.Writer }

func (r textReport) found(f store.Finding) error {
	text := "organization " + strconv.Quote(f.Org)
	if f.Kind != "" {
		text += ", " + f.Kind
	}
	if f.ID != "" {
		text += " " + strconv.Quote(f.ID)
	}
	_, err := fmt.Fprintf(r.out, "%s: %s\n", text, f.What)
	return err
}

func (r textReport) end(c audit.Counts, unchecked []string) error {
	fmt.Fprintf(r.out, "%d organizations, %d rows, %d activities and %d signatures were checked: %d findings\n",
		c.Organizations, c.Items, c.Activities, c.Signatures, c.Findings)
	if c.Unsigned > 0 {
		fmt.Fprintf(r.out, "%d signatures are of refused requests whose bytes were not kept, and could not be checked\n", c.Unsigned)
	}
	for _, what := range unchecked {
		fmt.Fprintf(r.out, "Not checked: %s\n", what)
	}
	return nil
}

// jsonReport prints an object whose findings are not held in memory.
type jsonReport struct {
	out  io.Writer
	some bool
}

type jsonFinding struct {
	Organization string `json:"organization"`
	Kind         string `json:"kind"`
	ID           string `json:"id"`
	What         string `json:"what"`
}

func (r *jsonReport) found(f store.Finding) error {
	text, err := json.Marshal(jsonFinding{f.Org, f.Kind, f.ID, f.What}, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.out, "%s%s", r.separator(), text)
	return err
}

func (r *jsonReport) separator() string {
	if r.some {
		return ","
	}
	r.some = true
	return `{"findings":[`
}

func (r *jsonReport) end(c audit.Counts, unchecked []string) error {
	begin := ""
	if !r.some {
		begin = r.separator()
	}
	text, err := json.Marshal(struct {
		Checked   audit.Counts `json:"checked"`
		Unchecked []string     `json:"notChecked"`
	}{c, unchecked})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.out, "%s],%s\n", begin, text[1:])
	return err
}

func showProgress(done, all int64) {
	fmt.Fprintf(os.Stderr, "\r%d of %d rows were read (%d %%)", done, all, 100*done/max(all, 1))
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
