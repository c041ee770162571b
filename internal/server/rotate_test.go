package server_test

import (
	"os"
	"path/filepath"
	"testing"

	"filippo.io/age"

	"latchkey/internal/domain"
	"latchkey/internal/keys/vault/sealfile"
	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/test/servertest"
)

// newSeal makes a seal that two open: the server, and one who is to go.
func newSeal(t *testing.T) (c config.Config, seal string) {
	t.Helper()
	dir := t.TempDir()
	var specs []sealfile.Spec
	for _, name := range []string{"server", "gone"} {
		identity, err := age.GenerateX25519Identity()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(identity.String()+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		specs = append(specs, sealfile.Spec{Name: name, Kind: sealfile.KindAge, Recipient: identity.Recipient().String()})
	}
	seal = filepath.Join(dir, "seal.json")
	if err := sealfile.Create(seal, nil, specs, nil); err != nil {
		t.Fatal(err)
	}
	c = config.Default()
	c.Seal.Secrets = map[string]string{"server": "file:" + filepath.Join(dir, "server")}
	return c, seal
}

// changeSeal changes the file, as the command does.
func changeSeal(t *testing.T, c *config.Config, seal string, change func(*sealfile.Opened) error) {
	t.Helper()
	read, err := sealfile.Read(seal)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := server.OpenSeal(read, c.Seal.Secrets, quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	if err := change(opened); err != nil {
		t.Fatal(err)
	}
}

func newKey(t *testing.T, by *servertest.Caller) string {
	t.Helper()
	return by.Submit(t, "create_private_keys", m{"privateKeys": []any{m{
		"privateKeyName": "k", "curve": "CURVE_SECP256K1", "privateKeyTags": []any{}, "addressFormats": []any{},
	}}}).Get("result", "createPrivateKeysResultV2", "privateKeys", 0, "privateKeyId").Text()
}

// TestRotationAfterAnother: a rotation was stopped, then a recipient was taken away.
// The next rotation must not go on where the first one was: what that one did is under
// the master key that the seal forgets at its end.
func TestRotationAfterAnother(t *testing.T) {
	servertest.EachStore(t, func(t *testing.T, url string) {
		c, seal := newSeal(t)
		s := servertest.StartWith(t, url, c, "seal:"+seal, "")
		roots, keys := []*servertest.Caller{s.Root}, []string{newKey(t, s.Root)}
		for range 3 {
			roots = append(roots, s.CreateOrganization(t, "Another"))
			keys = append(keys, newKey(t, roots[len(roots)-1]))
		}
		master, err := s.Keys.Vault.MasterID()
		if err != nil {
			t.Fatal(err)
		}
		// As it is left by a rotation that was stopped in the middle.
		err = s.Store.Instance(t.Context(), func(tx *store.Tx) error {
			return tx.EditInstallation(s.Keys.Installation, func(i *domain.Installation) error {
				i.Rotation = &domain.Rotation{Master: master, Through: roots[2].OrganizationID, Done: 3, Secrets: 3}
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		s.Stop(t)
		changeSeal(t, &c, seal, func(o *sealfile.Opened) error { return o.Remove([]string{"gone"}) })

		c.Store, c.MasterKey = url, "seal:"+seal
		rotated := rotateOnce(t, &c)
		if rotated.Done != len(roots) {
			t.Errorf("%d of %d organizations were given new data keys", rotated.Done, len(roots))
		}
		s = servertest.Resume(t, url, c, "seal:"+seal, "")
		for i, root := range roots {
			sign(t, s.As(root), keys[i])
		}
		s.Stop(t)
	})
}

// rotateOnce does what the command does when no server runs.
func rotateOnce(t *testing.T, c *config.Config) server.Rotation {
	t.Helper()
	s, err := server.OpenConfigured(t.Context(), c, quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	keys, err := server.OpenKeys(t.Context(), s, c, quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer keys.Close()
	rotated, err := server.Rotate(t.Context(), s, &keys)
	if err != nil {
		t.Fatal(err)
	}
	return rotated
}
