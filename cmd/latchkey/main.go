// Command latchkey is the whole service in one binary, and the tools of its
// operator. There is no logic here: commands read their flags and wire the
// packages below internal together.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/go-json-experiment/json"

	"latchkey/internal/keys/vault"
)

// version is set by the build.
var version = "development"

const about = "Self-hosted wallet and access control."

type commands struct {
	Dev     devCommand     `cmd:"" help:"Run a complete server for development, with an organization and a key ready to use."`
	Serve   serveCommand   `cmd:"" help:"Run a production server from a config file."`
	Init    initCommand    `cmd:"" help:"Create a parent organization with one root user and API key."`
	Console consoleCommand `cmd:"" help:"Print an address that signs a browser in to the console of a dev server, once."`
	Keygen  keygenCommand  `cmd:"" help:"Make a key pair for API requests."`
	Call    callCommand    `cmd:"" help:"Call an operation with parameters that are checked first. Exit status: 2 not valid and not sent, 3 pending, 4 refused."`
	Request requestCommand `cmd:"" help:"Stamp a request with a key, send it, and show the reply."`
	Events  eventsCommand  `cmd:"" help:"Read what happens in an organization."`
	Policy  policyCommand  `cmd:"" help:"Check, test, deploy, back-test and explain policies."`
	Vault   vaultCommand   `cmd:"" help:"Look after the keys at rest."`
	Seal    sealCommand    `cmd:"" help:"Keep the master key in a seal that several recipients open: passphrases, age keys, groups of people."`
	Unseal  unsealCommand  `cmd:"" help:"Hand a share to a server that is sealed. Exit status 3: it was taken, and more are needed."`
	Migrate migrateCommand `cmd:"" help:"Bring a database of an earlier version to the form of this one."`

	Doctor        doctorCommand        `cmd:"" help:"Check everything about an installation that can be checked without a change. Exit status: 1 something must be mended, 2 nothing could be checked."`
	Status        statusCommand        `cmd:"" help:"Show the servers of an installation, and how far log, messages and webhooks are."`
	Organizations organizationsCommand `cmd:"" help:"List the organizations of an installation."`

	IPAllowlist ipAllowlistCommand `cmd:"" name:"ip-allowlist" help:"Help an organization whose IP allowlist lets no one in."`

	Backup  backupCommand  `cmd:"" help:"Copy the embedded database of a server, running or not."`
	Restore restoreCommand `cmd:"" help:"Put a backup in place of the embedded database."`
	Convert convertCommand `cmd:"" help:"Copy everything from one store into another: from SQLite to PostgreSQL, or back. It can be stopped and run again."`
	Log     logCommand     `cmd:"" help:"Look after the transparency log."`
	Audit   auditCommand   `cmd:"" help:"Check what a server has stored, and what its log proves."`
	Witness witnessCommand `cmd:"" help:"Run a witness: it cosigns the checkpoints of logs that only ever grow."`

	Webhooks webhooksCommand `cmd:"" help:"Look after deliveries to webhook endpoints."`

	Version versionCommand `cmd:"" help:"Print the version."`

	Completion completionCommand `cmd:"" help:"Print a script that completes commands, flags and operations in a shell."`
	Complete   completeCommand   `cmd:"" name:"__complete" hidden:"" help:"What a completion script asks."`
	Manual     manualCommand     `cmd:"" name:"__man" hidden:"" help:"Write the pages of the manual."`
}

func main() { os.Exit(run()) }

// run is main without the exit, so that tests can be the program.
func run() int {
	if err := vault.Harden(); err != nil {
		fmt.Fprintf(os.Stderr, "latchkey: the memory of this process is not fully protected: %v\n", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var c commands
	parser := kong.Must(&c, kong.Name("latchkey"),
		kong.Description(about),
		kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	command, err := parser.Parse(arguments(os.Args[1:]))
	if err != nil {
		parser.FatalIfErrorf(err)
	}
	command.BindTo(ctx, (*context.Context)(nil))
	if err := command.Run(); err != nil {
		return exitCode(err)
	}
	return 0
}

// arguments takes --version, -v and help for what they mean elsewhere.
func arguments(given []string) []string {
	if len(given) == 0 {
		return given
	}
	switch given[0] {
	case "--version", "-v":
		return []string{"version"}
	case "help":
		return append(slices.Clone(given[1:]), "--help")
	}
	return given
}

// exitCode reports why a command failed, unless it has said so itself.
func exitCode(err error) int {
	var told exitStatus
	if errors.As(err, &told) {
		return int(told)
	}
	fmt.Fprintf(os.Stderr, "latchkey: %v\n", err)
	return 1
}

// exitStatus ends the program with a status that scripts branch on, when
// everything has been said.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

type versionCommand struct{}

func (versionCommand) Run() error {
	fmt.Printf("latchkey %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}

// printJSON prints a result for scripts, on one line.
func printJSON(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	fmt.Println(string(text))
	return nil
}
