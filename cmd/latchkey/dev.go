package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/client"
	"latchkey/internal/devseed"
	"latchkey/internal/domain"
	"latchkey/internal/ids"
	"latchkey/internal/request/engine"
	"latchkey/internal/secretfile"
	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/translog"
)

type devCommand struct {
	Listen string `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address to listen on; port 0 picks a free one. Default: ${default}."`
	Data   string `default:"./latchkey-data" placeholder:"DIR" help:"Folder for everything that the server keeps. Default: ${default}."`
	Store  string `placeholder:"URL" help:"Store: sqlite:PATH or postgres://…. Default: SQLite inside the data folder."`

	Seed     string `placeholder:"TEXT" help:"Make the organization, its ids and the keys in dev.json from this text: a new folder gets the same ones each time. Who knows the text knows the keys, so it is for loopback only."`
	UntilEOF bool   `name:"until-eof" help:"Stop also when standard input ends: the server then ends with the program that started it, however that ends."`
	Remove   bool   `help:"Remove the data folder at the end. It must not exist yet."`

	Witness []string `sep:"none" placeholder:"URL=VKEY" help:"Witness that cosigns checkpoints of the log: its address and a verifier key of it, or @FILE with some, one a line. May be repeated."`

	Oauth2Provider []string `name:"oauth2-provider" sep:"none" placeholder:"NAME=TOKEN-URL,USER-INFO-URL[,SUBJECT-FIELD]" help:"Where a provider of OAuth 2.0 (x or discord) answers, in place of the public one; it may be on this machine, by http. May be repeated."`
}

// devFile is DATA/dev.json. Scripts rely on its members.
type devFile struct {
	BaseURL          string `json:"baseUrl"`
	OrganizationID   string `json:"organizationId"`
	UserID           string `json:"userId"`
	APIPublicKey     string `json:"apiPublicKey"`
	APIPrivateKey    string `json:"apiPrivateKey"`
	SignerPublicKey  string `json:"signerPublicKey"`
	SessionPublicKey string `json:"sessionPublicKey"`
}

// Run serves until a signal comes.
func (cmd devCommand) Run(ctx context.Context) (err error) {
	if cmd.UntilEOF {
		// The reader of what is printed here may be gone, too: that must not end the
		// server before it has cleaned up.
		signal.Ignore(syscall.SIGPIPE)
	}
	if cmd.Remove {
		if _, err := os.Lstat(cmd.Data); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("--remove removes the data folder at the end, but %s is there already: name one that does not exist", cmd.Data)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(cmd.Data)) }()
	}
	c := config.Default()
	c.Listen, c.Store, c.Log.Format, c.Timeouts.LameDuck = cmd.Listen, cmd.Store, "text", 0
	c.Limits.Rate = config.Rate{}
	c.Dev = config.Dev{
		Seed:   devseed.Of(cmd.Seed),
		Folder: cmd.Data, FramesBeside: true, Outbox: filepath.Join(cmd.Data, "outbox"), LoopbackIssuers: true, LoopbackOAuth2: true, LoopbackWebhooks: true,
	}
	if c.Store == "" {
		c.Store = dataStore(cmd.Data)
	}
	c.MasterKey = dataMasterKey(cmd.Data)
	witnesses, err := readWitnesses(cmd.Witness)
	if err != nil {
		return err
	}
	c.Log.Witnesses = witnesses
	if err := setProviders(&c.OAuth2.Providers, cmd.Oauth2Provider); err != nil {
		return err
	}
	// It also makes the data folder, for the messages.
	bound, err := server.Bind(&c)
	if err != nil {
		return err
	}
	defer bound.Close()
	if bound.Loopback() {
		c.AuthProxy.Limits = config.AuthProxyLimits{}
	} else if cmd.Seed != "" {
		return fmt.Errorf("--seed makes keys that everyone knows who knows the text, and %s can be reached from other machines: listen on 127.0.0.1, or leave --seed out", cmd.Listen)
	}
	log, _ := server.NewLogger(os.Stderr, c.Log)
	s, keys, err := openKeys(ctx, &c, log)
	if errors.Is(err, server.ErrNotAdopted) {
		fmt.Fprintln(os.Stderr, "latchkey: the database is of an earlier version, whose rows were not marked: it is adopted now")
		if err := adopt(ctx, &c, log); err != nil {
			return err
		}
		s, keys, err = openKeys(ctx, &c, log)
	}
	if err != nil {
		return err
	}
	defer keys.Close()
	return errors.Join(cmd.serve(ctx, &c, bound, s, keys, log), s.Close())
}

