package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/client"
	"latchkey/internal/console"
	"latchkey/internal/domain"
	"latchkey/internal/ids"
	"latchkey/internal/keys/curve"
	"latchkey/internal/request/engine"
	"latchkey/internal/schema"
	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/store/sqlite"
)

type initCommand struct {
	located
	Organization string        `required:"" placeholder:"NAME" help:"Name of the organization."`
	User         string        `required:"" placeholder:"NAME" help:"Name of its root user."`
	Email        string        `placeholder:"ADDRESS" help:"E-mail address of the root user."`
	PublicKey    string        `xor:"credential" required:"" placeholder:"HEX" help:"Public key of the root user's API key; 'latchkey keygen' makes one. This or --enroll."`
	Enroll       bool          `xor:"credential" required:"" help:"Print a link, good for one hour, with which the root user registers a passkey in a browser."`
	Curve        string        `default:"p256" enum:"p256,secp256k1,ed25519" help:"Curve of the key: p256, secp256k1 or ed25519. Default: ${default}."`
	Wait         time.Duration `placeholder:"DURATION" help:"How long to wait for a database of PostgreSQL that is away, such as 2m. Default: not at all."`
	Duplicate    bool          `help:"Create the organization even if one with this name exists."`
}

// initParameters is what init takes, checked by the rules of the interface.
type initParameters struct {
	Organization string `json:"organization" check:"required,label" doc:"Name of the organization."`
	User         string `json:"user" check:"required,label" doc:"Name of the root user."`
	Email        string `json:"email,omitzero" check:"email" doc:"E-mail address of the root user."`
}

// Run creates the organization and prints its ids.
func (cmd initCommand) Run(ctx context.Context) error {
	if err := cmd.check(); err != nil {
		return err
	}
	credential, err := cmd.credential()
	if err != nil {
		return err
	}
	where, err := cmd.installation()
	if err != nil {
		return err
	}
	origin, err := cmd.consoleOrigin(where)
	if err != nil {
		return err
	}
	log := warnings()
	s, err := server.OpenWaiting(ctx, where, slog.New(slog.DiscardHandler), cmd.Wait, func(why error, pause time.Duration) {
		log.Warn("the database is away; it is tried again", "in", pause.String(), "error", why)
	})
	if errors.Is(err, sqlite.ErrInUse) {
		return fmt.Errorf("%w; nothing was changed", err)
	}
	if err != nil {
		return err
	}
	f := engine.NewOrganization{
		OrganizationID: ids.New(), OrganizationName: cmd.Organization,
		UserID: ids.New(), UserName: cmd.User, UserEmail: cmd.Email,
		APIKeyID: ids.New(), APIKeyName: credential.name,
		PublicKey: credential.publicKey, KeyType: domain.APIKeyType(credential.curve), KeyLasts: credential.lasts,
	}
	err = cmd.create(ctx, s, where, f)
	if errors.Is(err, engine.ErrNameTaken) {
		err = fmt.Errorf("%w: %q; use another name, or --duplicate to have two with this one", err, cmd.Organization)
	}
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	link := ""
	if cmd.Enroll {
		link = console.EnrolmentLink(origin, f.OrganizationID, credential.private)
	}
	return printJSON(struct {
		OrganizationID string `json:"organizationId"`
		UserID         string `json:"userId"`
		APIKeyID       string `json:"apiKeyId"`
		EnrolmentLink  string `json:"enrolmentLink,omitzero"`
	}{f.OrganizationID, f.UserID, f.APIKeyID, link})
}

// rootCredential is the first credential of the root user.
type rootCredential struct {
	name      string
	curve     curve.Curve
	publicKey string
	private   string // only of an enrolment: 64 hex digits
	lasts     time.Duration
}

// credential is the key that was given; or one whose private half is in the
// enrolment link and nowhere else, which the page deletes when there is a passkey,
// and which else expires.
func (cmd initCommand) credential() (rootCredential, error) {
	if cmd.Enroll {
		key, err := client.GenerateKey(client.P256)
		if err != nil {
			return rootCredential{}, err
		}
		private, _, _ := strings.Cut(key.KeyFile(), ":")
		return rootCredential{
			name: console.EnrolmentKeyName, curve: curve.P256,
			publicKey: key.PublicKey(), private: private, lasts: time.Hour,
		}, nil
	}
	c := curve.Curve(client.Curve(cmd.Curve).CurveType())
	key, err := curve.ParsePublicKey(c, cmd.PublicKey)
	if err != nil {
		return rootCredential{}, fmt.Errorf("--public-key: %w", err)
	}
	return rootCredential{name: "Root key", curve: c, publicKey: key.String()}, nil
}

// create creates the organization. Its rows are marked, so that it needs the
// master key, which in a new installation it makes.
func (cmd initCommand) create(ctx context.Context, s *store.Store, where *config.Config, f engine.NewOrganization) error {
	keys, err := server.OpenKeys(ctx, s, where, warnings())
	if err != nil {
		return err
	}
	defer keys.Close()
	return engine.CreateOrganization(ctx, s, f, cmd.Duplicate, time.Now())
}

func (cmd initCommand) check() error {
	given, err := json.Marshal(initParameters{cmd.Organization, cmd.User, cmd.Email})
	if err != nil {
		return err
	}
	var mistakes []string
	for _, p := range schema.Of[initParameters]().Decode(given, new(initParameters)) {
		mistakes = append(mistakes, "--"+p.Path+": "+p.Description)
	}
	if len(mistakes) > 0 {
		return errors.New(strings.Join(mistakes, "; "))
	}
	return nil
}

// consoleOrigin is where the console of an installation is.
func (cmd initCommand) consoleOrigin(where *config.Config) (string, error) {
	if cmd.Data != "" {
		if file, err := readDevFile(cmd.Data); err == nil {
			return localOrigin(strings.TrimPrefix(file.BaseURL, "http://")), nil
		}
		return localOrigin(config.Default().Listen), nil
	}
	if cmd.Enroll && !where.Console.Enabled {
		return "", errors.New("--enroll needs the console, which the config turns off: set console.enabled to true, or use --public-key")
	}
	return cmp.Or(where.Console.Origin, localOrigin(cmp.Or(where.Console.Listen, where.Listen))), nil
}

// localOrigin is where a browser on this machine sees a listener.
func localOrigin(listen string) string {
	_, port, _ := net.SplitHostPort(listen) // it was checked
	return "http://localhost:" + port
}
