// Package config reads the file of `latchkey serve --config FILE`.
//
// The file is YAML and is checked strictly: a setting that is misspelt, given
// twice or of the wrong kind is an error, never ignored, because a server that
// silently runs on a default is worse than one that does not start. All
// problems are reported at once, each with its place in the file.
package config

import (
	"net"
	"net/netip"
	"reflect"
	"strings"
	"time"

	"latchkey/internal/devseed"
)

// Config is everything the file can set, and Dev, which it cannot. Paths are
// already resolved: a relative one is taken from the folder of the config file.
// Start from [Default], not from the zero value, when building one in code.
type Config struct {
	// Listen is the host:port of the HTTP interface.
	Listen string
	// Store is sqlite:PATH or postgres://… and may hold a password: do not log it. [Parse]
	// leaves env:NAME and file:PATH, where [Load] finds it.
	Store string
	// Durability is where an acknowledged commit must be: local or replica;
	// empty: what the database has.
	Durability string
	// MasterKey says where the key comes from under which all keys are sealed:
	// file:PATH, passphrase:PATH, seal:PATH, env:NAME, fd:NUMBER or credential:NAME.
	MasterKey string
	// PreviousMasterKey is the same for the key before, while it is replaced;
	// empty for none.
	PreviousMasterKey string
	Seal              Seal
	Operator          Operator
	// AllowSwap lets the server run although memory with keys could not be locked.
	AllowSwap bool
	TLS       TLS
	// TrustedProxies are the peers whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix
	Log            Log
	Timeouts       Timeouts
	Limits         Limits
	Metrics        Metrics
	Console        Console
	AuthProxy      AuthProxy
	Frames         Frames
	Mail           Mail
	SMS            SMS
	// Templates is a folder with the operator's own texts of messages; empty:
	// the built-in ones.
	Templates string
	OIDC      OIDC
	OAuth2    OAuth2
	Webhooks  Webhooks
	Traces    Traces
	Dev       Dev
}

// Seal is how the seal of the master key is opened, if MasterKey names one.
type Seal struct {
	// Secrets says where the secrets of recipients are, by their names: file:PATH,
	// env:NAME, fd:NUMBER or credential:NAME.
	Secrets map[string]string
	// HTTP lets people hand in their shares at /latchkey/v1/unseal.
	HTTP bool
}

// Operator is for commands that speak to a server which runs.
type Operator struct {
	// Socket is a Unix socket that only the owner of the server can use; empty:
	// there is none.
	Socket string
}

// TLS names PEM files. Both are set, or neither: then the listener is plain HTTP.
type TLS struct {
	Certificate string
	Key         string
}

// Enabled reports whether the main listener speaks TLS.
func (t TLS) Enabled() bool { return t.Certificate != "" }

// Log says how the server logs: Format is json or text, Level is debug, info,
// warn or error ([log/slog.Level.UnmarshalText] reads it).
type Log struct {
	Format string
	Level  string
	// RequestIDs gives each request an id, in its reply and in the log.
	RequestIDs bool
	// State is the file in which the server remembers, outside of the database,
	// which database is its own; empty: beside the master key (see package
	// server).
	State string
	// Origin is the name of the transparency log; empty: it is called after the
	// installation.
	Origin string
	// Witnesses are asked to cosign its checkpoints; one is published when Quorum of
	// them have.
	Witnesses []Witness
	Quorum    int
}

// Witness is where a witness of the log answers, and its verifier keys, with white
// space between them.
type Witness struct {
	URL, Key string
}

// Timeouts bound the phases of a connection; all but LameDuck are positive.
type Timeouts struct {
	Header  time.Duration // until the request's header is read
	Body    time.Duration // until its body is read
	Request time.Duration // until it is answered
	Idle    time.Duration // a kept-alive connection without a request
	Drain   time.Duration // for open requests at shutdown
	// LameDuck is how long the server still takes requests after it was told to
	// stop, while it says that it is not ready; 0: not at all.
	LameDuck time.Duration
}