// openKeys opens the store and its keys.
func openKeys(ctx context.Context, c *config.Config, log *slog.Logger) (*store.Store, server.KeyServices, error) {
	s, err := server.OpenStore(ctx, c.Store)
	if err != nil {
		return nil, server.KeyServices{}, err
	}
	keys, err := server.OpenKeys(ctx, s, c, log)
	if err != nil {
		return nil, server.KeyServices{}, errors.Join(err, s.Close())
	}
	return s, keys, nil
}

func (cmd devCommand) serve(ctx context.Context, c *config.Config, bound *server.Bound, s *store.Store, keys server.KeyServices, log *slog.Logger) error {
	collectLater()
	srv, err := server.New(bound, s, keys, log, version)
	if err != nil {
		return err
	}
	// The file is written before the organization is created: whenever a crash
	// comes, the next start has the key of the organization that it finds. And it is written when the address is known, because scripts wait
	// for it.
	file, err := cmd.devFile(c.Dev.Seed)
	if err != nil {
		return err
	}
	file.BaseURL = srv.BaseURL()
	file.SignerPublicKey, file.SessionPublicKey = keys.ServerKeys.SignerPublicKey(), keys.ServerKeys.SessionPublicKey()
	if err := file.write(cmd.Data); err != nil {
		return err
	}
	if err := file.ensureOrganization(ctx, s, c.Dev.Seed); err != nil {
		return err
	}
	if err := file.writePages(ctx, srv, s, cmd.Data, c.Dev.Seed); err != nil {
		return err
	}
	if !srv.Loopback() {
		fmt.Fprintf(os.Stderr, "latchkey: %s can be reached from other machines: this is a server for development, "+
			"without TLS, which accepts tokens of issuers on this machine and writes codes to a folder; use serve for others\n", cmd.Listen)
	}
	address, err := consoleAddress(cmd.Data, file.BaseURL)
	if err != nil {
		return err
	}
	cmd.greet(c, file, address, srv.FramesURL())
	if cmd.UntilEOF {
		var stop func()
		ctx, stop = context.WithCancel(ctx)
		defer stop()
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin) // an error ends it, too
			stop()
		}()
	}
	return srv.Run(ctx)
}

// readWitnesses reads what --witness says.
func readWitnesses(given []string) (all []config.Witness, err error) {
	for _, text := range given {
		url, key, found := strings.Cut(text, "=")
		if !found {
			return nil, errors.New("--witness must be URL=VKEY: the address of a witness, and its verifier key or @FILE with some")
		}
		keys, err := readKeys([]string{key}, translog.ParseWitnessKeys)
		if err != nil {
			return nil, fmt.Errorf("--witness: %w", err)
		}
		all = append(all, config.Witness{URL: url, Key: strings.Join(keys.Texts(), " ")})
	}
	return all, nil
}

// setProviders reads what --oauth2-provider says.
func setProviders(to *config.OAuth2Providers, given []string) error {
	for _, text := range given {
		name, rest, _ := strings.Cut(text, "=")
		parts := strings.Split(rest, ",")
		provider := map[string]*config.OAuth2Provider{"x": &to.X, "discord": &to.Discord}[name]
		if provider == nil || len(parts) < 2 || len(parts) > 3 {
			return errors.New("--oauth2-provider must be NAME=TOKEN-URL,USER-INFO-URL[,SUBJECT-FIELD], where NAME is x or discord")
		}
		provider.TokenURL, provider.UserInfoURL = parts[0], parts[1]
		if len(parts) == 3 {
			provider.SubjectField = parts[2]
		}
	}
	return nil
}

// dataStore is the store of a data folder.
func dataStore(dir string) string { return "sqlite:" + dataFile(dir) }

func dataFile(dir string) string { return filepath.Join(dir, "latchkey.db") }

