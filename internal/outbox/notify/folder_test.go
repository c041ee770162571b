package notify

import (
	"context"
	"fmt"
	"io"
	"net/mail"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data", "outbox")
	f, err := NewFolder(dir, builtin(t))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("folder %v, %v", info, err)
	}
	var want []string
	for i, k := range []Kind{OTPSMS, OTPEmail, EmailAuth, EmailRecovery} {
		m := fullMessage(k)
		// Local time and ids in the wrong order must not disturb the names'.
		m.CreatedAt = testTime.Add(time.Duration(i) * time.Millisecond).In(time.FixedZone("x", (12-i)*3600))
		m.ID = fmt.Sprintf("id-%d", 9-i)
		extension, headerName := ".eml", HeaderBundle
		if k == OTPSMS {
			extension = ".sms"
		}
		if k.isOTP() {
			headerName = HeaderCode
		}
		for range 2 { // a second time is the same file
			if err := f.Send(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		name := fmt.Sprintf("20260304T050607.%dZ-id-%d%s", 890+i, 9-i, extension)
		want = append(want, name)
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("file %v, %v", info, err)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := mail.ReadMessage(strings.NewReader(string(raw)))
		if err != nil {
			t.Fatal(err)
		}
		if got := file.Header.Get(headerName); got != m.secret() {
			t.Errorf("%s: %s is %q", k, headerName, got)
		}
		if k == OTPSMS {
			body, err := io.ReadAll(file.Body)
			if err != nil || file.Header.Get("To") != m.To || string(body) != testCode+` is your Zoë & <b>"Söhne"</b> code. Tell it to nobody.`+"\r\n" {
				t.Errorf("sms %q, %v, %v", body, file.Header, err)
			}
			continue
		}
		// But for the header it is the mail that would be sent.
		sent, err := builtin(t).mail(m, mail.Address{Name: "Latchkey", Address: "latchkey@localhost"})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Replace(string(raw), headerName+": "+m.secret()+"\r\n", "", 1); got != string(sent) {
			t.Errorf("file\n%s\nmail\n%s", raw, sent)
		}
		parseMail(t, raw)
	}
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
}

// A reader finds whole files only, and nothing is left over.
func TestFolderAtomic(t *testing.T) {
	dir := t.TempDir()
	f, err := NewFolder(dir, builtin(t))
	if err != nil {
		t.Fatal(err)
	}
	const writers, each = 4, 20
	done := make(chan struct{})
	var reading sync.WaitGroup
	reading.Go(func() {
		for {
			paths, err := filepath.Glob(filepath.Join(dir, "*.eml"))
			if err != nil {
				t.Error(err)
			}
			for _, path := range paths {
				raw, err := os.ReadFile(path)
				if err != nil || !strings.HasSuffix(string(raw), "--\r\n") {
					t.Errorf("%s is not whole: %v", path, err)
				}
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for i := range each {
				m := fullMessage(EmailAuth)
				m.ID = fmt.Sprintf("%d-%d", w/2, i) // two write the same
				if err := f.Send(t.Context(), m); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	close(done)
	reading.Wait()
	if got := names(t, dir); len(got) != writers/2*each {
		t.Errorf("%d files: %v", len(got), got)
	}
}

func TestFolderFailures(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewFolder(filepath.Join(file, "outbox"), builtin(t)); err == nil {
		t.Error("a folder in a file")
	}
	f, err := NewFolder(filepath.Join(dir, "outbox"), builtin(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantPermanent(t, f.Send(ctx, message(OTPEmail)), false)
	m := message(OTPEmail)
	m.ID = "../../x"
	wantPermanent(t, f.Send(t.Context(), m), true)
	if err := os.Remove(filepath.Join(dir, "outbox")); err != nil {
		t.Fatal(err)
	}
	wantPermanent(t, f.Send(t.Context(), message(OTPEmail)), false)
	if got := names(t, dir); !slices.Equal(got, []string{"file"}) {
		t.Errorf("files %v", got)
	}
}
