package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"filippo.io/age"

	"latchkey/internal/test/pgtest"
	"latchkey/internal/test/testkit"
)

// TestSealChangesWhileServing adds a recipient, takes one away and replaces all data
// keys while requests come, none of which fails. On SQLite; and on PostgreSQL with two
// servers, of which each has a file and a recipient of its own.
func TestSealChangesWhileServing(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]func() string{
		"sqlite":   func() string { return "sqlite:latchkey.db" },
		"postgres": func() string { return pgtest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSealed(t, store(), map[string]int{"sqlite": 1, "postgres": 2}[name])
			defer s.stop()
			ends := s.load()
			here := s.nodes[0].config
			s.run("seal", "add", "--config", here, "--age", "late="+s.recipient("late"))
			s.reaches(2)
			s.run("seal", "remove", "--config", here, "gone")
			s.rotates()
			s.reaches(4) // the last is that the former master key was forgotten
			ends()
			s.stop()

			// Each starts again with what it has become; the one who was taken away has nothing.
			s.start()
			if text := s.run("status", "--config", here); !strings.Contains(text, "generation") && !strings.Contains(text, "GENERATION") {
				t.Errorf("status prints %s", text)
			}
			s.createKey(0, "after")
			s.stop()
			before, err := os.ReadFile(s.path("before.json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(s.nodes[0].seal, before, 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("latchkey", "serve", "--config", here).CombinedOutput()
			if err == nil || !bytes.Contains(out, []byte("does not open this database")) && !bytes.Contains(out, []byte("was used already")) {
				t.Errorf("the seal before: %v: %s", err, out)
			}
		})
	}
}

// sealedProgram is an installation under a seal.
type sealedProgram struct {
	*program
	nodes []*sealedNode
}

type sealedNode struct {
	url, config, seal string
	process           *exec.Cmd
	log               *bytes.Buffer
}

