package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/term"

	"latchkey/internal/keys/vault"
	"latchkey/internal/keys/vault/sealfile"
	"latchkey/internal/keys/vault/unseal"
	"latchkey/internal/secretfile"
	"latchkey/internal/server"
	"latchkey/internal/server/config"
)

type sealCommand struct {
	Init   sealInitCommand   `cmd:"" help:"Make a seal, of a new master key or of the one that there is."`
	Add    sealAddCommand    `cmd:"" help:"Add recipients to a seal."`
	Remove sealRemoveCommand `cmd:"" help:"Take recipients away, and make a new master key for those who stay. Then run latchkey vault rotate."`
	Status sealStatusCommand `cmd:"" help:"Show who opens a seal."`
	Test   sealTestCommand   `cmd:"" help:"Try recipients. Exit status 1: one that was tried does not open the seal."`
}

// sealRecipients are recipients to be made.
type sealRecipients struct {
	Passphrase []string `sep:"none" placeholder:"NAME" help:"Recipient that opens by a passphrase. May be repeated."`
	Age        []string `sep:"none" placeholder:"NAME=age1…" help:"Recipient that owns an age key, in a file or behind a plugin. May be repeated."`
	People     []string `sep:"none" placeholder:"NAME=K/N" help:"Group of N people of whom any K open the seal together. May be repeated."`
	PKCS11     []string `name:"pkcs11" sep:"none" placeholder:"NAME=URI" help:"Recipient that is a key on a PKCS#11 token, named by its URI (RFC 7512) with module-path; its secret is the PIN. May be repeated."`
	TPM        []string `name:"tpm" sep:"none" placeholder:"NAME=DEVICE[,pcrs=sha256:7]" help:"Recipient that is the TPM of this machine: a device, or the Unix socket of an emulator; with pcrs, only as long as these registers do not change. May be repeated."`
	Transit    []string `sep:"none" placeholder:"NAME=URL" help:"Recipient that is a key of the transit engine of OpenBao or Vault, https://HOST/v1/MOUNT/keys/NAME; its secret is the token. May be repeated."`
	KMS        []string `name:"kms" sep:"none" placeholder:"NAME=CLOUD:KEY" help:"Recipient that is a key of the key management of a cloud, aws:ARN, gcp:NAME or azure:URL; the credentials are those of the environment or of the machine. May be repeated."`
	Shares     string   `placeholder:"DIR" help:"Folder for the shares of people, a file each; without it they are shown on the terminal, one by one."`
	Secret     []string `sep:"none" placeholder:"NAME=SOURCE" help:"Where the secret of a recipient is: file:PATH, env:NAME, fd:NUMBER or credential:NAME. May be repeated; without it the terminal is asked."`
}

// sealFile names a seal.
type sealFile struct {
	Config string `placeholder:"FILE" xor:"where" required:"" help:"Config file of the server; this or --seal."`
	Seal   string `placeholder:"FILE" xor:"where" required:"" help:"The seal; this or --config."`
}

// read reads the seal, and the secrets that the config has for it.
func (f sealFile) read() (*sealfile.Seal, map[string]string, error) {
	if f.Config == "" {
		seal, err := sealfile.Read(f.Seal)
		return seal, nil, err
	}
	c, err := config.Load(f.Config)
	if err != nil {
		return nil, nil, err
	}
	seal, err := server.ReadSeal(c)
	return seal, c.Seal.Secrets, err
}

// open opens the seal by the secrets of flags, then by those of the config, then by
// what the terminal is asked for.
func (f sealFile) open(ctx context.Context, flags []string) (*sealfile.Opened, error) {
	seal, configured, err := f.read()
	if err != nil {
		return nil, err
	}
	secrets, err := readSecrets(flags)
	if err != nil {
		return nil, err
	}
	for name, source := range configured {
		if _, given := secrets[name]; !given {
			secrets[name] = source
		}
	}
	return server.AskSeal(ctx, seal, secrets, warnings())
}

