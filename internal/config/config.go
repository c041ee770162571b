// Package config reads the file of `latchkey serve --config FILE`.
//
// The file is YAML and is checked strictly: a setting that is misspelt, given
// twice or of the wrong kind is an error, never ignored, because a server that
// silently runs on a default is worse than one that does not start. All
// mistakes are reported at once, each with its place in the file.
package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Config is everything the file can set. Paths are already resolved: a relative
// one is taken from the folder of the config file. Start from Default, not from
// the zero value, when building one in code.
type Config struct {
	// Listen is the host:port of the HTTP interface.
	Listen string
	// Store is sqlite:PATH or postgres://… and may hold a password: do not log it.
	Store string
	// MasterKey says where the key comes from under which all keys are sealed:
	// file:PATH, passphrase:PATH, env:NAME or fd:NUMBER.
	MasterKey string
	// PreviousMasterKey is the same for the key before, while it is replaced;
	// empty for none.
	PreviousMasterKey string
	TLS               TLS
	Log               Log
	Timeouts          Timeouts
	Limits            Limits
	Metrics           Metrics
}

// TLS names PEM files. Both are set, or neither: then the listener is plain HTTP.
type TLS struct {
	Certificate string
	Key         string
}

// Enabled reports whether the main listener speaks TLS.
func (t TLS) Enabled() bool { return t.Certificate != "" }

// Log says how the server logs: Format is json or text, Level is debug, info,
// warn or error (slog.Level.UnmarshalText reads it).
type Log struct {
	Format string
	Level  string
}

// Timeouts bound the phases of a connection; all are positive.
type Timeouts struct {
	Header  time.Duration // until the request's header is read
	Body    time.Duration // until its body is read
	Request time.Duration // until it is answered
	Idle    time.Duration // a kept-alive connection without a request
	Drain   time.Duration // for open requests at shutdown
}

// Limits bound one request (Body and Header, in bytes, always positive) and the
// resources of one organization or user, where 0 means unlimited.
type Limits struct {
	Body   int64
	Header int64

	Users            int // per organization
	Tags             int // per organization
	LongLivedAPIKeys int // per user, keys that do not expire
	ExpiringAPIKeys  int // per user, keys that do
	Wallets          int // per organization
	PrivateKeys      int // per organization
}

// Metrics places GET /metrics: on its own host:port, or on the main listener
// when Listen is empty.
type Metrics struct {
	Listen string
}

// Default is what an empty file means, but for relative paths, which Load and
// Parse take from the folder of the file.
func Default() Config {
	return Config{
		Listen: "127.0.0.1:8080",
		Store:  "sqlite:latchkey.db",

		MasterKey: "file:master.key",
		Log:       Log{Format: "json", Level: "info"},
		Timeouts: Timeouts{
			Header:  5 * time.Second,
			Body:    15 * time.Second,
			Request: 30 * time.Second,
			Idle:    2 * time.Minute,
			Drain:   20 * time.Second,
		},
		Limits: Limits{
			Body:             1 << 20,
			Header:           16 << 10,
			Users:            100,
			Tags:             100,
			LongLivedAPIKeys: 10,
			ExpiringAPIKeys:  10,
			Wallets:          100,
			PrivateKeys:      1000,
		},
	}
}

// maxFile bounds what Load reads, so that a wrong path (a device, a database)
// is a message and not an exhausted memory.
const maxFile = 1 << 20

// Load reads and checks the file at path.
func Load(path string) (*Config, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	if len(data) > maxFile {
		return nil, errors.New("config: " + path + " is larger than 1 MiB: not a config file")
	}
	return Parse(path, data)
}
