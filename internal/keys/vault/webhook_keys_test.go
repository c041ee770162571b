package vault

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"strings"
	"testing"
)

func TestWebhookKeys(t *testing.T) {
	v, _ := openVault(t, masterOf(1))
	ciphertexts := newMemory()
	first, err := v.LoadOrCreateWebhookKeys(ciphertexts, 1)
	if err != nil {
		t.Fatal(err)
	}
	fresh, _ := openVault(t, masterOf(1))
	second, err := fresh.LoadOrCreateWebhookKeys(ciphertexts, 2)
	if err != nil {
		t.Fatal(err)
	}
	keys := second.Keys()
	if len(keys) != 2 || keys[1].ID != first.Keys()[0].ID || keys[0].ID == keys[1].ID || bytes.Equal(keys[0].Public, keys[1].Public) {
		t.Fatalf("the first key is %v, and of two they are %v", first.Keys(), keys)
	}
	for _, k := range []*WebhookKeys{first, second} {
		id, signature, err := k.SignDelivery(func(id string) []byte { return []byte("about " + id) })
		if err != nil {
			t.Fatal(err)
		}
		if newest := k.Keys()[0]; id != newest.ID || strings.Contains(id, ".") || !ed25519.Verify(newest.Public, []byte("about "+id), signature) {
			t.Errorf("a signature of key %s is not valid", id)
		}
		if shown := fmt.Sprintf("%v %+v %#v", k, k, k); strings.Contains(shown, "seed") {
			t.Errorf("keys are shown as %s", shown)
		}
	}
	for _, number := range []int{0, -1, maxWebhookKeys + 1} {
		if _, err := v.LoadOrCreateWebhookKeys(ciphertexts, number); err == nil {
			t.Errorf("there is a key %d", number)
		}
	}
	d := &sealedStore{vault: v, org: Instance, ciphertexts: ciphertexts}
	if err := d.put(kindWebhookKey, "3", v.pool.Of([]byte("short"))); err != nil {
		t.Fatal(err)
	}
	if _, err := v.LoadOrCreateWebhookKeys(ciphertexts, 3); err == nil {
		t.Error("a key of five bytes is taken")
	}
	v.Close()
	if _, _, err := first.SignDelivery(func(string) []byte { return nil }); err == nil {
		t.Error("a closed vault signs")
	}
}
