package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"latchkey/internal/server/config"
	"latchkey/internal/test/servertest"
)

// TestBackupWhileSigning backs a busy server up from another process, restores
// to another folder, and starts a server there: whatever was acknowledged
// before the backup began is known there, and the keys sign as before.
func TestBackupWhileSigning(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	master := "file:" + filepath.Join(dir, "master.key")
	if err := os.WriteFile(filepath.Join(dir, "master.key"), []byte(strings.Repeat("4a", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	configure := func(name string) string {
		path := filepath.Join(dir, name+".yaml")
		if err := os.WriteFile(path, []byte("store: sqlite:"+name+".db\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	source := configure("source")
	s := servertest.StartWith(t, "sqlite:"+filepath.Join(dir, "source.db"), config.Default(), master, "")
	key := s.Root.Submit(t, "create_private_keys", map[string]any{"privateKeys": []any{map[string]any{
		"privateKeyName": "k", "curve": "CURVE_SECP256K1", "privateKeyTags": []any{}, "addressFormats": []any{},
	}}}).Get("result", "createPrivateKeysResultV2", "privateKeys", 0, "privateKeyId").Text()

	const signers = 4
	for i := range 3 {
		signed := startSigners(t, s.Root, key, fmt.Sprint("round ", i), signers)
		// Each has signed, and goes on: that is the load.
		for range signers {
			<-signed.first
		}
		before := signed.soFar()
		copied := filepath.Join(dir, fmt.Sprint("copy", i, ".db"))
		if out, err := exec.Command("latchkey", "backup", "--config", source, "--out", copied).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		after := len(signed.stop())
		name := fmt.Sprint("restored", i)
		if out, err := exec.Command("latchkey", "restore", "--config", configure(name), "--from", copied).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		c := config.Default()
		c.Log.State = filepath.Join(dir, name+".state") // the source's knows more than the copy
		other := servertest.StartWith(t, "sqlite:"+filepath.Join(dir, name+".db"), c, master, "")
		root := other.As(s.Root)
		for _, one := range before {
			// The same bytes find the recorded activity, and sign nothing new.
			again := root.MustPost(t, "sign_raw_payload", one.body).Get("activity")
			if again.Get("id").Text() != one.id || again.Get("result", "signRawPayloadResult", "r").Text() != one.r {
				t.Fatalf("backup %d: activity %s was acknowledged before it began, and is not in it", i, one.id)
			}
		}
		anew := root.Submit(t, "sign_raw_payload", payload(key, before[0].text))
		if anew.Get("result", "signRawPayloadResult", "r").Text() != before[0].r {
			t.Errorf("backup %d: the key signs otherwise", i)
		}
		other.Stop(t)
		t.Logf("backup %d: %d signatures before it, %d while it was made", i, len(before), after-len(before))
	}
}

// signature is one that was acknowledged.
type signature struct {
	text  string
	body  []byte
	id, r string
}

// signing goes on in the background.
type signing struct {
	first chan struct{} // one value from each signer, when it has signed
	mu    sync.Mutex
	done  []signature
	ended atomic.Bool
	all   sync.WaitGroup
}

func payload(key, text string) map[string]any {
	return map[string]any{
		"signWith": key, "payload": text, "encoding": "PAYLOAD_ENCODING_TEXT_UTF8", "hashFunction": "HASH_FUNCTION_SHA256",
	}
}

// startSigners lets n of them sign, one payload after the other, until they are
// stopped.
func startSigners(t *testing.T, root *servertest.Caller, key, title string, n int) *signing {
	s := &signing{first: make(chan struct{}, n)}
	sign := func(text string) bool {
		body := root.Body(t, "sign_raw_payload", payload(key, text))
		reply := root.Post(t, "sign_raw_payload", body)
		if reply.Status != http.StatusOK {
			t.Errorf("HTTP %d: %s", reply.Status, reply.Body)
			return false
		}
		a := reply.JSON(t).Get("activity")
		one := signature{text, body, a.Get("id").Text(), a.Get("result", "signRawPayloadResult", "r").Text()}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.done = append(s.done, one)
		return true
	}
	for w := range n {
		s.all.Go(func() {
			for i := 0; !s.ended.Load(); i++ {
				good := sign(fmt.Sprint(title, ": ", i, " of ", w))
				if i == 0 {
					s.first <- struct{}{}
				}
				if !good {
					return
				}
			}
		})
	}
	t.Cleanup(func() { s.stop() })
	return s
}

func (s *signing) soFar() []signature {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done[:len(s.done):len(s.done)]
}

// stop returns all signatures.
func (s *signing) stop() []signature {
	s.ended.Store(true)
	s.all.Wait()
	return s.done
}
