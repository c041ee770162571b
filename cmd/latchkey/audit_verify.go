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
	"latchkey/internal/request/ops"
	"latchkey/internal/server"
	"latchkey/internal/store"
	"latchkey/internal/translog"
)

type auditVerifyCommand struct {
	Config string   `placeholder:"FILE" help:"Config file of the server; this or --data."`
	Data   string   `placeholder:"DIR" help:"Data folder of a dev server; this or --config."`
	Backup string   `placeholder:"FILE" help:"Check this file, which 'latchkey backup' made, instead of the database. Alone, without the master key, it checks signatures, indexes and the tree of the log, and says what it cannot check."`
	Since  string   `placeholder:"FILE" help:"Check that the log continues this earlier checkpoint of it, from /latchkey/v1/log/checkpoint."`
	Key    []string `sep:"none" placeholder:"VKEY" help:"Verifier key of the log, or @FILE with some, for a --backup alone; otherwise the master key gives them."`
	JSON   bool     `name:"json" help:"Print one JSON object."`
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
	run, done, err := cmd.open(ctx)
	if err != nil {
		return counts, err
	}
	defer func() { err = errors.Join(err, done()) }()
	out := bufio.NewWriter(os.Stdout)
	report := auditReport(textReport{out})
	if cmd.JSON {
		report = &jsonReport{out: out}
	}
	run.Found, run.Catalog = report.found, ops.Catalog()
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
	return counts, errors.Join(report.end(counts, unchecked(run)), out.Flush())
}

// unchecked is what could not be checked for want of keys.
func unchecked(run *audit.Audit) (what []string) {
	if run.Keys == nil {
		what = append(what, "the marks of rows and entries of the log, and the heads of organizations: they need the master key, so name the server's --data or --config too")
	}
	if run.Keys == nil && len(run.LogKeys) == 0 {
		what = append(what, "whose keys have signed the checkpoints of the log: they fit those that the backup itself names; give the ones that you know with --key")
	}
	return what
}

// open opens what is to be checked, with the keys for it, if they are named.
func (cmd auditVerifyCommand) open(ctx context.Context) (run *audit.Audit, done func() error, err error) {
	given, err := readKeys(cmd.Key, translog.ParseKeys)
	if err != nil {
		return nil, nil, err
	}
	if cmd.Config == "" && cmd.Data == "" {
		if cmd.Backup == "" {
			return nil, nil, errors.New("name the server's --config or --data, or a --backup")
		}
		image, err := server.OpenImage(ctx, "sqlite:"+cmd.Backup)
		if err != nil {
			return nil, nil, err
		}
		run, done = &audit.Audit{Image: image, LogKeys: given}, image.Close
	} else if run, done, err = cmd.openAudited(ctx, given); err != nil {
		return nil, nil, err
	}
	if cmd.Since != "" {
		note, err := os.ReadFile(cmd.Since)
		if err != nil {
			return nil, nil, errors.Join(fmt.Errorf("--since: %w", err), done())
		}
		run.Earlier = append(run.Earlier, audit.Earlier{Name: cmd.Since, Note: note})
	}
	return run, done, nil
}

// openAudited opens what a config names, with its master key.
func (cmd auditVerifyCommand) openAudited(ctx context.Context, given translog.Keys) (*audit.Audit, func() error, error) {
	if len(given) > 0 {
		return nil, nil, errors.New("--key is for a --backup alone: here the master key gives the verifier keys of the log")
	}
	audited, err := openAudited(ctx, cmd.Config, cmd.Data, cmd.Backup)
	if err != nil {
		return nil, nil, err
	}
	run := &audit.Audit{Image: audited.Image, Keys: audited.Rows}
	if audited.Remembered != "" {
		run.Earlier = append(run.Earlier, audit.Earlier{Name: audited.Where, Note: []byte(audited.Remembered)})
	}
	return run, audited.Close, nil
}

// openAudited opens an installation for an audit.
func openAudited(ctx context.Context, configFile, dataDir, backup string) (*server.Audited, error) {
	switch {
	case configFile != "" && dataDir != "":
		return nil, errors.New("--config and --data: name one of them")
	case configFile == "" && dataDir == "":
		return nil, errors.New("name the server's --config or --data")
	}
	where, err := installation(configFile, dataDir)
	if err != nil {
		return nil, err
	}
	return server.OpenAudited(ctx, where, backup)
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
	fmt.Fprintf(r.out, "%d organizations, %d rows, %d activities, %d signatures and %d entries of the log were checked: %d findings\n",
		c.Organizations, c.Items, c.Activities, c.Signatures, c.Entries, c.Findings)
	if c.Unsigned > 0 {
		fmt.Fprintf(r.out, "%d signatures are of refused requests whose bytes were not kept, and could not be checked\n", c.Unsigned)
	}
	if c.Waiting > 0 {
		fmt.Fprintf(r.out, "%d entries of the log are not in its tree yet: a server puts them there\n", c.Waiting)
	}
	if c.Unlogged > 0 {
		fmt.Fprintf(r.out, "%d activities are older than the log, which says nothing of them\n", c.Unlogged)
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
