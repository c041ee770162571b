package curve

import (
	"bytes"
	"strings"
	"testing"
)

func TestParseDER(t *testing.T) {
	ones, twos := strings.Repeat("11", 30), strings.Repeat("22", 32)
	high := strings.Repeat("ff", 32)
	long := strings.Repeat("00", 80) // leading zeros beyond the short form
	tests := []struct {
		name string
		sig  string
		r, s string
		want string // part of the error; empty: the signature is well-formed
	}{
		{"small", "3006020101020102", "01", "02", ""},
		{"zeros", "3006020100020100", "", "", ""},
		{"sign byte", "30080202008002020080", "80", "80", ""},
		{"sign byte left out", "3006020180020181", "80", "81", ""},
		{"full size, negative-looking", "30440220" + high + "0220" + high, high, high, ""},
		{"not minimal, as wallets write", "30440220007f" + ones + "0220" + twos, "7f" + ones, twos, ""},
		{"not minimal by many", "300a02050000000001020102", "01", "02", ""},
		{"33 bytes that are zeros", "3026022100" + strings.Repeat("00", 32) + "020101", "", "01", ""},
		{"long form of a short length", "308106020101020102", "01", "02", ""},
		{"long form within", "300702810101020102", "01", "02", ""},
		{"long form needed", "308188" + "0251" + long + "01" + "0233" + strings.Repeat("00", 50) + "02", "01", "02", ""},
		{"long form, too large", "308189" + "0251" + long + "01" + "0233" + strings.Repeat("00", 50) + "02", "", "", "claims 137 bytes, but 136 follow"},
		{"empty", "", "", "", "ends where sequence should begin"},
		{"tag only", "30", "", "", "ends where sequence should begin"},
		{"length missing", "3081", "", "", "ends within a length"},
		{"not a sequence", "3106020101020102", "", "", "begins with the byte 31 instead of 30"},
		{"raw r and s", high + high, "", "", "begins with the byte ff"},
		{"length too large", "3007020101020102", "", "", "claims 7 bytes, but 6 follow"},
		{"length too small", "3005020101020102", "", "", "1 bytes follow the signature"},
		{"trailing byte", "300602010102010200", "", "", "1 bytes follow the signature"},
		{"trailing byte within", "300702010102010200", "", "", "1 bytes follow s"},
		{"third integer", "3009020101020102020103", "", "", "3 bytes follow s"},
		{"one integer", "3003020101", "", "", "ends where s should begin"},
		{"no integer", "3000", "", "", "ends where r should begin"},
		{"r is no integer", "3006040101020102", "", "", "r begins with the byte 04"},
		{"s is no integer", "3006020101050102", "", "", "s begins with the byte 05"},
		{"r empty", "30050200020102", "", "", "r is an integer of no bytes"},
		{"s empty", "30050201010200", "", "", "s is an integer of no bytes"},
		{"r swallows s", "3006020401020102", "", "", "ends where s should begin"},
		{"s claims more", "3006020101020202", "", "", "s claims 2 bytes, but 1 follow"},
		{"r of 33 bytes", "3026022101" + strings.Repeat("00", 32) + "020101", "", "", "at most 32"},
		{"s of 33 bytes", "3026020101022101" + strings.Repeat("00", 32), "", "", "at most 32"},
		{"indefinite length", "30800201010201020000", "", "", "unsupported length byte 80"},
		{"two length bytes", "30820006020101020102", "", "", "unsupported length byte 82"},
		{"huge length", "3084ffffffff020101020102", "", "", "unsupported length byte 84"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, s, err := ParseDER(unhex(t, tt.sig))
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("got %x, %x and error %v, want an error with %q", r, s, err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(r, unhex(t, tt.r)) || !bytes.Equal(s, unhex(t, tt.s)) {
				t.Errorf("got %x, %x", r, s)
			}
		})
	}
}

// Every proper prefix of a signature must be refused, not read as another.
func TestParseDERTruncated(t *testing.T) {
	sig := unhex(t, p256Sig)
	for n := range sig {
		if r, s, err := ParseDER(sig[:n]); err == nil {
			t.Errorf("the first %d bytes were read as %x, %x", n, r, s)
		}
	}
}

// Whatever parses has a canonical form, which parses to the same numbers and
// encodes to itself.
func FuzzParseDER(f *testing.F) {
	for _, seed := range []string{
		p256Sig, k256Sig, "3006020101020102", "3006020180020181", "3006020100020100",
		"308106020101020102", "300702810101020102", "30050200020102",
		"30440220007f" + strings.Repeat("11", 30) + "0220" + strings.Repeat("22", 32),
	} {
		f.Add(unhex(f, seed))
	}
	f.Fuzz(func(t *testing.T, sig []byte) {
		r, s, err := ParseDER(sig)
		if err != nil {
			return
		}
		if len(r) > 32 || len(s) > 32 || len(r) > 0 && r[0] == 0 || len(s) > 0 && s[0] == 0 {
			t.Fatalf("%x was read as %x, %x", sig, r, s)
		}
		der := encodeDER(r, s)
		r2, s2, err := ParseDER(der)
		if err != nil || !bytes.Equal(r, r2) || !bytes.Equal(s, s2) {
			t.Fatalf("%x, %x became %x, %x, %v", r, s, r2, s2, err)
		}
		if again := encodeDER(r2, s2); !bytes.Equal(again, der) {
			t.Fatalf("%x encodes as %x", der, again)
		}
	})
}

// encodeDER writes r and s in the one canonical form. They must be as ParseDER
// returns them: without leading zeros, and of at most 32 bytes.
func encodeDER(r, s []byte) []byte {
	der := make([]byte, 2, 2+2*(2+1+coordinateSize))
	for _, v := range [][]byte{r, s} {
		// Zero needs a byte, and the top bit of the first byte is the sign.
		if len(v) == 0 || v[0] >= 0x80 {
			der = append(der, tagInteger, byte(1+len(v)), 0)
		} else {
			der = append(der, tagInteger, byte(len(v)))
		}
		der = append(der, v...)
	}
	der[0], der[1] = tagSequence, byte(len(der)-2)
	return der
}
