package chart

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// What of a pod the tests look at.
type (
	podSpec struct {
		AutomountServiceAccountToken  *bool       `json:"automountServiceAccountToken"`
		TerminationGracePeriodSeconds int         `json:"terminationGracePeriodSeconds"`
		InitContainers                []container `json:"initContainers"`
		Containers                    []container `json:"containers"`
		SecurityContext               struct {
			RunAsNonRoot   bool `json:"runAsNonRoot"`
			RunAsUser      int  `json:"runAsUser"`
			SeccompProfile struct {
				Type string `json:"type"`
			} `json:"seccompProfile"`
		} `json:"securityContext"`
	}
	container struct {
		Name            string   `json:"name"`
		Command         []string `json:"command"`
		Args            []string `json:"args"`
		Env             []env    `json:"env"`
		LivenessProbe   probe    `json:"livenessProbe"`
		ReadinessProbe  probe    `json:"readinessProbe"`
		SecurityContext struct {
			AllowPrivilegeEscalation *bool `json:"allowPrivilegeEscalation"`
			ReadOnlyRootFilesystem   bool  `json:"readOnlyRootFilesystem"`
			Capabilities             struct {
				Add  []string `json:"add"`
				Drop []string `json:"drop"`
			} `json:"capabilities"`
		} `json:"securityContext"`
	}
	env struct {
		Name      string `json:"name"`
		Value     string `json:"value"`
		ValueFrom struct {
			SecretKeyRef struct {
				Name string `json:"name"`
				Key  string `json:"key"`
			} `json:"secretKeyRef"`
		} `json:"valueFrom"`
	}
	probe struct {
		HTTPGet struct {
			Path   string `json:"path"`
			Scheme string `json:"scheme"`
		} `json:"httpGet"`
	}
)

