package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/client"
	"latchkey/internal/devseed"
	"latchkey/internal/domain"
	"latchkey/internal/server"
	"latchkey/internal/store"
)

const (
	authProxyName = "auth-proxy.json"
	framesName    = "frames.json"
)

// authProxyFile is DATA/auth-proxy.json: what a page needs to know.
type authProxyFile struct {
	AuthProxyURL      string `json:"authProxyUrl"`
	AuthProxyConfigID string `json:"authProxyConfigId"`
}

// framesFile is DATA/frames.json: the addresses of the frames.
type framesFile struct {
	Auth          string `json:"auth"`
	Export        string `json:"export"`
	Import        string `json:"import"`
	ExportAndSign string `json:"exportAndSign"`
}

// writePages enables the auth proxy of the development organization, unless it has
// one, also one that was disabled, and writes what pages need of it and of frames.
func (f *devFile) writePages(ctx context.Context, srv *server.Server, s *store.Store, dir string, seed devseed.Seed) error {
	proxy, err := f.authProxy(ctx, s)
	if err != nil {
		return err
	}
	if proxy == nil {
		reply, err := f.enableAuthProxy(ctx, srv, seed)
		if err != nil {
			return err
		}
		if proxy, err = f.authProxy(ctx, s); err != nil {
			return err
		}
		if proxy == nil { // the organization has other users by now, who decide
			fmt.Fprintf(os.Stderr, "latchkey: the auth proxy is not enabled: %s\n", reply)
			return nil
		}
	}
	frame := func(name string) string { return srv.FramesURL() + "/" + proxy.ConfigID + "/" + name }
	err = writeJSON(filepath.Join(dir, framesName), framesFile{frame("auth"), frame("export"), frame("import"), frame("export-and-sign")})
	if err != nil {
		return err
	}
	return writeJSON(filepath.Join(dir, authProxyName), authProxyFile{srv.AuthProxyURL(), proxy.ConfigID})
}

func writeJSON(name string, value any) error {
	text, err := json.Marshal(value, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o600)
}

func (f *devFile) authProxy(ctx context.Context, s *store.Store) (proxy *domain.AuthProxy, err error) {
	err = s.View(ctx, f.OrganizationID, func(tx *store.Tx) error {
		org, err := tx.Organization()
		if err == nil {
			proxy = org.AuthProxy
		}
		return err
	})
	return proxy, err
}

// enableAuthProxy submits the activity as the root user, whose key the file has.
func (f *devFile) enableAuthProxy(ctx context.Context, srv *server.Server, seed devseed.Seed) (reply []byte, err error) {
	key, err := client.ParsePrivateKey(client.P256, f.APIPrivateKey)
	if err != nil {
		return nil, err
	}
	body := fmt.Appendf(nil, `{"type":"ACTIVITY_TYPE_ENABLE_AUTH_PROXY","timestampMs":%q,"organizationId":%q,"parameters":{}}`,
		strconv.FormatInt(time.Now().UnixMilli(), 10), f.OrganizationID)
	name, value, err := key.Stamper().Stamp(body)
	if err != nil {
		return nil, err
	}
	var newID func() string
	if seed.Given() {
		newID = seed.IDs("auth proxy")
	}
	return srv.Submit(ctx, "enable_auth_proxy", http.Header{name: {value}}, body, newID)
}