// Limits bound one request (Body and Header, in bytes, always positive) and the
// resources of one organization or user, where 0 means unlimited.
type Limits struct {
	Body   int64
	Header int64

	Users            int // per organization
	Tags             int // per parent organization
	ChildTags        int // per sub-organization
	LongLivedAPIKeys int // per user, keys that do not expire
	ExpiringAPIKeys  int // per user, keys that do
	Wallets          int // per organization
	PrivateKeys      int // per organization
	Secrets          int // per organization
	Policies         int // per organization
	VelocityControls int // per organization
	Authenticators   int // per user
	OAuthProviders   int // per user
	WebhookEndpoints int // per organization

	Rate Rate
}

// Rate bounds requests a second; 0 means unlimited.
type Rate struct {
	Address int // refused ones from one address, this machine's own excepted
	User    int // all of one user
}

// Metrics places GET /metrics: on its own host:port, or on the main listener
// when Listen is empty.
type Metrics struct {
	Listen string
}

// Console is the pages for people: on the main listener, or on one of its own,
// which serves the interface too.
type Console struct {
	Enabled bool
	Listen  string // empty: the main listener
	// RelyingParty is the domain of the passkeys; empty: the host of the page.
	RelyingParty string
	// Origin is where browsers see the pages, such as https://keys.example.com. Its
	// passkeys are accepted whatever origins an organization lists. Empty: only a
	// browser on this machine is known.
	Origin string
	Idle   time.Duration // after which an unused page locks
}

// AuthProxy is how pages without a back end sign users up and log them in: on
// the main listener, or on one of its own, which serves nothing else.
type AuthProxy struct {
	Listen string // empty: the main listener
	Limits AuthProxyLimits
}

// AuthProxyLimits bound what one client may do in an hour; 0 means unlimited.
type AuthProxyLimits struct {
	SignUps int
	Codes   int // that are sent
	Logins  int // and tries at codes
	LookUps int // of accounts
}

// Frames are the pages that applications have in frames of their own pages. They
// need an origin of their own, and so a listener.
type Frames struct {
	Listen string // empty: there are none
}

// Mail is how mail is sent: through one SMTP server. Without a Host there is no
// mail. What it holds is checked further when the server starts.
type Mail struct {
	Host     string
	Port     int    // 0: the usual one of the TLS mode
	TLS      string // starttls, tls or plain
	CA       string // PEM file of the authorities to trust; empty: the system's
	Username string
	Password Secret
	From     string // the address that mail comes from
	FromName string
	// AllowFrom lists further addresses, and domains, that a request may name
	// as its sender.
	AllowFrom []string
	Hello     string        // the name to greet the mail server by; empty: this machine's address
	Timeout   time.Duration // for one step of the conversation
}

// SMS is how SMS are sent: by one POST each. Without a URL there are none.
type SMS struct {
	URL         Secret // some gateways want a token in it
	Headers     map[string]Secret
	ContentType string
	Body        string // template of the request's body; empty: the built-in one
	CA          string // PEM file of the authorities to trust; empty: the system's
	Timeout     time.Duration
}

// OIDC is how tokens of OpenID Connect issuers are verified.
type OIDC struct {
	Timeout time.Duration // for one verification, with what it fetches
	MaxAge  time.Duration // after which an issuer's keys are fetched anew
}

// OAuth2 is how users log in at providers of OAuth 2.0.
type OAuth2 struct {
	// Issuer is the address of this server for those who verify its tokens, such as
	// https://keys.example.com; empty: it issues none.
	Issuer    string
	Providers OAuth2Providers
	// Allow are networks in which a provider may be although they are not public,
	// also by plain http.
	Allow   []netip.Prefix
	CA      string        // PEM file of the authorities to trust; empty: the system's
	Timeout time.Duration // for all that is asked about one code
}

// OAuth2Providers is where the providers answer, one field each.
type OAuth2Providers struct{ X, Discord OAuth2Provider }

// OAuth2Provider is where a provider answers.
type OAuth2Provider struct {
	TokenURL    string
	UserInfoURL string
	// SubjectField is where the user's id is in the user information: names of
	// members, with dots between them.
	SubjectField string
}

// Webhooks is how events are delivered to the endpoints of organizations.
type Webhooks struct {
	// Allow are networks that are delivered to although they are not public, also by
	// plain http.
	Allow   []netip.Prefix
	CA      string        // PEM file of the authorities to trust; empty: the system's
	Timeout time.Duration // for one delivery
	// SigningKey is the number of the key that signs, from 1 on. A greater one is a
	// new key; those before stay published.
	SigningKey int
}

