package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/keys/vault"
	"latchkey/internal/keys/vault/sealfile"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/store/postgres"
)

// CheckStatus is what came of a check.
type CheckStatus string

// What can come of a check.
const (
	CheckOK      CheckStatus = "ok"
	CheckWarn    CheckStatus = "warn"    // a server runs, but something should be looked at
	CheckFail    CheckStatus = "fail"    // a server does not start, or does not do what it should
	CheckSkipped CheckStatus = "skipped" // there is nothing to check, or something before it failed
)

// Check is one thing that was looked at, and what to do about it.
type Check struct {
	Name   string      `json:"name"`
	Status CheckStatus `json:"status"`
	Detail string      `json:"detail"`
	Fix    string      `json:"fix"`
}

// Examination is what [Examine] found. It is OK if nothing failed.
type Examination struct {
	OK     bool    `json:"ok"`
	Checks []Check `json:"checks"`
}

// Examining says what to look at beyond what leaves no trace.
type Examining struct {
	// MailTo and SMSTo get a message each; empty: none is sent.
	MailTo, SMSTo string
	Now           func() time.Time
}

// Examine checks everything about an installation that can be checked without a
// change: nothing is written, and an embedded database is left as it is, with nothing
// beside it. An error says that the config file could not be read.
func Examine(ctx context.Context, file string, o Examining) (Examination, error) {
	c, err := config.Load(file)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return Examination{}, err
	}
	d := &doctor{Examining: o, file: file, config: c}
	if err == nil {
		_, err = newRouter(c)
	}
	if err != nil {
		d.fail("config", err.Error(), "correct the file; deploy/latchkey.example.yaml lists every setting")
		return Examination{Checks: d.checks}, nil
	}
	defer d.close()
	d.ok("config", "%s is valid", file)
	for _, check := range []func(context.Context){
		d.permissions, d.database, d.masterKey, d.seal, d.log, d.listen, d.certificate,
		d.clock, d.disk, d.memory, d.mail, d.sms, d.issuers, d.witnesses,
	} {
		check(ctx)
	}
	found := Examination{OK: true, Checks: d.checks}
	for _, c := range d.checks {
		found.OK = found.OK && c.Status != CheckFail
	}
	return found, nil
}

// doctor is an examination under way.
type doctor struct {
	Examining
	file   string
	config *config.Config
	checks []Check

	image        store.Image          // nil: there is no database that could be opened
	installation *domain.Installation // nil: none is known
	facts        *postgres.Facts      // nil: the store is another one
	keys         openedVault
	rows         *vault.RowKeys // nil: the master key does not open the database
	attempts     []SealAttempt  // nil: none was made
}

func (d *doctor) close() {
	d.keys.close()
	if d.image != nil {
		_ = d.image.Close() // it was only read
	}
}

func (d *doctor) add(name string, status CheckStatus, detail, fix string) {
	d.checks = append(d.checks, Check{name, status, detail, fix})
}

func (d *doctor) ok(name, format string, args ...any) {
	d.add(name, CheckOK, fmt.Sprintf(format, args...), "")
}

func (d *doctor) skip(name, why string)         { d.add(name, CheckSkipped, why, "") }
func (d *doctor) warn(name, detail, fix string) { d.add(name, CheckWarn, detail, fix) }
func (d *doctor) fail(name, detail, fix string) { d.add(name, CheckFail, detail, fix) }

// permissions looks at the files that hold secrets.
func (d *doctor) permissions(context.Context) {
	const name = "permissions"
	c := d.config
	secret := []string{c.TLS.Key, StateFile(c)}
	for _, source := range []string{c.MasterKey, c.PreviousMasterKey, string(c.Mail.Password)} {
		if kind, path, _ := strings.Cut(source, ":"); kind == "file" || kind == "passphrase" || kind == "seal" {
			secret = append(secret, path)
		}
	}
	if path, ok := strings.CutPrefix(c.Store, "sqlite:"); ok {
		secret = append(secret, path)
	}
	looked := 0
	for _, path := range secret {
		info, err := os.Stat(path)
		if err != nil {
			continue // it is not there; who needs it says so
		}
		looked++
		others := fs.FileMode(0o077)
		if path == c.TLS.Key {
			others = 0o037 // a group that may read it is usual, and the server accepts that
		}
		if mode := info.Mode().Perm(); mode&others != 0 {
			d.fail(name, fmt.Sprintf("%s can be read by others (mode %04o)", path, mode), "chmod 600 "+path)
			return
		}
		if dir, err := os.Stat(filepath.Dir(path)); err == nil && dir.Mode().Perm()&0o022 != 0 && dir.Mode()&fs.ModeSticky == 0 {
			d.warn(name, fmt.Sprintf("others can write to the folder %s (mode %04o), and so replace %s", filepath.Dir(path), dir.Mode().Perm(), path), "chmod go-w "+filepath.Dir(path))
			return
		}
	}
	if info, err := os.Stat(d.file); err == nil && info.Mode().Perm()&0o022 != 0 {
		d.warn(name, fmt.Sprintf("others can change %s (mode %04o)", d.file, info.Mode().Perm()), "chmod go-w "+d.file)
		return
	}
	d.ok(name, "%d files with secrets are for their owner only", looked)
}

