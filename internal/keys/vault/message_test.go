package vault

import (
	"bytes"
	"strings"
	"testing"
)

func TestNotes(t *testing.T) {
	v, _ := openVault(t, masterOf(1))
	serverKeys, err := v.LoadOrCreateServerKeys(newMemory())
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := serverKeys.SealMessage("outbox", []byte("123456"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(sealed, []byte("123456")) {
		t.Error("the message shows")
	}
	opened, err := serverKeys.OpenMessage("outbox", sealed)
	if err != nil || string(opened) != "123456" {
		t.Errorf("%q %v", opened, err)
	}
	again, err := serverKeys.SealMessage("outbox", []byte("123456"))
	if err != nil || bytes.Equal(again, sealed) {
		t.Errorf("the same message looks the same: %v", err)
	}
	damaged := bytes.Clone(sealed)
	damaged[len(damaged)-1] ^= 1
	for name, c := range map[string]struct {
		purpose string
		sealed  []byte
	}{
		"another purpose": {"elsewhere", sealed},
		"damaged":         {"outbox", damaged},
		"short":           {"outbox", sealed[:5]},
		"empty":           {"outbox", nil},
	} {
		if _, err := serverKeys.OpenMessage(c.purpose, c.sealed); err == nil || strings.Contains(err.Error(), "123456") {
			t.Errorf("%s: %v", name, err)
		}
	}

	one, err := serverKeys.MAC("otp", []byte("id code"))
	if err != nil {
		t.Fatal(err)
	}
	same, _ := serverKeys.MAC("otp", []byte("id code"))
	other, _ := serverKeys.MAC("other", []byte("id code"))
	if !bytes.Equal(one, same) || bytes.Equal(one, other) || len(one) != 32 {
		t.Errorf("%x %x %x", one, same, other)
	}
}

// TestMessageTargets opens what a client sealed to a message target, and nothing that
// was sealed to an import target: that may be a private key.
func TestMessageTargets(t *testing.T) {
	s, ciphertexts := begin(t)
	target, err := s.NewMessageTarget("code")
	if err != nil {
		t.Fatal(err)
	}
	sealed := clientSeal(t, target, []byte(`{"otp_code":"123456"}`))
	for range 2 { // wrong codes may follow each other
		opened, err := s.OpenMessageBundle("code", sealed)
		if err != nil || string(opened) != `{"otp_code":"123456"}` {
			t.Errorf("%q %v", opened, err)
		}
	}
	if _, err := s.OpenMessageBundle("code", flip(sealed)); !isFault(err) {
		t.Errorf("damaged: %v", err)
	}
	imports, err := s.NewImportTarget("import")
	if err != nil {
		t.Fatal(err)
	}
	key := clientSeal(t, imports, bytes.Repeat([]byte{7}, 32))
	if _, err := s.OpenMessageBundle("import", key); err == nil {
		t.Error("a private key was opened as a message")
	}
	if _, err := s.OpenMessageBundle("code", key); err == nil {
		t.Error("a private key was opened by another target")
	}
	if err := DropMessageTarget(ciphertexts, "code"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.OpenMessageBundle("code", sealed); err == nil {
		t.Error("a dropped target still opens")
	}
}
