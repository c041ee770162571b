package unseal

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// key lends what a source provides.
func key(t testing.TB, s *Source) ([]byte, error) {
	t.Helper()
	var got []byte
	var lent *[32]byte
	err := s.Unseal(func(master *[32]byte) error {
		got, lent = bytes.Clone(master[:]), master
		return nil
	})
	if lent != nil && *lent != ([32]byte{}) {
		t.Error("the key was not wiped")
	}
	return got, err
}

func write(t testing.TB, mode os.FileMode, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "master.key")
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFile(t *testing.T) {
	want := []byte("0123456789abcdef0123456789abcdef")
	text := hex.EncodeToString(want)
	for _, tc := range []struct {
		name, text string
		mode       os.FileMode
		problem    string
	}{
		{"hex", text, 0o600, ""},
		{"hex in upper case, with a line feed", strings.ToUpper(text) + "\r\n", 0o400, ""},
		{"base64", base64.StdEncoding.EncodeToString(want) + "\n", 0o600, ""},
		{"base64 without padding", base64.RawStdEncoding.EncodeToString(want), 0o600, ""},
		{"others can read", text, 0o640, "chmod 600"},
		{"empty", "", 0o600, "32 bytes"},
		{"short", text[2:], 0o600, "32 bytes"},
		{"long", text + "00", 0o600, "32 bytes"},
		{"raw", string(want), 0o600, "32 bytes"},
		{"not hex", "z" + text[1:], 0o600, "32 bytes"},
		{"two keys", text + "\n" + text, 0o600, "32 bytes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := write(t, tc.mode, tc.text)
			got, err := key(t, File(path))
			if tc.problem == "" {
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%x, %v", got, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.problem) {
				t.Errorf("%v, want %q", err, tc.problem)
			}
			if err != nil && strings.Contains(err.Error(), text[2:12]) {
				t.Errorf("the error quotes the key: %v", err)
			}
		})
	}
	if _, err := key(t, File(filepath.Join(t.TempDir(), "none"))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if name := File("/a/b").Name(); name != "file /a/b" {
		t.Error(name)
	}
}

func TestCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "master.key")
	if err := Create(path); err != nil {
		t.Fatal(err)
	}
	first, err := key(t, File(path))
	if err != nil || len(first) != 32 {
		t.Fatalf("%v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := Create(path); err == nil {
		t.Error("a master key was overwritten")
	}
	again, err := key(t, File(path))
	if err != nil || !bytes.Equal(first, again) {
		t.Errorf("the key changed: %v", err)
	}
	other := filepath.Join(t.TempDir(), "other.key")
	if err := Create(other); err != nil {
		t.Fatal(err)
	}
	if second, err := key(t, File(other)); err != nil || bytes.Equal(first, second) {
		t.Errorf("two keys are the same: %v", err)
	}
	if err := Create(filepath.Join(t.TempDir(), "no", "directory")); err == nil {
		t.Error("a key nowhere")
	}
}

// Of several that make the same file at once, one does: no key that was handed
// out is overwritten.
func TestCreateAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "master.key")
	errs := make([]error, 16)
	seen := make([][]byte, len(errs)) // by those that have made it
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() {
			if errs[i] = Create(path); errs[i] == nil {
				seen[i], errs[i] = key(t, File(path))
			}
		})
	}
	group.Wait()
	last, err := key(t, File(path))
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	for i, err := range errs {
		switch {
		case err == nil:
			made++
			if !bytes.Equal(seen[i], last) {
				t.Error("a key was replaced after it was read")
			}
		case !errors.Is(err, os.ErrExist):
			t.Error(err)
		}
	}
	if made != 1 {
		t.Errorf("%d made the file", made)
	}
}

func TestPassphrase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "master.age")
	const fast = 10
	if err := createPassphrase(path, []byte("correct horse"), fast); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(text, []byte("age-encryption.org/v1\n-> scrypt ")) {
		t.Errorf("%.40s, %v", text, err)
	}
	answer := []byte("correct horse")
	right := func() ([]byte, error) { return answer, nil }
	got, err := key(t, Passphrase(path, right))
	if err != nil || len(got) != 32 {
		t.Errorf("%v", err)
	}
	if !bytes.Equal(answer, make([]byte, len(answer))) {
		t.Error("the passphrase was not wiped")
	}
	for name, ask := range map[string]func() ([]byte, error){
		"wrong":  func() ([]byte, error) { return []byte("battery staple"), nil },
		"empty":  func() ([]byte, error) { return nil, nil },
		"failed": func() ([]byte, error) { return nil, errors.New("no terminal") },
	} {
		if _, err := key(t, Passphrase(path, ask)); err == nil || strings.Contains(err.Error(), "staple") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := createPassphrase(path, []byte("x"), fast); err == nil {
		t.Error("a master key was overwritten")
	}
	if err := CreatePassphrase(path+"2", nil); err == nil {
		t.Error("an empty passphrase")
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := key(t, Passphrase(path, right)); err == nil || !strings.Contains(err.Error(), "chmod") {
		t.Errorf("others can read: %v", err)
	}
}

func TestEnv(t *testing.T) {
	const name = "LATCHKEY_TEST_MASTER_KEY"
	want := bytes.Repeat([]byte{0xa5}, 32)
	t.Setenv(name, hex.EncodeToString(want))
	got, err := key(t, Env(name))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%x, %v", got, err)
	}
	if _, there := os.LookupEnv(name); there {
		t.Error("the variable is still set")
	}
	if _, err := key(t, Env(name)); err == nil {
		t.Error("it is there a second time")
	}
}

func TestFD(t *testing.T) {
	want := bytes.Repeat([]byte{0x5a}, 32)
	for _, tc := range []struct {
		name, text string
		good       bool
	}{
		{"hex", hex.EncodeToString(want) + "\n", true},
		{"too much", strings.Repeat("5a", maxText), false},
		{"nothing", "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				_, _ = w.WriteString(tc.text) // the reader may be gone
				w.Close()
			}()
			// FD takes the descriptor over, and with it the duty to close it.
			n, err := unix.Dup(int(r.Fd()))
			if err != nil {
				t.Fatal(err)
			}
			r.Close()
			got, err := key(t, FD(n))
			if (err == nil) != tc.good || tc.good && !bytes.Equal(got, want) {
				t.Errorf("%x, %v", got, err)
			}
		})
	}
	if _, err := key(t, FD(-1)); err == nil {
		t.Error("no descriptor")
	}
}

func FuzzParseKey(f *testing.F) {
	f.Add([]byte(strings.Repeat("5a", 32)))
	f.Add([]byte(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 32))))
	f.Add([]byte(" \n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var key, again [keySize]byte
		if parse(&key, text) != nil {
			return
		}
		if err := parse(&again, []byte(hex.EncodeToString(key[:]))); err != nil || again != key {
			t.Errorf("%x became %x, %v", key, again, err)
		}
	})
}
