package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store/sqlite"
)

type backupCommand struct {
	located
	Out string `required:"" placeholder:"FILE" help:"New file for the copy; an existing one is never overwritten."`
}

type restoreCommand struct {
	Config  string `placeholder:"FILE" xor:"where" required:"" help:"Config file of the server; this or --data."`
	Data    string `placeholder:"DIR" xor:"where" required:"" help:"Data folder of a dev server, this or --config; it is created if need be."`
	From    string `required:"" placeholder:"FILE" help:"File that 'latchkey backup' made."`
	SHA256  string `name:"sha256" placeholder:"HEX" help:"Refuse a file with another SHA-256 than 'latchkey backup' printed."`
	Replace bool   `help:"Put a database that is already there aside."`

	NewEpoch bool `help:"Begin a new log: for a backup that is older than what the server has signed since. Needs the master key."`
}

// Run copies the database of a server, which may be running.
func (cmd backupCommand) Run(ctx context.Context) error {
	from, err := cmd.installation()
	if err != nil {
		return err
	}
	path, ok := strings.CutPrefix(from.Store, "sqlite:")
	if !ok {
		return usePostgres(from.Store, "Run", func(url string) string {
			return "(umask 077; pg_dump --format=custom --file=" + quote(cmd.Out) + " --dbname=" + quote(url) + ")"
		})
	}
	s, err := sqlite.Backup(ctx, path, cmd.Out)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "The master key is not in the backup, and without it no key in there can be opened. Keep a copy of it in another place.")
	return printJSON(describeFile(cmd.Out, s))
}

// Run puts a backup in place of a database.
func (cmd restoreCommand) Run(ctx context.Context) error {
	to, err := cmd.to()
	if err != nil {
		return err
	}
	path, ok := strings.CutPrefix(to.Store, "sqlite:")
	if !ok {
		return usePostgres(to.Store, "Run, into an empty database", func(url string) string {
			return "pg_restore --exit-on-error --single-transaction --no-owner --dbname=" + quote(url) + " " + quote(cmd.From) +
				"\n\nand, because what it holds is older than what the servers have signed since,\n\n  latchkey log new-epoch --config FILE"
		})
	}
	state := server.StateFile(to)
	s, aside, err := sqlite.Restore(ctx, sqlite.Restoring{
		From: cmd.From, SHA256: cmd.SHA256, To: path, Replace: cmd.Replace, Marked: state != "", Now: time.Now(),
	})
	switch {
	case errors.Is(err, sqlite.ErrNotMarked):
		return fmt.Errorf("%w, and %s says that they are: no server would start on it; nothing was changed. "+
			"If this backup is to be the database from now on, move %s away, restore, and run latchkey migrate --adopt", err, state, state)
	case errors.Is(err, sqlite.ErrInUse):
		return fmt.Errorf("%w; nothing was changed", err)
	case errors.Is(err, sqlite.ErrExists):
		return fmt.Errorf("%w; --replace puts it aside; nothing was changed", err)
	case err != nil:
		return err
	}
	if aside != "" {
		fmt.Fprintf(os.Stderr, "The database that was there is now %s.\n", aside)
	}
	if err := server.LeaveRestored(to, s.SHA256); err != nil {
		return err
	}
	if cmd.NewEpoch {
		if err := newEpoch(ctx, to); err != nil {
			return fmt.Errorf("the backup is in place, but the new log has not begun; run latchkey log new-epoch: %w", err)
		}
	}
	return printJSON(describeFile(path, s))
}

// to takes a data folder for what it is, even if nothing is left in it but the
// file of its dev server: that may be the reason to restore.
func (cmd restoreCommand) to() (*config.Config, error) {
	if cmd.Data == "" {
		return installation(cmd.Config, "")
	}
	return dataConfig(cmd.Data), os.MkdirAll(cmd.Data, 0o700)
}

// fileSummary is what both commands print. Scripts may rely on its members.
type fileSummary struct {
	File          string     `json:"file"`
	SHA256        string     `json:"sha256"`
	Schema        int64      `json:"schema"`
	Organizations int64      `json:"organizations"`
	Sealed        int64      `json:"sealed"`
	Activities    int64      `json:"activities"`
	Newest        *time.Time `json:"newestActivity"`
}

func describeFile(name string, s sqlite.Summary) fileSummary {
	f := fileSummary{
		File: name, SHA256: s.SHA256, Schema: s.Schema,
		Organizations: s.Organizations, Sealed: s.Sealed, Activities: s.Activities,
	}
	if s.Newest != 0 {
		newest := time.UnixMilli(s.Newest).UTC()
		f.Newest = &newest
	}
	return f
}

// usePostgres refuses, and shows the command that does it. libpq would not
// take the settings that are ours, and the password must not be shown.
func usePostgres(store, what string, command func(url string) string) error {
	u, err := url.Parse(store)
	if err != nil {
		return errors.New("the store is not a valid URL") // which may hold the password
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	known := []string{
		"host", "hostaddr", "port", "user", "dbname", "sslmode", "sslrootcert", "sslcert", "sslkey", "connect_timeout", "target_session_attrs",
	}
	q := u.Query()
	for name := range q {
		if !slices.Contains(known, name) {
			q.Del(name)
		}
	}
	u.RawQuery = q.Encode()
	return fmt.Errorf("the store is PostgreSQL, which has its own tools for this. %s:\n\n  %s\n\n"+
		"The password is asked for, or taken from PGPASSWORD or ~/.pgpass. For point-in-time recovery use base backups with WAL archiving; see docs/operations.md",
		what, command(u.String()))
}

// quote makes one word of a shell command.
func quote(word string) string {
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