func readSecrets(flags []string) (map[string]string, error) {
	secrets := map[string]string{}
	for _, flag := range flags {
		name, source, ok := strings.Cut(flag, "=")
		if _, err := unseal.From(source); !ok || name == "" || err != nil {
			// Not quoted: it may be the secret itself.
			return nil, errors.New("--secret: must be NAME=SOURCE, where SOURCE is " + unseal.Sources)
		}
		secrets[name] = source
	}
	return secrets, nil
}

// specs are the recipients that the flags name.
func (r sealRecipients) specs(ctx context.Context) (specs []sealfile.Spec, err error) {
	secrets, err := readSecrets(r.Secret)
	if err != nil {
		return nil, err
	}
	for _, flag := range r.Age {
		name, recipient, _ := strings.Cut(flag, "=")
		specs = append(specs, sealfile.Spec{Name: name, Kind: sealfile.KindAge, Recipient: recipient})
	}
	for _, flag := range r.People {
		spec, err := readPeople(flag)
		if err != nil {
			return nil, err
		}
		specs = append(specs, spec)
	}
	for _, itself := range []struct {
		kind  string
		flags []string
	}{{sealfile.KindTPM, r.TPM}, {sealfile.KindKMS, r.KMS}} {
		for _, flag := range itself.flags {
			name, place, _ := strings.Cut(flag, "=")
			specs = append(specs, sealfile.Spec{Name: name, Kind: itself.kind, Place: place})
		}
	}
	// Last: what was mistyped elsewhere is said before anything is asked for.
	for _, outside := range []struct {
		kind  string
		flags []string
	}{{sealfile.KindPKCS11, r.PKCS11}, {sealfile.KindTransit, r.Transit}} {
		for _, flag := range outside.flags {
			name, place, _ := strings.Cut(flag, "=")
			given, err := newSecret(name, secrets, func() ([]byte, error) {
				return server.ReadSecret(ctx, server.SecretName(outside.kind)+" of "+name)
			})
			if err != nil {
				return nil, err
			}
			specs = append(specs, sealfile.Spec{Name: name, Kind: outside.kind, Place: place, Secret: given})
		}
	}
	for _, name := range r.Passphrase {
		passphrase, err := newSecret(name, secrets, func() ([]byte, error) { return server.ChoosePassphrase(ctx, name) })
		if err != nil {
			return nil, err
		}
		specs = append(specs, sealfile.Spec{Name: name, Kind: sealfile.KindPassphrase, Secret: passphrase})
	}
	return specs, nil
}

func readPeople(flag string) (sealfile.Spec, error) {
	name, numbers, _ := strings.Cut(flag, "=")
	threshold, people, ok := strings.Cut(numbers, "/")
	k, problem := strconv.Atoi(threshold)
	n, other := strconv.Atoi(people)
	if !ok || errors.Join(problem, other) != nil {
		return sealfile.Spec{}, fmt.Errorf("--people: %q must be NAME=K/N, as in board=3/5", flag)
	}
	return sealfile.Spec{Name: name, Kind: sealfile.KindPeople, Threshold: k, People: n}, nil
}

// newSecret is that of a recipient which is to be; without a source, ask has it.
func newSecret(name string, secrets map[string]string, ask func() ([]byte, error)) ([]byte, error) {
	source, given := secrets[name]
	if !given {
		return ask()
	}
	from, err := unseal.From(source)
	if err != nil {
		return nil, err
	}
	text, err := from.Text()
	if err != nil {
		return nil, fmt.Errorf("the secret of %q from %s: %w", name, from.Name(), err)
	}
	return text, nil
}

// hand gives the shares of people out.
func (r sealRecipients) hand(ctx context.Context) (sealfile.Hand, error) {
	if len(r.People) == 0 {
		return nil, nil
	}
	if r.Shares != "" {
		return r.writeShares, nil
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return nil, errors.New("--people: name a folder for the shares with --shares, or run this on a terminal, which shows them one by one")
	}
	return func(shares []sealfile.Share) error { return showShares(ctx, shares) }, nil
}

