package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"latchkey/internal/domain"
	"latchkey/internal/keys/vault/sealfile"
	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
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

func rotateOnce(t *testing.T, c *config.Config) server.Rotation {
	t.Helper()
	rotated, err := tryRotate(t, c)
	if err != nil {
		t.Fatal(err)
	}
	return rotated
}

// tryRotate does what the command does when no server runs here.
func tryRotate(t *testing.T, c *config.Config) (server.Rotation, error) {
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
	return server.Rotate(t.Context(), s, &keys, "")
}

// takes has a server that runs take what its seal has become, when it is not busy with
// the one before.
func takes(t *testing.T, c *config.Config) (err error) {
	t.Helper()
	testkit.Until(t, "the server is not replacing data keys", func() bool {
		_, err = server.AskTakeSeal(t.Context(), c.Operator.Socket)
		return err == nil || !strings.Contains(err.Error(), "the data keys are being replaced")
	})
	return err
}

// TestRotationOfWhatComesLate: an organization that has its first key made when a
// rotation has passed it already is not left under the master key before.
func TestRotationOfWhatComesLate(t *testing.T) {
	servertest.EachStore(t, func(t *testing.T, url string) {
		c, seal := newSeal(t)
		c.Operator.Socket = filepath.Join(t.TempDir(), "operator")
		s := servertest.StartWith(t, url, c, "seal:"+seal, "")
		changeSeal(t, &c, seal, func(o *sealfile.Opened) error { return o.Remove([]string{"gone"}) })
		if err := takes(t, &c); err != nil {
			t.Fatal(err)
		}
		late := s.CreateOrganization(t, "Late")
		key := newKey(t, late)
		twice, err := s.Store.Rewrapping(t.Context(), "", 10)
		if err != nil || len(twice) != 1 || twice[0] != late.OrganizationID {
			t.Fatalf("under both master keys: %v, %v", twice, err)
		}
		master, err := s.Keys.Vault.MasterID()
		if err != nil {
			t.Fatal(err)
		}
		// As if the rotation had come by before the key was made.
		err = s.Store.Instance(t.Context(), func(tx *store.Tx) error {
			return tx.EditInstallation(s.Keys.Installation, func(i *domain.Installation) error {
				i.Rotation = &domain.Rotation{Master: master, Through: late.OrganizationID, Done: 2}
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := server.AskRotate(t.Context(), c.Operator.Socket, false); err != nil {
			t.Fatal(err)
		}
		if twice, err = s.Store.Rewrapping(t.Context(), "", 10); err != nil || len(twice) != 0 {
			t.Errorf("still under the master key before: %v, %v", twice, err)
		}
		sign(t, late, key)
	})
}

// TestRotationBesideAnOlderSeal: what the command does without a server is refused too
// while a server runs that does not know the new master key. It would lose what that
// seals.
func TestRotationBesideAnOlderSeal(t *testing.T) {
	url := servertest.Postgres(t)
	c, seal := newSeal(t)
	s := servertest.StartWith(t, url, c, "seal:"+seal, "")
	key := newKey(t, s.Root)
	testkit.Until(t, "the server is known", func() bool {
		nodes, err := s.Store.Nodes(t.Context())
		return err == nil && len(nodes) == 1
	})
	own, err := os.ReadFile(seal)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "seal.json")
	if err := os.WriteFile(elsewhere, own, 0o600); err != nil {
		t.Fatal(err)
	}
	changeSeal(t, &c, elsewhere, func(o *sealfile.Opened) error { return o.Remove([]string{"gone"}) })
	c.Store, c.MasterKey = url, "seal:"+elsewhere
	if _, err := tryRotate(t, &c); err == nil || !strings.Contains(err.Error(), "has generation 1 of the seal, and this one 2") {
		t.Errorf("beside a server with an older seal: %v", err)
	}
	sign(t, s.Root, key)
}

// TestForkedSeal: two commands take a recipient away, each from a copy of the same
// seal. Of two master keys of one generation the second is refused.
func TestForkedSeal(t *testing.T) {
	servertest.EachStore(t, func(t *testing.T, url string) {
		c, seal := newSeal(t)
		own, err := os.ReadFile(seal)
		if err != nil {
			t.Fatal(err)
		}
		c.Operator.Socket = filepath.Join(t.TempDir(), "operator")
		s := servertest.StartWith(t, url, c, "seal:"+seal, "")
		remove := func(o *sealfile.Opened) error { return o.Remove([]string{"gone"}) }
		changeSeal(t, &c, seal, remove)
		if err := takes(t, &c); err != nil {
			t.Fatal(err)
		}
		key := newKey(t, s.Root)
		taken, err := os.ReadFile(seal)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(seal, own, 0o600); err != nil {
			t.Fatal(err)
		}
		changeSeal(t, &c, seal, remove)
		if err := takes(t, &c); err == nil || !strings.Contains(err.Error(), "generation 2") {
			t.Errorf("taken while the server runs: %v", err)
		}
		s.Stop(t)
		if _, err := servertest.TryResume(t, url, c, "seal:"+seal, ""); err == nil || !strings.Contains(err.Error(), "another master key, is in use") {
			t.Errorf("taken at the start: %v", err)
		}
		if err := os.WriteFile(seal, taken, 0o600); err != nil {
			t.Fatal(err)
		}
		s2 := servertest.Resume(t, url, c, "seal:"+seal, "")
		sign(t, s2.As(s.Root), key)
	})
}
