package sealfile

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
)

// none is for a server without another recipient.
func none(*Seal) (*Opened, error) { return nil, errors.New("no other recipient") }

func reread(t testing.TB, path string) *Seal {
	t.Helper()
	s, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFollow: a server that runs goes on with what its seal has become, by the
// identity that it has in memory, and another one by the row that it leaves.
func TestFollow(t *testing.T) {
	ada, bob, cleo := newOwner(t, "ada"), newOwner(t, "bob"), newOwner(t, "cleo")
	path, _ := create(t, ada.spec, bob.spec)
	runs, other := open(t, path, "ada", ada.identity), open(t, path, "bob", bob.identity)
	if err := open(t, path, "ada", ada.identity).Add([]Spec{cleo.spec}, nil); err != nil {
		t.Fatal(err)
	}
	if err := open(t, path, "ada", ada.identity).Remove([]string{"cleo"}); err != nil {
		t.Fatal(err)
	}
	next, err := runs.Follow(reread(t, path), none) // two generations at once
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if next.Generation() != 3 || !bytes.Equal(key(t, next.Previous()), key(t, runs.Current())) {
		t.Errorf("generation %d", next.Generation())
	}
	if _, err := next.Follow(reread(t, path), none); err == nil || !strings.Contains(err.Error(), "the server has 3") {
		t.Errorf("the same once more: %v", err)
	}
	row, err := runs.Row(next)
	if err != nil || strings.Contains(row, "age1") {
		t.Fatalf("%v: %s", err, row)
	}
	read, err := other.ReadRow(row)
	if err != nil {
		t.Fatal(err)
	}
	followed, err := other.Follow(read, none)
	if err != nil {
		t.Fatal(err)
	}
	defer followed.Close()
	if !bytes.Equal(key(t, followed.Current()), key(t, next.Current())) {
		t.Error("the other server has another key")
	}
	if _, err := next.ReadRow(row); err == nil { // it is under the key before
		t.Error("the row opens by a key that it is not under")
	}
}

// TestFollowRefused: what does not come from the seal that a server has is not taken.
func TestFollowRefused(t *testing.T) {
	ada, bob := newOwner(t, "ada"), newOwner(t, "bob")
	path, _ := create(t, ada.spec, bob.spec)
	runs := open(t, path, "ada", ada.identity)
	foreign, _ := create(t, ada.spec)
	if _, err := runs.Follow(reread(t, foreign), none); err == nil || !strings.Contains(err.Error(), "another seal") {
		t.Errorf("%v", err)
	}
	// One who can write the file, and knows the recipients, makes a seal of the same id.
	o := open(t, path, "bob", bob.identity)
	forged := o.change()
	forged.master = o.pool.Random(keySize)
	forged.former = o.pool.Random(keySize)
	if err := forged.finish(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := runs.Follow(reread(t, path), none); err == nil || !strings.Contains(err.Error(), "does not come from generation 1") {
		t.Errorf("%v", err)
	}
	// Its own recipient was taken away.
	if err := os.WriteFile(path, o.text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := open(t, path, "bob", bob.identity).Remove([]string{"ada"}); err != nil {
		t.Fatal(err)
	}
	if _, err := runs.Follow(reread(t, path), none); err == nil || !strings.Contains(err.Error(), "no other recipient") {
		t.Errorf("%v", err)
	}
	// A file that another hand has changed is left as it is.
	if err := runs.Put(open(t, foreign, "ada", ada.identity)); err == nil || !strings.Contains(err.Error(), "it is left as it is") {
		t.Errorf("%v", err)
	}
}