// writeShares writes a file for each share, or none.
func (r sealRecipients) writeShares(shares []sealfile.Share) (err error) {
	var written []string
	defer func() {
		for _, path := range written {
			if err != nil {
				err = errors.Join(err, os.Remove(path))
			}
		}
	}()
	for _, share := range shares {
		path := filepath.Join(r.Shares, fmt.Sprintf("%s-%d.txt", share.Recipient, share.Index))
		err := secretfile.Create(path, share.Text)
		clear(share.Text)
		if errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("%s exists already; nothing was made", path)
		}
		if err != nil {
			return fmt.Errorf("--shares: %w", err)
		}
		written = append(written, path)
	}
	return nil
}

// showShares shows a share at a time, and nothing of it afterwards.
func showShares(ctx context.Context, shares []sealfile.Share) error {
	for i, share := range shares {
		fmt.Fprintf(os.Stderr, "Share %d of %s. Only the person who is to have it should see this.\n\n%s\n", share.Index, share.Recipient, share.Text)
		clear(share.Text)
		fmt.Fprintf(os.Stderr, "When it is written down, press Enter: share %d of %d follows.", min(i+2, len(shares)), len(shares))
		if err := server.WaitForEnter(ctx); err != nil {
			return err
		}
		fmt.Fprint(os.Stderr, "\033[H\033[2J\033[3J") // also what the terminal would scroll back to
	}
	return nil
}

type sealInitCommand struct {
	Seal string `required:"" placeholder:"FILE" help:"The file to make. It is never overwritten."`
	sealRecipients
	From string `placeholder:"SOURCE" help:"Where the master key is that there is: file:PATH, env:NAME, fd:NUMBER or credential:NAME. Default: a new one is made."`
}

// Run makes the seal.
func (cmd sealInitCommand) Run(ctx context.Context) error {
	var from vault.Unsealer
	if cmd.From != "" {
		source, err := unseal.From(cmd.From)
		if err != nil {
			return fmt.Errorf("--from: %w", err)
		}
		from = source
	}
	hand, err := cmd.hand(ctx)
	if err != nil {
		return err
	}
	specs, err := cmd.specs(ctx)
	if err != nil {
		return err
	}
	if err := sealfile.Create(cmd.Seal, from, specs, hand); err != nil {
		return err
	}
	return printSeal(cmd.Seal)
}

func printSeal(path string) error {
	seal, err := sealfile.Read(path)
	if err != nil {
		return err
	}
	return printJSON(seal.Status())
}

type sealAddCommand struct {
	sealFile
	sealRecipients
}

// Run adds recipients.
func (cmd sealAddCommand) Run(ctx context.Context) error {
	hand, err := cmd.hand(ctx)
	if err != nil {
		return err
	}
	opened, err := cmd.open(ctx, cmd.Secret)
	if err != nil {
		return err
	}
	defer opened.Close()
	specs, err := cmd.specs(ctx)
	if err != nil {
		return err
	}
	if err := opened.Add(specs, hand); err != nil {
		return err
	}
	if err := printSeal(opened.Path()); err != nil {
		return err
	}
	_, err = cmd.tell(ctx)
	return err
}

type sealRemoveCommand struct {
	sealFile
	Names  []string `arg:"" name:"name" help:"Recipients to take away."`
	Secret []string `sep:"none" placeholder:"NAME=SOURCE" help:"Where the secret of a recipient that stays is: file:PATH, env:NAME, fd:NUMBER or credential:NAME."`
}

// Run takes recipients away.
func (cmd sealRemoveCommand) Run(ctx context.Context) error {
	opened, err := cmd.open(ctx, cmd.Secret)
	if err != nil {
		return err
	}
	defer opened.Close()
	if err := opened.Remove(cmd.Names); err != nil {
		return err
	}
	if err := printSeal(opened.Path()); err != nil {
		return err
	}
	runs, err := cmd.tell(ctx)
	if err != nil {
		return err
	}
	next := "Copy the seal to every server, restart each"
	if runs {
		next = "The server here has taken it, and others that run take it within seconds (latchkey status shows generations); copy the seal to those that do not run"
	}
	fmt.Fprintln(os.Stderr, "latchkey: there is a new master key. "+next+", then run latchkey vault rotate: "+
		"until then those who were taken away may still open what is stored. What they have kept of old backups cannot be taken back.")
	return nil
}