// Traces is where spans of requests are sent, in the form of OpenTelemetry.
type Traces struct {
	Endpoint string            // where they are posted; empty: there are none
	Headers  map[string]Secret // sent with them
	CA       string            // PEM file of the authorities to trust; empty: the system's
	Sample   float64           // the share of the requests that have them
}

// Dev is what `latchkey dev` sets. No file can: each of them would be a hole in
// a server that others can reach.
type Dev struct {
	// Seed is what the server's own keys and ids follow from, if it is given.
	Seed devseed.Seed `json:"-"`
	// Folder holds the key of the development user, which the console may fetch.
	Folder string
	// FramesBeside has frames at the next free port after the interface's.
	FramesBeside bool
	// Outbox is a folder to which messages are written instead of being sent.
	Outbox string
	// LoopbackIssuers accepts tokens of issuers on this machine, also by plain
	// http.
	LoopbackIssuers bool
	// LoopbackOAuth2 lets providers of OAuth 2.0 be on this machine, also by plain
	// http, and the server be an issuer under the address that it listens on.
	LoopbackOAuth2 bool
	// LoopbackWebhooks delivers to endpoints on this machine, also by plain http.
	LoopbackWebhooks bool
	// Resolver resolves the names of webhook endpoints; nil: the system's. Tests set
	// it.
	Resolver *net.Resolver `json:"-"`
}

// Default is what an empty file means, but for relative paths, which [Load] and
// [Parse] take from the folder of the file.
func Default() Config {
	return Config{
		Listen: "127.0.0.1:8080",
		Store:  "sqlite:latchkey.db",

		MasterKey: "file:master.key",
		Log:       Log{Format: "json", Level: "info"},
		Timeouts: Timeouts{
			Header:   5 * time.Second,
			Body:     15 * time.Second,
			Request:  30 * time.Second,
			Idle:     2 * time.Minute,
			Drain:    20 * time.Second,
			LameDuck: 5 * time.Second,
		},
		Limits: Limits{
			Body:             1 << 20,
			Header:           16 << 10,
			Users:            100,
			Tags:             100,
			ChildTags:        10,
			LongLivedAPIKeys: 10,
			ExpiringAPIKeys:  10,
			Wallets:          100,
			PrivateKeys:      1000,
			Secrets:          1000,
			Policies:         100,
			VelocityControls: 100,
			Authenticators:   10,
			OAuthProviders:   10,
			WebhookEndpoints: 20,
			Rate:             Rate{Address: 100},
		},
		Console:   Console{Enabled: true, Idle: 15 * time.Minute},
		AuthProxy: AuthProxy{Limits: AuthProxyLimits{SignUps: 10, Codes: 30, Logins: 120, LookUps: 600}},

		Mail: Mail{TLS: "starttls", Timeout: 30 * time.Second},
		SMS:  SMS{ContentType: "application/json", Timeout: 30 * time.Second},
		OIDC: OIDC{Timeout: 5 * time.Second, MaxAge: time.Hour},

		OAuth2: OAuth2{Timeout: 10 * time.Second, Providers: OAuth2Providers{
			X: OAuth2Provider{
				TokenURL: "https://api.x.com/2/oauth2/token", UserInfoURL: "https://api.x.com/2/users/me", SubjectField: "data.id",
			},
			Discord: OAuth2Provider{
				TokenURL: "https://discord.com/api/oauth2/token", UserInfoURL: "https://discord.com/api/users/@me", SubjectField: "id",
			},
		}},

		Webhooks: Webhooks{Timeout: 10 * time.Second, SigningKey: 1},
		Traces:   Traces{Sample: 1},
	}
}

// Differences names the settings and sections, as a file has them, in which two
// configs differ.
func Differences(a, b *Config) (names []string) {
	va, vb := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for i := range va.NumField() {
		if reflect.DeepEqual(va.Field(i).Interface(), vb.Field(i).Interface()) {
			continue
		}
		name := va.Type().Field(i).Name
		if name == "OAuth2" || name == strings.ToUpper(name) { // TLS, SMS, OIDC
			names = append(names, strings.ToLower(name))
		} else {
			names = append(names, strings.ToLower(name[:1])+name[1:])
		}
	}
	return names
}