// masterKey opens the database with the master key.
func (d *doctor) masterKey(ctx context.Context) {
	const name = "masterKey"
	kind, path, _ := strings.Cut(d.config.MasterKey, ":")
	isFile := kind == "file" || kind == "passphrase"
	switch {
	case d.image == nil && isFile && missing(path):
		d.skip(name, "there is none yet: the first start makes "+path)
		return
	case isFile && missing(path):
		d.fail(name, path+" is missing, and the database was sealed under a master key", "put the file back from its backup")
		return
	}
	if _, sealed := sealPath(d.config); sealed && !d.openSeal(name) {
		return
	}
	if _, err := d.keys.open(ctx, d.config, nil); err != nil {
		d.fail(name, err.Error(), "name the right source as masterKey, and give this command what the server has")
		return
	}
	if d.image == nil {
		d.skip(name, "it is there; without a database nothing can be opened with it")
		return
	}
	var err error
	d.rows, err = d.keys.vault.LoadRowKeys(store.ImageCiphertexts{Context: ctx, Image: d.image})
	switch {
	case err != nil:
		d.fail(name, err.Error(), "name the master key of this database, or the database of this master key")
	case d.rows == nil:
		d.fail(name, ErrNotAdopted.Error(), "latchkey migrate --adopt --config "+d.file)
	default:
		d.ok(name, "%s opens the database", describeSource(d.config.MasterKey))
	}
}

// openSeal opens the seal as a server does at its start, which asks no one.
func (d *doctor) openSeal(name string) bool {
	seal, err := ReadSeal(d.config)
	if err != nil {
		d.fail(name, err.Error(), unreadableSeal)
		return false
	}
	d.tryRecipients(seal)
	if d.keys.seal != nil {
		return true
	}
	err = noneOpens(seal, d.attempts)
	gathering, people := seal.Gather(time.Now)
	gathering.Close()
	if people {
		d.skip(name, "no recipient opens the seal by itself; people do: "+err.Error())
		return false
	}
	d.fail(name, err.Error(), "correct seal.secrets")
	return false
}

// tryRecipients tries each once: a secret in the environment is there only once. The
// first that opens the seal is what the other checks go on with.
func (d *doctor) tryRecipients(seal *sealfile.Seal) {
	if d.attempts != nil {
		return
	}
	for _, r := range seal.Status().Recipients {
		opened, attempt := TrySeal(seal, r.Name, d.config.Seal.Secrets)
		d.attempts = append(d.attempts, attempt)
		switch {
		case opened == nil:
		case d.keys.seal == nil:
			d.keys.seal = opened
		default:
			opened.Close()
		}
	}
}

// unreadableSeal is what helps against a seal file that cannot be read.
const unreadableSeal = "name the seal file in masterKey, readable for the server's user alone, or put a copy of it from a backup in its place"

// describeSource names a source of a key.
func describeSource(source string) string {
	kind, rest, _ := strings.Cut(source, ":")
	switch kind {
	case "env":
		return "the environment variable " + rest
	case "fd":
		return "file descriptor " + rest
	case "credential":
		return "the credential " + rest
	}
	return rest
}

// seal tries every recipient.
func (d *doctor) seal(context.Context) {
	const name = "seal"
	if _, sealed := sealPath(d.config); !sealed {
		d.skip(name, "the master key is in no seal")
		return
	}
	seal, err := ReadSeal(d.config)
	if err != nil {
		d.fail(name, err.Error(), unreadableSeal)
		return
	}
	d.tryRecipients(seal)
	var opens, fails, untried []string
	for _, attempt := range d.attempts {
		switch {
		case attempt.OK:
			opens = append(opens, attempt.Name)
		case attempt.Tried:
			fails = append(fails, attempt.Name+": "+attempt.Reason)
		default:
			untried = append(untried, attempt.Name+": "+attempt.Reason)
		}
	}
	detail := fmt.Sprintf("generation %d", seal.Generation())
	for _, part := range []struct {
		what string
		list []string
	}{{"opened by ", opens}, {"not opened by ", fails}, {"not tried: ", untried}} {
		if len(part.list) > 0 {
			detail += "; " + part.what + strings.Join(part.list, ", ")
		}
	}
	switch {
	case len(fails) > 0:
		d.warn(name, detail, "correct seal.secrets, or latchkey seal remove what does not open it any more")
	case len(opens) == 0:
		d.warn(name, detail, "the server will wait for people at each start")
	default:
		d.ok(name, "%s", detail)
	}
}