func newSealed(t *testing.T, store string, nodes int) *sealedProgram {
	t.Helper()
	s := &sealedProgram{program: &program{t: t, dir: t.TempDir()}}
	if path, ok := strings.CutPrefix(store, "sqlite:"); ok {
		store = "sqlite:" + s.path(path)
	}
	arguments := []string{"seal", "init", "--seal", s.path("before.json"), "--age", "gone=" + s.recipient("gone")}
	for i := range nodes {
		name := fmt.Sprintf("node%d", i)
		folder := s.path(name)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		arguments = append(arguments, "--age", name+"="+s.recipient(name))
		listen := testkit.Reserve(t)
		n := &sealedNode{url: "http://" + listen, config: filepath.Join(folder, "latchkey.yaml"), seal: filepath.Join(folder, "seal.json")}
		text := fmt.Sprintf("listen: %s\nstore: %s\ntimeouts: {lameDuck: 0}\nlimits: {privateKeys: 0}\nmasterKey: seal:%s\nseal: {secrets: {%s: \"file:%s\"}}\n",
			listen, store, n.seal, name, s.path(name+".key"))
		if err := os.WriteFile(n.config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s.nodes = append(s.nodes, n)
	}
	s.url = s.nodes[0].url
	s.run(arguments...)
	text, err := os.ReadFile(s.path("before.json"))
	for _, n := range s.nodes {
		if err == nil {
			err = os.WriteFile(n.seal, text, 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	public := strings.TrimSpace(s.run("keygen", "--out", s.path("key")))
	var created struct {
		OrganizationID string `json:"organizationId"`
	}
	given := s.run("init", "--config", s.nodes[0].config, "--organization", "Acme", "--user", "Ada", "--public-key", public)
	if err := json.Unmarshal([]byte(given), &created); err != nil {
		t.Fatal(err)
	}
	s.organization = created.OrganizationID
	s.start()
	return s
}

// recipient makes an age key, keeps its identity in a file, and returns the recipient.
func (s *sealedProgram) recipient(name string) string {
	s.t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err == nil {
		err = os.WriteFile(s.path(name+".key"), []byte(identity.String()+"\n"), 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return identity.Recipient().String()
}

func (s *sealedProgram) start() {
	s.t.Helper()
	for _, n := range s.nodes {
		n.log = new(bytes.Buffer)
		n.process = exec.Command("latchkey", "serve", "--config", n.config)
		n.process.Stderr = n.log
		if err := n.process.Start(); err != nil {
			s.t.Fatal(err)
		}
		testkit.Until(s.t, "the server answers", func() bool { return answers(n.url) })
	}
}

func (s *sealedProgram) stop() {
	s.t.Helper()
	for _, n := range s.nodes {
		if n.process == nil {
			continue
		}
		_ = n.process.Process.Signal(os.Interrupt) // it may have ended
		if err := n.process.Wait(); err != nil {
			s.t.Errorf("%v\n%s", err, n.log)
		}
		n.process = nil
	}
}

// createKey has a node seal something.
func (s *sealedProgram) createKey(node int, name string) {
	s.t.Helper()
	c := s.client()
	c.BaseURL = s.nodes[node].url
	body := fmt.Sprintf(`{"type":"ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2","timestampMs":"%d","organizationId":%q,"parameters":{"privateKeys":[`+
		`{"privateKeyName":%q,"curve":"CURVE_SECP256K1","privateKeyTags":[],"addressFormats":["ADDRESS_FORMAT_ETHEREUM"]}]}}`, time.Now().UnixMilli(), s.organization, name)
	reply, err := c.Post(s.t.Context(), "/public/v1/submit/create_private_keys", []byte(body))
	if err != nil || !strings.Contains(string(reply), "ACTIVITY_STATUS_COMPLETED") {
		s.t.Errorf("node %d: %v: %s", node, err, reply)
		return
	}
	_, id, _ := strings.Cut(string(reply), `"privateKeyId":"`)
	id, _, _ = strings.Cut(id, `"`)
	body = fmt.Sprintf(`{"type":"ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2","timestampMs":"%d","organizationId":%q,"parameters":`+
		`{"signWith":%q,"payload":"%064x","encoding":"PAYLOAD_ENCODING_HEXADECIMAL","hashFunction":"HASH_FUNCTION_NO_OP"}}`, time.Now().UnixMilli(), s.organization, id, 1)
	reply, err = c.Post(s.t.Context(), "/public/v1/submit/sign_raw_payload", []byte(body))
	if err != nil || !strings.Contains(string(reply), "ACTIVITY_STATUS_COMPLETED") {
		s.t.Errorf("node %d: %v: %s", node, err, reply)
	}
}

// load makes and uses keys on every node until the function that it returns is called.
func (s *sealedProgram) load() (ends func()) {
	s.t.Helper()
	// A rotation takes an organization whole. Two servers that change it all the time
	// would leave no moment for that: docs/seals.md.
	workers, pause := 2, 100*time.Millisecond
	if len(s.nodes) > 1 {
		workers, pause = 1, time.Second
	}
	var working sync.WaitGroup
	var over atomic.Bool
	var made atomic.Int64
	for node := range s.nodes {
		for worker := range workers {
			working.Go(func() {
				for i := 0; !over.Load() && !s.t.Failed(); i++ {
					s.createKey(node, fmt.Sprintf("k-%d-%d-%d", node, worker, i))
					made.Add(1)
					time.Sleep(pause)
				}
			})
		}
	}
	return func() {
		s.t.Helper()
		// What it is to go on beside may be over before a busy machine has made so many.
		testkit.Until(s.t, "five keys were made", func() bool { return made.Load() >= 5 || s.t.Failed() })
		over.Store(true)
		working.Wait()
	}
}

// reaches waits until every node runs on a generation, and has it in its file.
func (s *sealedProgram) reaches(generation int) {
	s.t.Helper()
	want := fmt.Sprintf(`"generation":%d,`, generation)
	testkit.Until(s.t, fmt.Sprintf("all have generation %d", generation), func() bool {
		for _, n := range s.nodes {
			if !strings.Contains(s.run("seal", "status", "--seal", n.seal, "--json"), want) {
				return false
			}
		}
		var status struct {
			Nodes []struct{ Generation int }
		}
		if err := json.Unmarshal([]byte(s.run("status", "--config", s.nodes[0].config, "--json")), &status); err != nil {
			s.t.Fatal(err)
		}
		for _, n := range status.Nodes {
			if n.Generation != generation {
				return false
			}
		}
		return len(status.Nodes) == len(s.nodes)
	})
}

// rotates replaces the data keys, as soon as every node knows the master key.
func (s *sealedProgram) rotates() {
	s.t.Helper()
	testkit.Until(s.t, "the data keys are replaced", func() bool {
		out, err := exec.Command("latchkey", "vault", "rotate", "--config", s.nodes[0].config).CombinedOutput()
		if err != nil && (len(s.nodes) == 1 || !strings.Contains(string(out), "generation 2 of the seal, and this one 3")) {
			s.t.Fatalf("%v: %s", err, out)
		}
		return err == nil
	})
}