// podOf is the pod of the Deployment or the StatefulSet.
func podOf(t *testing.T, files map[string]string) podSpec {
	t.Helper()
	var workload struct {
		Spec struct {
			Template struct {
				Spec podSpec `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
	}
	text := files["latchkey/templates/deployment.yaml"] + files["latchkey/templates/statefulset.yaml"]
	if err := yaml.Unmarshal([]byte(text), &workload); err != nil {
		t.Fatal(err)
	}
	return workload.Spec.Template.Spec
}

// configOf is the config file that the ConfigMap holds.
func configOf(t *testing.T, files map[string]string) string {
	t.Helper()
	var made struct {
		Data map[string]string `json:"data"`
	}
	if err := yaml.Unmarshal([]byte(files["latchkey/templates/configmap.yaml"]), &made); err != nil {
		t.Fatal(err)
	}
	return made.Data["latchkey.yaml"]
}

// needed is what `make deploy-test` says.
func needed(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatal(name + " is not set: run make deploy-test")
	}
	return value
}

// server runs as a pod would: with the config of the ConfigMap, the arguments and the
// variables of the container, in folders that stand for its volumes.
type server struct {
	t       *testing.T
	url     string
	config  string
	args    []string
	env     []string
	grace   time.Duration
	folders *strings.Replacer
}

// place makes the folders of a server, with secrets by their "name/key".
func place(t *testing.T, files map[string]string, secrets map[string]string) *server {
	t.Helper()
	pod, dir := podOf(t, files), t.TempDir()
	ports := freePorts(t, 3)
	for _, folder := range []string{"config", "state", "tls", "seal"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s := &server{
		t: t, url: "http://127.0.0.1:" + ports[0], config: filepath.Join(dir, "config/latchkey.yaml"),
		grace: time.Duration(pod.TerminationGracePeriodSeconds) * time.Second,
		folders: strings.NewReplacer(
			"/etc/latchkey", dir+"/config", "/var/lib/latchkey", dir+"/state", "/etc/ssl/latchkey", dir+"/tls", "/seal/", dir+"/seal/",
			"':8080'", "'127.0.0.1:"+ports[0]+"'", `":8080"`, `"127.0.0.1:`+ports[0]+`"`, " :8080\n", " 127.0.0.1:"+ports[0]+"\n",
			" :9090\n", " 127.0.0.1:"+ports[1]+"\n", " :8083\n", " 127.0.0.1:"+ports[2]+"\n",
		),
	}
	// As kubelet places a ConfigMap: for all to read.
	if err := os.WriteFile(s.config, []byte(s.folders.Replace(configOf(t, files)+"\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, arg := range pod.Containers[0].Args {
		s.args = append(s.args, s.folders.Replace(arg))
	}
	s.env = []string{"HOME=/nonexistent", "PATH=/usr/bin:/bin"}
	for _, e := range pod.Containers[0].Env {
		from := e.ValueFrom.SecretKeyRef.Name + "/" + e.ValueFrom.SecretKeyRef.Key
		value, ok := secrets[from]
		if !ok {
			t.Fatal("there is no Secret " + from)
		}
		s.env = append(s.env, e.Name+"="+value)
	}
	return s
}

func freePorts(t *testing.T, n int) (ports []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	}
	return ports
}

// exec runs a command in the pod, as `kubectl exec` would.
func (s *server) exec(args ...string) (string, error) {
	s.t.Helper()
	cmd := exec.Command(needed(s.t, "LATCHKEY"), args...)
	cmd.Env = s.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// start runs the server until the test ends, and waits until it is ready. Ended, it must
// have taken no longer than a pod may.
func (s *server) start() {
	s.t.Helper()
	cmd := exec.Command(needed(s.t, "LATCHKEY"), s.args...)
	cmd.Env = s.env
	log := filepath.Join(filepath.Dir(s.config), "log")
	file, err := os.Create(log)
	if err != nil {
		s.t.Fatal(err)
	}
	cmd.Stderr = file
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	s.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case err := <-ended:
			if err != nil {
				text, _ := os.ReadFile(log)
				s.t.Errorf("the server ended with %v:\n%s", err, text)
			}
		case <-time.After(s.grace):
			_ = cmd.Process.Kill()
			s.t.Error("the server did not end in the time that a pod has")
		}
		file.Close()
	})
	if err := s.await("/readyz", ended); err != nil {
		text, _ := os.ReadFile(log)
		s.t.Fatalf("%v:\n%s", err, text)
	}
}

func (s *server) await(path string, ended chan error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
		if err != nil {
			return err
		}
		reply, err := http.DefaultClient.Do(request)
		if err == nil {
			_, _ = io.Copy(io.Discard, reply.Body)
			reply.Body.Close()
			if reply.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case err := <-ended:
			ended <- err
			return fmt.Errorf("the server ended: %w", err)
		case <-ctx.Done():
			return errors.New("the server was not ready in time")
		case <-time.After(100 * time.Millisecond):
		}
	}
}

const masterKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

// TestServes: two servers, as the chart starts them, share a database; an organization is
// made as NOTES.txt says.
func TestServes(t *testing.T) {
	files := rendered(t, "defaults")
	secrets := map[string]string{"latchkey/store": needed(t, "LATCHKEY_CHART_STORE"), "latchkey/master-key": masterKey}
	first, second := place(t, files, secrets), place(t, files, secrets)
	first.start()
	second.start()
	key := filepath.Join(t.TempDir(), "root.key")
	public, err := first.exec("keygen", "--out", key)
	if err != nil {
		t.Fatal(err, public)
	}
	made, err := first.exec("init", "--config", first.config, "--organization", "Acme", "--user", "Ada", "--public-key", strings.TrimSpace(public))
	if err != nil {
		t.Fatal(err, made)
	}
	var ids struct {
		OrganizationID string `json:"organizationId"`
	}
	if err := yaml.Unmarshal([]byte(made), &ids); err != nil {
		t.Fatal(err, made)
	}
	for _, s := range []*server{first, second} {
		if said, err := s.exec("request", "--url", s.url, "--key", key, "--organization", ids.OrganizationID, "whoami"); err != nil || !strings.Contains(said, "Ada") {
			t.Error(err, said)
		}
	}
	if said, err := first.exec("doctor", "--config", first.config, "--json"); err != nil {
		t.Error(err, said)
	}
	if status, err := second.exec("status", "--config", second.config, "--json"); err != nil || strings.Count(status, `"alive":true`) != 2 {
		t.Error(err, status)
	}
}

// TestServesWithEverything: the server takes what a chart with many settings renders. Its
// mail server is not there, so that doctor must find just that.
func TestServesWithEverything(t *testing.T) {
	s := place(t, rendered(t, "everything"), map[string]string{
		"database/url": needed(t, "LATCHKEY_CHART_STORE"), "keys/new": masterKey, "keys/old": masterKey,
		"sms/token": "Bearer token", "mail/password": "password",
	})
	text, err := os.ReadFile(s.config)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"Bearer", masterKey, needed(t, "LATCHKEY_CHART_STORE")} {
		if strings.Contains(string(text), secret) {
			t.Errorf("the ConfigMap holds a secret: %s", text)
		}
	}
	s.start()
	said, _ := s.exec("doctor", "--config", s.config, "--json")
	for _, name := range []string{"config", "database", "masterKey", "log"} {
		if !strings.Contains(said, fmt.Sprintf(`{"name":%q,"status":"ok"`, name)) {
			t.Errorf("%s is not ok: %s", name, said)
		}
	}
}

// TestServesSealed: the seal is placed by the init container as a file that the server
// takes, one that the server has changed stays, and a new one of the Secret is taken.
func TestServesSealed(t *testing.T) {
	files := rendered(t, "sealed")
	s := place(t, files, map[string]string{"latchkey/store": needed(t, "LATCHKEY_CHART_SEALED_STORE"), "keys/passphrase": "correct horse battery staple"})
	certificate(t, s.folders.Replace("/etc/ssl/latchkey"))
	given := s.folders.Replace("/seal/seal.json")
	t.Setenv("CHART_PASSPHRASE", "correct horse battery staple")
	seal := exec.Command(needed(t, "LATCHKEY"), "seal", "init", "--seal", given, "--passphrase", "this-cluster", "--secret", "this-cluster=env:CHART_PASSPHRASE")
	if out, err := seal.CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	// As kubelet places it for the group of the pod.
	if err := os.Chmod(given, 0o440); err != nil {
		t.Fatal(err)
	}
	placed := s.folders.Replace("/var/lib/latchkey/seal.json")
	s.copySeal(files)
	if info, err := os.Stat(placed); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal("the seal was not placed for its owner only: ", info, err)
	}
	sealed, err := os.ReadFile(placed)
	if err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string]string{"": "changed by the server", "changed in the Secret": "changed in the Secret"} {
		if err := os.WriteFile(placed, []byte("changed by the server"), 0o600); err != nil {
			t.Fatal(err)
		}
		if from != "" {
			put(t, given, from)
		}
		s.copySeal(files)
		if got, err := os.ReadFile(placed); err != nil || string(got) != want {
			t.Errorf("the seal is %q, %v; not %q", got, err, want)
		}
		put(t, given, string(sealed))
		s.copySeal(files)
		if err := os.WriteFile(placed, sealed, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	trusting(t, s)
	s.start()
	said, _ := s.exec("doctor", "--config", s.config, "--json")
	for _, name := range []string{"config", "masterKey", "seal", "log"} {
		if !strings.Contains(said, fmt.Sprintf(`{"name":%q,"status":"ok"`, name)) {
			t.Errorf("%s is not ok: %s", name, said)
		}
	}
}

// put replaces a file of a Secret.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.Remove(path), os.WriteFile(path, []byte(text), 0o440)); err != nil {
		t.Fatal(err)
	}
}

// copySeal runs what the init container runs.
func (s *server) copySeal(files map[string]string) {
	s.t.Helper()
	command := podOf(s.t, files).InitContainers[0].Command
	for i := range command {
		command[i] = s.folders.Replace(command[i])
	}
	if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
		s.t.Fatal(err, string(out))
	}
}
