package vault

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"latchkey/internal/translog"
)

const testOrigin = "latchkey/0198c0de"

var testTime = time.Unix(1789000000, 0)

func logKeysOf(t testing.TB, v *Vault, s CiphertextStore, epoch string) *LogKeys {
	t.Helper()
	k, err := v.LoadOrCreateLogKeys(s, epoch, testOrigin)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestLogKeys(t *testing.T) {
	v, _ := openVault(t, masterOf(1))
	ciphertexts := newMemory()
	k := logKeysOf(t, v, ciphertexts, "1")
	if texts := k.VerifierKeys().Texts(); len(texts) != 2 || !strings.HasPrefix(texts[0], testOrigin+"+") || !strings.HasPrefix(texts[1], testOrigin+"+") {
		t.Fatalf("verifier keys %v", texts)
	}
	fresh, _ := openVault(t, masterOf(1))
	again := logKeysOf(t, fresh, ciphertexts, "1")
	if !slices.Equal(again.VerifierKeys().Texts(), k.VerifierKeys().Texts()) {
		t.Fatal("after a restart the log's keys are others")
	}
	next := logKeysOf(t, fresh, ciphertexts, "2")
	if slices.Equal(next.VerifierKeys().Texts(), k.VerifierKeys().Texts()) || bytes.Contains(next.seeds.Raw(), k.seeds.Raw()[:logSeedSize]) {
		t.Error("two epochs share keys")
	}
	for size := range int64(40) {
		head := translog.Head{Size: size + 1, Root: translog.Hash{byte(size)}}
		signed, err := k.SignCheckpoint(head, testTime)
		if err != nil {
			t.Fatal(err)
		}
		opened, err := translog.OpenCheckpoint(signed, again.VerifierKeys(), nil)
		if err != nil || opened.Head != head || opened.Origin != testOrigin {
			t.Fatalf("%s: %v", signed, err)
		}
	}
}

// What the keys signed once they do not contradict.
func TestLogKeysSignNoFork(t *testing.T) {
	v, _ := openVault(t, masterOf(1))
	k := logKeysOf(t, v, newMemory(), "1")
	head := translog.Head{Size: 10, Root: translog.Hash{1}}
	for range 2 { // the same tree again is no fork
		if _, err := k.SignCheckpoint(head, testTime); err != nil {
			t.Fatal(err)
		}
	}
	for name, fork := range map[string]translog.Head{
		"smaller": {Size: 9, Root: translog.Hash{2}}, "of the same size": {Size: 10, Root: translog.Hash{2}}, "empty": translog.EmptyHead(),
	} {
		if signed, err := k.SignCheckpoint(fork, testTime); err == nil || !strings.Contains(err.Error(), "contradicts") {
			t.Errorf("%s: %s, %v", name, signed, err)
		}
	}
	if _, err := k.SignCheckpoint(translog.Head{Size: 11}, time.Time{}); err == nil {
		t.Error("signed without a time")
	}
	if _, err := k.SignCheckpoint(head, testTime); err != nil {
		t.Errorf("what was refused counts: %v", err)
	}
}

func TestDamagedLogKeys(t *testing.T) {
	v, _ := openVault(t, masterOf(1))
	for name, plain := range map[string][]byte{"short": make([]byte, 63), "zeros": make([]byte, 64)} {
		ciphertexts := newMemory()
		d := &sealedStore{vault: v, org: Instance, ciphertexts: ciphertexts}
		if err := d.put(kindLogKeys, "1", v.pool.Of(plain)); err != nil {
			t.Fatal(err)
		}
		if _, err := v.LoadOrCreateLogKeys(ciphertexts, "1", testOrigin); err == nil || !strings.Contains(err.Error(), `epoch "1"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ciphertexts := newMemory()
	logKeysOf(t, v, ciphertexts, "1")
	ciphertexts.items["log-keys/2"] = ciphertexts.items["log-keys/1"] // of another epoch
	if _, err := v.LoadOrCreateLogKeys(ciphertexts, "2", testOrigin); err == nil {
		t.Error("the keys of another epoch are taken")
	}
	for _, origin := range []string{"", "two words", "a+b", strings.Repeat("x", 256)} {
		if _, err := v.LoadOrCreateLogKeys(newMemory(), "1", origin); err == nil {
			t.Errorf("origin %.20q is taken", origin)
		}
	}
	if _, err := v.LoadOrCreateLogKeys(newMemory(), "", testOrigin); err == nil {
		t.Error("keys without an epoch")
	}
}

func TestLogKeysAreWiped(t *testing.T) {
	v, _ := openVault(t, masterOf(1))
	k := logKeysOf(t, v, newMemory(), "1")
	if text := fmt.Sprintf("%v %+v %#v", k, k, k); text != "[log keys] [log keys] [log keys]" {
		t.Error(text)
	}
	v.Close()
	if k.seeds.Raw() != nil {
		t.Error("the seeds are still there")
	}
	if _, err := k.SignCheckpoint(translog.Head{Size: 1}, testTime); err == nil {
		t.Error("a closed vault signs")
	}
	if _, err := v.LoadOrCreateLogKeys(newMemory(), "1", testOrigin); err == nil {
		t.Error("a closed vault has log keys")
	}
}
