package client_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"

	"latchkey/client"
	"latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
)

// exampleServer is a real server for an Example. Its organization has one user.
type exampleServer struct {
	URL             string
	OrganizationID  string
	UserID          string
	KeyFile         string // of the user, as latchkey keygen writes it
	SignerPublicKey string
	Close           func()
}

// startServer panics on errors: an Example has no test to fail.
func startServer() *exampleServer {
	s, stop := servertest.StartExample()
	dir := must(os.MkdirTemp("", "latchkey-example-"))
	file := filepath.Join(dir, "key")
	if err := os.WriteFile(file, []byte(s.Root.Key.KeyFile()+"\n"), 0o600); err != nil {
		panic(err)
	}
	return &exampleServer{
		URL: s.URL, OrganizationID: s.Root.OrganizationID, UserID: s.Root.UserID,
		KeyFile: file, SignerPublicKey: s.Keys.ServerKeys.SignerPublicKey(),
		Close: func() {
			stop()
			_ = os.RemoveAll(dir)
		},
	}
}

// client is the client of the server's user.
func (s *exampleServer) client() *client.Client {
	key := must(client.ParseKeyFile(string(must(os.ReadFile(s.KeyFile)))))
	return s.clientOf(key)
}

func (s *exampleServer) clientOf(key client.PrivateKey) *client.Client {
	return &client.Client{
		BaseURL: s.URL, OrganizationID: s.OrganizationID, Stamper: key.Stamper(), HTTP: &http.Client{Timeout: testkit.Patience},
	}
}

// secondApprover creates a user without whom nothing is done from now on, and
// returns the client of that user.
func (s *exampleServer) secondApprover() *client.Client {
	ctx, root := context.Background(), s.client()
	key := must(client.GenerateKey(client.P256))
	users, _, err := root.CreateUsers(ctx, client.CreateUsersParameters{Users: []client.UserParameters{{
		UserName: "Second approver", APIKeys: []client.APIKeyParameters{key.Registration("Key")},
	}}})
	if err != nil {
		panic(err)
	}
	quorum := client.UpdateRootQuorumParameters{Threshold: 2, UserIDs: append(users.UserIDs, s.UserID)}
	if _, _, err := root.UpdateRootQuorum(ctx, quorum); err != nil {
		panic(err)
	}
	return s.clientOf(key)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
