package secret

import (
	"bytes"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"pgregory.net/rapid"
)

// No verb and no flag prints a secret.
func TestNeverPrinted(t *testing.T) {
	var pool Pool
	defer pool.Close()
	rapid.Check(t, func(t *rapid.T) {
		plain := rapid.SliceOfN(rapid.Byte(), 8, 64).Draw(t, "secret")
		s := pool.Of(bytes.Clone(plain))
		defer s.Wipe()
		flags := rapid.SampledFrom([]string{"", "+", "#", "-", " ", "0", "+#", "20", ".3"}).Draw(t, "flags")
		verb := rapid.SampledFrom(strings.Split("v s q x X d o O b c U e f g t T p w", " ")).Draw(t, "verb")
		got := fmt.Sprintf("%"+flags+verb, s)
		if verb == "T" || verb == "p" { // fmt answers these itself: type and address
			if strings.Contains(got, hex.EncodeToString(plain)) {
				t.Fatal(got)
			}
			return
		}
		if verb == "w" { // wrong outside Errorf, and fmt does not ask Format then
			shown(t, got, plain)
		} else if got != hidden {
			t.Fatalf("%%%s%s prints %q", flags, verb, got)
		}
		for _, nested := range []any{*s, []any{s}, map[string]any{"k": s}, struct{ s *Bytes }{s}, struct{ s Bytes }{*s}} {
			shown(t, fmt.Sprintf("%"+flags+verb, nested), plain)
		}
	})
}

// shown fails when text has the bytes in some form.
func shown(t *rapid.T, text string, plain []byte) {
	for _, form := range []string{
		string(plain), hex.EncodeToString(plain), strings.ToUpper(hex.EncodeToString(plain)),
		strings.Trim(fmt.Sprint(plain), "[]"), fmt.Sprintf("% x", plain), strings.Trim(fmt.Sprintf("%#v", plain), "[]byte{}"),
	} {
		if strings.Contains(text, form) {
			t.Fatalf("%q is in %q", form, text)
		}
	}
}

func TestNeverMarshalled(t *testing.T) {
	var pool Pool
	s := pool.Of([]byte("the secret text"))
	if _, err := json.Marshal(s); err == nil {
		t.Error("encoding/json marshals it")
	}
	if _, err := jsonv2.Marshal(struct{ S *Bytes }{s}); err == nil {
		t.Error("json v2 marshals it")
	}
	if err := gob.NewEncoder(io.Discard).Encode(s); err == nil {
		t.Error("gob marshals it")
	}
	if _, err := s.MarshalText(); err == nil {
		t.Error("it has a text")
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "secret", s)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", s)
	if strings.Contains(log.String(), "secret text") || s.String() != hidden || s.GoString() != hidden {
		t.Errorf("logged: %s", log.String())
	}
}

func TestWipe(t *testing.T) {
	var pool Pool
	defer pool.Close()
	for _, n := range []int{1, smallSlot, smallSlot + 1, largeSlot} {
		s := pool.Random(n)
		memory := s.Raw()
		s.Wipe()
		s.Wipe() // does nothing
		if !bytes.Equal(memory, make([]byte, n)) {
			t.Errorf("%d bytes are still there", n)
		}
		if s.Raw() != nil || s.Len() != 0 {
			t.Errorf("%d bytes can still be used", n)
		}
	}
	(*Bytes)(nil).Wipe()
	(&Bytes{}).Wipe()

	original := []byte("original")
	moved := pool.Of(original)
	if string(moved.Raw()) != "original" || !bytes.Equal(original, make([]byte, 8)) {
		t.Error("a secret that was moved is still where it was")
	}
	whole := moved.Raw()
	moved.Shrink(3)
	if string(moved.Raw()) != "ori" || !bytes.Equal(whole[3:], make([]byte, 5)) {
		t.Error("what was cut off is still there")
	}
}

func TestPool(t *testing.T) {
	var pool Pool
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			var held []*Bytes
			for i := range 2000 {
				n := []int{32, 66, 130, 900, 5000}[(i+worker)%5]
				s := pool.New(n)
				if !bytes.Equal(s.Raw(), make([]byte, n)) {
					t.Error("new memory is not zero")
				}
				for j := range s.Raw() {
					s.Raw()[j] = byte(worker + 1)
				}
				if held = append(held, s); len(held) > 20 {
					old := held[0]
					if old.Raw()[0] != byte(worker+1) || old.Raw()[old.Len()-1] != byte(worker+1) {
						t.Error("memory is shared")
					}
					old.Wipe()
					held = held[1:]
				}
			}
			for _, s := range held {
				s.Wipe()
			}
		})
	}
	group.Wait()
	if len(pool.own) != 0 {
		t.Errorf("%d large secrets are still mapped", len(pool.own))
	}
	regions := len(pool.regions)
	if regions > 20 {
		t.Errorf("%d regions for 160 secrets at a time", regions)
	}
	pool.Close()
	if s := pool.New(10); s.Len() != 10 {
		t.Error("a closed pool is not empty again")
	}
}
