package sealfile

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"latchkey/internal/keys/vault"
	"latchkey/internal/keys/vault/unseal"
)

// owner is somebody with an age key.
type owner struct {
	spec     Spec
	identity string
}

func newOwner(t testing.TB, name string) owner {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return owner{Spec{Name: name, Kind: KindAge, Recipient: identity.Recipient().String()}, identity.String()}
}

// key is what an unsealer lends.
func key(t testing.TB, u vault.Unsealer) []byte {
	t.Helper()
	var got []byte
	if err := u.Unseal(func(master *[32]byte) error {
		got = bytes.Clone(master[:])
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return got
}

func create(t testing.TB, specs ...Spec) (path string, shares []string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "seal.json")
	err := Create(path, nil, specs, func(made []Share) error {
		for _, s := range made {
			words, _ := lines(s.Text)
			shares = append(shares, words)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return path, shares
}

func open(t testing.TB, path, name, given string) *Opened {
	t.Helper()
	o, err := tryOpen(path, name, given)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	return o
}

func tryOpen(path, name, given string) (*Opened, error) {
	s, err := Read(path)
	if err != nil {
		return nil, err
	}
	return s.Open(name, []byte(given))
}

func passphrase(name, text string) Spec {
	return Spec{Name: name, Kind: KindPassphrase, Secret: []byte(text)}
}

// TestAnyRecipientOpens: each of them gives the same key, and so does stock age.
func TestAnyRecipientOpens(t *testing.T) {
	ada := newOwner(t, "ada")
	path, shares := create(t, passphrase("desk", "correct horse"), ada.spec, Spec{Name: "board", Kind: KindPeople, Threshold: 3, People: 5})
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	want := key(t, open(t, path, "ada", ada.identity+"\n").Current())
	if got := key(t, open(t, path, "desk", "correct horse").Current()); !bytes.Equal(got, want) {
		t.Error("the passphrase gives another key")
	}
	seal, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	g, ok := seal.Gather(time.Now)
	if !ok {
		t.Fatal("there is a group")
	}
	defer g.Close()
	for i, text := range []string{shares[4], shares[0], shares[4], shares[2]} {
		o, p, err := g.Add([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if have := []int{1, 2, 2, 3}[i]; p != (Progress{"board", have, 3, i == 2}) {
			t.Errorf("after %d: %+v", i+1, p)
		}
		if (o != nil) != (i == 3) {
			t.Fatalf("after %d: opened %v", i+1, o)
		}
		if o != nil {
			if got := key(t, o.Current()); !bytes.Equal(got, want) {
				t.Error("the people get another key")
			}
			o.Close()
		}
	}
	identity, err := age.ParseX25519Identity(ada.identity)
	if err != nil {
		t.Fatal(err)
	}
	text, err := decrypt(seal.form.Master, identity)
	if err != nil || strings.TrimSpace(string(text)) != hex.EncodeToString(want) {
		t.Errorf("stock age: %v", err)
	}
	status := seal.Status()
	if fmt.Sprint(status.Recipients) != "[{desk passphrase 0 0} {ada age 0 0} {board people 3 5}]" || status.Generation != 1 {
		t.Errorf("%+v", status)
	}
}

// TestFromKey: an installation that has a master key puts it under a seal.
func TestFromKey(t *testing.T) {
	ada := newOwner(t, "ada")
	dir := t.TempDir()
	existing := unseal.File(filepath.Join(dir, "master.key"))
	if err := unseal.Create(filepath.Join(dir, "master.key")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "seal.json")
	if err := Create(path, existing, []Spec{ada.spec}, nil); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(key(t, open(t, path, "ada", ada.identity).Current()), key(t, existing)) {
		t.Error("the seal holds another key")
	}
	before, _ := os.ReadFile(path)
	if err := Create(path, nil, []Spec{ada.spec}, nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a seal: %v", err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("it was overwritten")
	}
}

// TestRemove: who was removed opens nothing, and what stays opens the new key and
// the one before.
func TestRemove(t *testing.T) {
	ada, bob, cleo := newOwner(t, "ada"), newOwner(t, "bob"), newOwner(t, "cleo")
	path, _ := create(t, ada.spec, bob.spec)
	first := key(t, open(t, path, "ada", ada.identity).Current())
	if err := open(t, path, "bob", bob.identity).Add([]Spec{cleo.spec}, nil); err != nil {
		t.Fatal(err)
	}
	o := open(t, path, "cleo", cleo.identity)
	if o.Generation() != 2 || !bytes.Equal(key(t, o.Current()), first) || o.Previous() != nil {
		t.Error("adding changes nothing but who may open")
	}
	if err := o.Remove([]string{"cleo"}); err == nil || !strings.Contains(err.Error(), "opened by") {
		t.Errorf("by the one who goes: %v", err)
	}
	if err := o.Remove([]string{"dan"}); err == nil || !strings.Contains(err.Error(), "ada, bob, cleo") {
		t.Errorf("one who is not there: %v", err)
	}
	if err := open(t, path, "ada", ada.identity).Remove([]string{"bob", "cleo"}); err != nil {
		t.Fatal(err)
	}
	if _, err := tryOpen(path, "bob", bob.identity); err == nil {
		t.Error("bob is still named")
	}
	if _, err := tryOpen(path, "ada", bob.identity); err == nil || !strings.Contains(err.Error(), `"ada"`) {
		t.Errorf("bob's key opens it: %v", err)
	}
	o = open(t, path, "ada", ada.identity)
	second := key(t, o.Current())
	if bytes.Equal(first, second) || !bytes.Equal(key(t, o.Previous()), first) || o.Generation() != 3 {
		t.Error("a new key, and the one before")
	}
	if err := o.Remove([]string{"ada"}); err == nil {
		t.Error("the last one was removed")
	}
	if err := o.Forget(); err != nil {
		t.Fatal(err)
	}
	o = open(t, path, "ada", ada.identity)
	if !bytes.Equal(key(t, o.Current()), second) || o.Previous() != nil {
		t.Error("the key before is gone, the key is the same")
	}
}

// TestChangedInTheMeantime: of two commands at once one does nothing.
func TestChangedInTheMeantime(t *testing.T) {
	ada, bob, cleo := newOwner(t, "ada"), newOwner(t, "bob"), newOwner(t, "cleo")
	path, _ := create(t, ada.spec)
	one, two := open(t, path, "ada", ada.identity), open(t, path, "ada", ada.identity)
	if err := one.Add([]Spec{bob.spec}, nil); err != nil {
		t.Fatal(err)
	}
	if err := two.Add([]Spec{cleo.spec}, nil); err == nil || !strings.Contains(err.Error(), "in the meantime") {
		t.Errorf("%v", err)
	}
	open(t, path, "bob", bob.identity)
}

// TestChangedWhileSharesAreHandedOut: people take long to write their shares down. What
// another command has made of the seal meanwhile, with a new master key, stays.
func TestChangedWhileSharesAreHandedOut(t *testing.T) {
	ada, bob := newOwner(t, "ada"), newOwner(t, "bob")
	path, _ := create(t, ada.spec, bob.spec)
	one, two := open(t, path, "ada", ada.identity), open(t, path, "ada", ada.identity)
	err := one.Add([]Spec{{Name: "board", Kind: KindPeople, Threshold: 2, People: 3}}, func([]Share) error {
		return two.Remove([]string{"bob"})
	})
	if err == nil || !strings.Contains(err.Error(), "in the meantime") {
		t.Errorf("%v", err)
	}
	if now := open(t, path, "ada", ada.identity); now.Previous() == nil {
		t.Error("the new master key was overwritten")
	}
}

// TestEveryByteCounts changes each byte of a seal, and cuts it everywhere.
func TestEveryByteCounts(t *testing.T) {
	ada, bob := newOwner(t, "ada"), newOwner(t, "bob")
	path, _ := create(t, ada.spec, bob.spec, Spec{Name: "board", Kind: KindPeople, Threshold: 2, People: 3})
	o := open(t, path, "ada", ada.identity)
	if err := o.Remove([]string{"bob"}); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	try := func(what string, text []byte) {
		t.Helper()
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		switch o, err := tryOpen(path, "ada", ada.identity); {
		case err == nil:
			o.Close()
			t.Fatalf("%s: it opens", what)
		case !strings.Contains(err.Error(), path):
			t.Fatalf("%s: the error does not name the file: %v", what, err)
		}
	}
	for i := range whole {
		changed := slices.Clone(whole)
		changed[i] ^= 1 << (i % 8)
		try(fmt.Sprintf("byte %d changed", i), changed)
		try(fmt.Sprintf("cut at %d", i), whole[:i])
	}
	try("a member more", bytes.Replace(whole, []byte(`"generation"`), []byte(`"extra": 1, "generation"`), 1))
	try("white space", append([]byte(" "), whole...))
	try("a line feed", append(slices.Clone(whole), '\n'))
}

func TestBadSpecs(t *testing.T) {
	ada := newOwner(t, "ada")
	pq, err := age.GenerateHybridIdentity()
	if err != nil {
		t.Fatal(err)
	}
	for problem, specs := range map[string][]Spec{
		"no recipient":         {},
		"two recipients":       {ada.spec, ada.spec},
		"cannot be the name":   {{Name: "a/b", Kind: KindAge, Recipient: ada.spec.Recipient}},
		"private key":          {{Name: "a", Kind: KindAge, Recipient: ada.identity}},
		"not a recipient":      {{Name: "a", Kind: KindAge, Recipient: "age1nonsense"}},
		"passphrase is empty":  {{Name: "a", Kind: KindPassphrase}},
		"at least two":         {{Name: "a", Kind: KindPeople, Threshold: 1, People: 3}},
		"at least 4 and":       {{Name: "a", Kind: KindPeople, Threshold: 4, People: 3}},
		"at most 16":           {{Name: "a", Kind: KindPeople, Threshold: 4, People: 17}},
		"there is no kind":     {{Name: "a", Kind: "magic"}},
		"encrypting to ada, p": {ada.spec, {Name: "p", Kind: KindAge, Recipient: pq.Recipient().String()}},
	} {
		path := filepath.Join(t.TempDir(), "seal.json")
		if err := Create(path, nil, specs, nil); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%v, want %q", err, problem)
		}
		if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) > 0 {
			t.Errorf("%s: left behind: %v, %v", problem, entries, err)
		}
	}
}

// TestSharesFirst: without its shares a group is worth nothing, so nothing is
// written when they could not be handed out.
func TestSharesFirst(t *testing.T) {
	ada := newOwner(t, "ada")
	path, _ := create(t, ada.spec)
	before, _ := os.ReadFile(path)
	full := errors.New("the disk is full")
	err := open(t, path, "ada", ada.identity).Add([]Spec{{Name: "board", Kind: KindPeople, Threshold: 2, People: 2}}, func([]Share) error { return full })
	if !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the seal was changed")
	}
}

func TestWrongShares(t *testing.T) {
	path, shares := create(t, Spec{Name: "board", Kind: KindPeople, Threshold: 2, People: 3})
	_, foreign := create(t, Spec{Name: "board", Kind: KindPeople, Threshold: 2, People: 3})
	seal, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	g, _ := seal.Gather(func() time.Time { return now })
	defer g.Close()
	add := func(text, problem string, have int) {
		t.Helper()
		o, _, err := g.Add([]byte(text))
		if (err == nil) != (problem == "") || err != nil && !strings.Contains(err.Error(), problem) {
			t.Errorf("%v, want %q", err, problem)
		}
		if o != nil {
			t.Error("it opened")
			o.Close()
		}
		if got := g.Progress(); got.Have != have {
			t.Errorf("%d shares, want %d", got.Have, have)
		}
	}
	add(shares[0], "", 1)
	add(foreign[1], "none of this seal", 1)
	add(forged(t, seal, 2), "share 2 is wrong", 1)
	add(forged(t, seal, 4), "number 4", 1)
	add("abandon", "has 1", 1)
	now = now.Add(shareLasts)
	add(shares[1], "", 1) // the first one has waited too long
	if o, _, err := g.Add([]byte(shares[2])); err != nil || o == nil {
		t.Errorf("%v, %v", o, err)
	} else {
		o.Close()
	}
}

// forged is a share that somebody made up, in the name of the group.
func forged(t testing.TB, seal *Seal, index byte) string {
	t.Helper()
	g, _ := seal.Gather(time.Now)
	defer g.Close()
	s := share{group: groupOf(seal.form.Recipients[0].Recipient), index: index, value: g.pool.Random(scalarSize)}
	text, err := s.text(g.pool, books())
	if err != nil {
		t.Fatal(err)
	}
	words, _ := lines(text)
	return words
}

func TestReadProblems(t *testing.T) {
	ada := newOwner(t, "ada")
	path, _ := create(t, ada.spec)
	for name, tc := range map[string]struct {
		identity, problem string
	}{
		"another identity": {newOwner(t, "x").identity, "another identity"},
		"nothing":          {"", "no identity"},
		"a recipient":      {ada.spec.Recipient, "not an identity"},
		"two":              {ada.identity + "\n" + ada.identity, "more than one"},
	} {
		_, err := tryOpen(path, "ada", tc.identity)
		if err == nil || !strings.Contains(err.Error(), tc.problem) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && tc.identity != "" && strings.Contains(err.Error(), strings.TrimSpace(tc.identity)) {
			t.Errorf("%s: it quotes the secret", name)
		}
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("%v", err)
	}
}

func FuzzReadSeal(f *testing.F) {
	ada := newOwner(f, "ada")
	path, _ := create(f, ada.spec, Spec{Name: "board", Kind: KindPeople, Threshold: 2, People: 2})
	text, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"format":"latchkey seal 1"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		parsed, err := parse(text)
		if err != nil {
			return
		}
		if again, err := parsed.marshal(); err != nil || !bytes.Equal(again, text) {
			t.Fatalf("it is written otherwise: %v", err)
		}
	})
}