// dataMasterKey is the master key of a data folder.
func dataMasterKey(dir string) string { return "file:" + filepath.Join(dir, "master.key") }

func devPath(dir string) string { return filepath.Join(dir, "dev.json") }

// devFile reads the file of the data folder, or begins a new one.
func (cmd devCommand) devFile(seed devseed.Seed) (*devFile, error) {
	file, err := readDevFile(cmd.Data)
	isNew := errors.Is(err, fs.ErrNotExist)
	if err != nil && !isNew {
		return nil, err
	}
	if !seed.Given() && !isNew {
		return file, nil
	}
	made, err := newDevFile(seed)
	if err != nil {
		return nil, err
	}
	if isNew {
		return made, nil
	}
	if file.OrganizationID != made.OrganizationID {
		return nil, fmt.Errorf("%s has an organization that --seed %q did not make: name a new folder with --data, or leave --seed out", cmd.Data, cmd.Seed)
	}
	return file, nil
}

// ensureOrganization creates the organization unless the store holds it.
func (f *devFile) ensureOrganization(ctx context.Context, s *store.Store, seed devseed.Seed) error {
	if err := engine.Exists(ctx, s, f.OrganizationID); !errors.Is(err, store.ErrNoOrganization) {
		return err
	}
	keyID := ids.New()
	if seed.Given() {
		keyID = seed.IDs("API key")()
	}
	return engine.CreateOrganization(ctx, s, engine.NewOrganization{
		OrganizationID: f.OrganizationID, OrganizationName: "Development",
		UserID: f.UserID, UserName: "Root user",
		APIKeyID: keyID, APIKeyName: "Development key",
		PublicKey: f.APIPublicKey, KeyType: domain.CredentialP256,
	}, true, time.Now())
}

func newDevFile(seed devseed.Seed) (*devFile, error) {
	organization, user := ids.New(), ids.New()
	key, err := client.GenerateKey(client.P256)
	if seed.Given() {
		organization, user = seed.IDs("organization")(), seed.IDs("user")()
		err = seed.Private("API key", func(private [32]byte) (err error) {
			key, err = client.ParsePrivateKey(client.P256, hex.EncodeToString(private[:]))
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	private, _, _ := strings.Cut(key.KeyFile(), ":")
	return &devFile{
		OrganizationID: organization, UserID: user,
		APIPublicKey: key.PublicKey(), APIPrivateKey: private,
	}, nil
}

func readDevFile(dir string) (*devFile, error) {
	text, err := secretfile.Read(devPath(dir))
	if err != nil {
		return nil, err
	}
	file := new(devFile)
	if err := json.Unmarshal(text, file); err != nil || file.APIPrivateKey == "" || file.OrganizationID == "" {
		return nil, fmt.Errorf("%s is damaged; move it away to start with a new organization", devPath(dir))
	}
	return file, nil
}

func (f *devFile) write(dir string) error {
	text, err := json.Marshal(f, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	return secretfile.Write(devPath(dir), append(text, '\n'))
}

func (cmd devCommand) greet(c *config.Config, f *devFile, consoleAddress, framesURL string) {
	program := os.Args[0]
	fmt.Printf(`Latchkey is ready at %s

  organization  %s
  root user     %s
  API key       %s
                its private half is in %s

Console  %s
         signs a browser on this machine in as the root user, once;
         "%s console --data %s" prints another address

Try it from another terminal:

  %s request --data %s whoami
  %s request --data %s create_user_tag '{"userTagName":"admins","userIds":[]}'

Pages sign users up and log them in through the auth proxy; %s
has what they need. They show and take keys in frames of %s;
%s has their addresses.

Mail and SMS are not sent. Each becomes a file in %s, with its
code or bundle in a header X-Latchkey-Code or X-Latchkey-Bundle.

Stop with Ctrl-C. The next start finds everything as you left it.

`, f.BaseURL, f.OrganizationID, f.UserID, f.APIPublicKey, devPath(cmd.Data),
		consoleAddress, program, cmd.Data, program, cmd.Data, program, cmd.Data,
		filepath.Join(cmd.Data, authProxyName), framesURL, filepath.Join(cmd.Data, framesName), c.Dev.Outbox)
}