// tell has the server take what the seal has become, if one runs.
func (f sealFile) tell(ctx context.Context) (runs bool, err error) {
	if f.Config == "" {
		return false, nil
	}
	c, err := config.Load(f.Config)
	if err != nil || c.Operator.Socket == "" {
		return false, err
	}
	_, err = server.AskTakeSeal(ctx, c.Operator.Socket)
	if errors.Is(err, server.ErrNoOperator) {
		return false, nil
	}
	if err != nil {
		return true, fmt.Errorf("the seal was changed, and the server that runs goes on with the one before: %w", err)
	}
	return true, nil
}

type sealStatusCommand struct {
	sealFile
	JSON bool `name:"json" help:"Print the result as JSON, for programs."`
}

// Run shows a seal.
func (cmd sealStatusCommand) Run() error {
	seal, _, err := cmd.read()
	if err != nil {
		return err
	}
	status := seal.Status()
	if cmd.JSON {
		return printJSON(status)
	}
	fmt.Printf("%s: generation %d, fingerprint %s\n", status.File, status.Generation, status.Fingerprint)
	for _, r := range status.Recipients {
		if r.Kind == sealfile.KindPeople {
			fmt.Printf("  %s: any %d of %d people\n", r.Name, r.Threshold, r.Shares)
		} else {
			fmt.Printf("  %s: %s\n", r.Name, r.Kind)
		}
	}
	return nil
}

type sealTestCommand struct {
	Config string   `required:"" placeholder:"FILE" help:"Config file of the server."`
	Names  []string `arg:"" optional:"" name:"name" help:"Recipients to try. Default: all that have a secret in the config."`
	JSON   bool     `name:"json" help:"Print the result as JSON, for programs."`
}

// Run tries recipients, and changes nothing.
func (cmd sealTestCommand) Run() error {
	c, err := config.Load(cmd.Config)
	if err != nil {
		return err
	}
	seal, err := server.ReadSeal(c)
	if err != nil {
		return err
	}
	names := cmd.Names
	if len(names) == 0 {
		for _, r := range seal.Status().Recipients {
			names = append(names, r.Name)
		}
	}
	var result struct {
		Recipients []server.SealAttempt `json:"recipients"`
	}
	failed := false
	for _, name := range names {
		opened, attempt := server.TrySeal(seal, name, c.Seal.Secrets)
		if opened != nil {
			opened.Close()
		}
		failed = failed || attempt.Tried && !attempt.OK
		result.Recipients = append(result.Recipients, attempt)
		if cmd.JSON {
			continue
		}
		if attempt.OK {
			fmt.Printf("%s: opens the seal\n", name)
		} else {
			fmt.Printf("%s: %s\n", name, attempt.Reason)
		}
	}
	if cmd.JSON {
		if err := printJSON(result); err != nil {
			return err
		}
	}
	if failed {
		return exitStatus(1)
	}
	return nil
}

type unsealCommand struct {
	Config string `required:"" placeholder:"FILE" help:"Config file of the server."`
}

// Run hands one share in: it is asked for on the terminal, or one line of standard
// input.
func (cmd unsealCommand) Run(ctx context.Context) error {
	c, err := config.Load(cmd.Config)
	if err != nil {
		return err
	}
	if c.Operator.Socket == "" {
		return errors.New("masterKey names no seal, and operator.socket is not set: there is nothing to hand a share to")
	}
	share, err := server.ReadSecret(ctx, "Share")
	if err != nil {
		return err
	}
	defer clear(share)
	progress, err := server.AskUnseal(ctx, c.Operator.Socket, share)
	if err != nil {
		return err
	}
	if err := printJSON(progress); err != nil {
		return err
	}
	if progress.Sealed {
		return exitStatus(3)
	}
	return nil
}
