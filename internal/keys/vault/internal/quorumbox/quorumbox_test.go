package quorumbox

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"latchkey/internal/keys/vault/internal/secret"
	"latchkey/internal/test/testkit"
)

// Made by encryptOauth2ClientSecret of @turnkey/crypto 2.13.2 for the public half of
// private.
const (
	private  = "1111111111111111111111111111111111111111111111111111111111111111"
	envelope = "2934a37312441363b8063a0a04e7336afaac93a587edee134fe0c96878d27dfd4e37e6d25791e774ae1bbffd3c1bc54c34b10b53bb64fe800e6bf0987cdfaeaeee4eeeb2ab1570f96c6c92449f1f0000006a9f437dbf1f8ecb3d7b59534edc557ce7b2b8852aa08d2d8f6aec072bb00e"
	content  = "a client secret"
)

func open(t testing.TB, private string, envelope []byte) ([]byte, error) {
	t.Helper()
	pool := new(secret.Pool)
	defer pool.Close()
	plain, err := Open(pool, pool.Of(testkit.Unhex(t, private)), envelope)
	if err != nil {
		return nil, err
	}
	return bytes.Clone(plain.Raw()), nil
}

func TestOpen(t *testing.T) {
	if got, err := open(t, private, testkit.Unhex(t, envelope)); err != nil || string(got) != content {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	whole := testkit.Unhex(t, envelope)
	changed := func(at int, to ...byte) []byte {
		other := bytes.Clone(whole)
		copy(other[at:], to)
		return other
	}
	for name, tt := range map[string]struct {
		private  string
		envelope []byte
		want     error
	}{
		"nothing":           {private, nil, ErrForm},
		"no tag":            {private, whole[:Overhead-1], ErrForm},
		"a byte too few":    {private, whole[:len(whole)-1], ErrForm},
		"a byte too many":   {private, append(bytes.Clone(whole), 0), ErrForm},
		"a huge length":     {private, changed(nonceSize+pointSize, 0xff, 0xff, 0xff, 0xff), ErrForm},
		"not a point":       {private, changed(nonceSize+1, bytes.Repeat([]byte{0xff}, 64)...), ErrForm},
		"a compressed one":  {private, changed(nonceSize, 2), ErrForm},
		"another nonce":     {private, changed(0, whole[0]^1), ErrOpen},
		"altered":           {private, changed(headerSize, whole[headerSize]^1), ErrOpen},
		"another's":         {"22" + private[2:], whole, ErrOpen},
		"an altered tag":    {private, changed(len(whole)-1, whole[len(whole)-1]^1), ErrOpen},
		"an empty one, bad": {private, append(changed(nonceSize+pointSize, tagSize, 0, 0, 0)[:headerSize], make([]byte, tagSize)...), ErrOpen},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := open(t, tt.private, tt.envelope); !errors.Is(err, tt.want) || got != nil {
				t.Errorf("got %q, %v; want %v", got, err, tt.want)
			}
		})
	}
}

func FuzzOpen(f *testing.F) {
	whole, err := hex.DecodeString(envelope)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:Overhead])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, sent []byte) {
		got, err := open(t, private, sent)
		switch {
		case err == nil && !bytes.Equal(sent, whole):
			t.Errorf("opened what was not sealed: %q", got)
		case err != nil && !errors.Is(err, ErrForm) && !errors.Is(err, ErrOpen):
			t.Errorf("got %v", err)
		}
	})
}
