package passkey_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"slices"
	"testing"
	"time"

	"latchkey/internal/proof/passkey"
	"latchkey/internal/proof/passkey/passkeytest"
)

type registration = passkeytest.Registration

// corruption is one way to change a registration before or after it is attested.
type corruption struct {
	name   string
	before func(*registration)
	after  func(*registration)
	want   string
}

// certificate changes the template of the certificate.
func certificate(change func(*x509.Certificate)) func(*registration) {
	return func(r *registration) { r.Certificate = change }
}

func member(name string, value any) func(*registration) {
	return func(r *registration) { r.Statement[name] = value }
}

func without(name string) func(*registration) {
	return func(r *registration) { delete(r.Statement, name) }
}

// flip changes the last byte of a member of the statement.
func flip(name string) func(*registration) {
	return func(r *registration) {
		b := slices.Clone(r.Statement[name].([]byte))
		b[len(b)-1] ^= 1
		r.Statement[name] = b
	}
}

// everyStatement lists what corrupts the statements of all formats but none. The
// data that are changed are well-formed: only the statement can tell.
func everyStatement(notVerified string) []corruption {
	return []corruption{
		{"other client data", nil, func(r *registration) { r.ClientData = append(r.ClientData, ' ') }, notVerified},
		{"other relying party", nil, func(r *registration) { r.AuthData[0] ^= 1 }, notVerified},
		{"other id", nil, func(r *registration) {
			r.ID = slices.Clone(r.ID)
			r.ID[0] ^= 1
			r.AuthData[55] ^= 1
		}, notVerified},
	}
}

// certified lists what corrupts x5c.
func certified(format string) []corruption {
	return []corruption{
		{"x5c text", nil, member("x5c", "x"), "wrong x5c"},
		{"x5c null", nil, member("x5c", nil), "wrong x5c"},
		{"x5c empty", nil, member("x5c", []any{}), "wrong x5c"},
		{"x5c of text", nil, member("x5c", []any{"x"}), "wrong x5c"},
		{"x5c of something else", nil, member("x5c", []any{[]byte("x")}), "wrong x5c"},
		{"x5c with a bad second", nil, func(r *registration) { r.Statement["x5c"] = append(r.Statement["x5c"].([]any), []byte("x")) }, "wrong x5c"},
		{"x5c with a truncated certificate", nil, func(r *registration) {
			der := r.Statement["x5c"].([]any)[0].([]byte)
			r.Statement["x5c"] = []any{der[:len(der)-1]}
		}, "wrong x5c"},
		{"x5c of a huge RSA key", nil, member("x5c", []any{hugeCertificate()}), "at most 4096"},
		{"another certificate", nil, func(r *registration) { r.Statement["x5c"] = []any{plainCertificate()} }, "of format " + format + " that does not verify"},
	}
}

func TestRefusedStatements(t *testing.T) {
	keys := spareKeys{passkeytest.ES256: passkeytest.New(t, passkeytest.ES256), passkeytest.RS256: passkeytest.New(t, passkeytest.RS256)}
	tests := map[passkeytest.Format][]corruption{
		passkeytest.PackedSelf: keys.corruptPackedSelf(),
		passkeytest.Packed:     keys.corruptPacked(),
		passkeytest.FIDOU2F:    keys.corruptFIDOU2F(),
		passkeytest.Apple:      keys.corruptApple(),
		passkeytest.AndroidKey: keys.corruptAndroidKey(),
		passkeytest.TPM:        keys.corruptTPM(),
	}
	each(t, func(t *testing.T, key *passkeytest.Key) {
		if key.Format == passkeytest.None {
			return // has no statement to corrupt
		}
		if len(tests[key.Format]) < 10 {
			t.Fatalf("only %d tests of %s", len(tests[key.Format]), key.Format)
		}
		for _, tt := range tests[key.Format] {
			t.Run(tt.name, func(t *testing.T) {
				r := key.Begin(challenge, origin)
				if tt.before != nil {
					tt.before(r)
				}
				r.Attest()
				if tt.after != nil {
					tt.after(r)
				}
				_, err := passkey.Verify(r.Answer(), nil)
				wantRefusal(t, err, fieldObject, tt.want)
			})
		}
	})
}

// spareKeys are further keys, by their algorithm.
type spareKeys map[passkeytest.Algorithm]*passkeytest.Key

// replace puts another key of the same kind into the authenticator data.
func (k spareKeys) replace(r *registration) {
	const before = 32 + 1 + 4 + 16 + 2
	r.AuthData = slices.Concat(r.AuthData[:before+len(r.ID)], k[r.Key.Algorithm()].COSEKey())
}

const notOverAuthData = "does not verify: sig must be over authData"

func (k spareKeys) corruptPackedSelf() []corruption {
	return slices.Concat(everyStatement(notOverAuthData), []corruption{
		{"other key", nil, k.replace, notOverAuthData},
		{"other counter", nil, func(r *registration) { r.AuthData[36] ^= 1 }, notOverAuthData},
		{"other flags", nil, func(r *registration) { r.AuthData[32] ^= passkeytest.UserVerified }, notOverAuthData},
		{"other AAGUID", nil, func(r *registration) { r.AuthData[40] ^= 1 }, notOverAuthData},
		{"corrupted signature", nil, flip("sig"), notOverAuthData},
		{"signature with a byte more", nil, func(r *registration) { r.Statement["sig"] = append(r.Statement["sig"].([]byte), 0) }, notOverAuthData},
		{"empty signature", nil, member("sig", []byte{}), notOverAuthData},
		{"algorithm of another key", nil, func(r *registration) {
			r.Statement["alg"] = map[passkeytest.Algorithm]int{passkeytest.ES256: -257, passkeytest.RS256: -7}[r.Key.Algorithm()]
		}, notOverAuthData},
		{"algorithm text", nil, member("alg", "ES256"), "wrong alg"},
		{"algorithm positive", nil, member("alg", 7), "wrong alg"},
		{"no algorithm", nil, without("alg"), "without alg"},
		{"signature text", nil, member("sig", "x"), "wrong sig"},
		{"no signature", nil, without("sig"), "without sig"},
		{"ECDAA", nil, member("ecdaaKeyId", []byte{1}), `member "ecdaaKeyId": the format packed has only alg, sig, x5c`},
		{"x5c text", nil, member("x5c", "x"), "wrong x5c"},
		{"x5c null", nil, member("x5c", nil), "wrong x5c"},
	})
}

func (k spareKeys) corruptPacked() []corruption {
	return slices.Concat(everyStatement(notOverAuthData), certified("packed"), []corruption{
		{"other key", nil, k.replace, notOverAuthData},
		{"other counter", nil, func(r *registration) { r.AuthData[36] ^= 1 }, notOverAuthData},
		{"corrupted signature", nil, flip("sig"), notOverAuthData},
		{"signed by the new key", nil, func(r *registration) {
			self := *r
			self.Key = &passkeytest.Key{ID: r.ID, Private: r.Key.Private, RPID: r.Key.RPID, Format: passkeytest.PackedSelf}
			self.Attest()
			r.Statement["sig"] = self.Statement["sig"]
		}, notOverAuthData},
		{"certificate left out", nil, without("x5c"), notOverAuthData},
		{"unknown algorithm", nil, member("alg", -999), notOverAuthData},
		{"other AAGUID", certificate(func(c *x509.Certificate) {
			c.ExtraExtensions = []pkix.Extension{{Id: passkeytest.OIDAAGUID, Value: append([]byte{4, 16}, make([]byte, 16)...)}}
		}), nil, notOverAuthData},
		{"critical AAGUID", certificate(func(c *x509.Certificate) { c.ExtraExtensions[0].Critical = true }), nil, notOverAuthData},
		{"of an authority", certificate(func(c *x509.Certificate) { c.IsCA = true }), nil, notOverAuthData},
		{"other unit", certificate(func(c *x509.Certificate) { c.Subject.OrganizationalUnit = []string{"x"} }), nil, notOverAuthData},
		{"no country", certificate(func(c *x509.Certificate) { c.Subject.Country = nil }), nil, notOverAuthData},
		{"expired", certificate(func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }), nil, notOverAuthData},
	})
}

func (k spareKeys) corruptFIDOU2F() []corruption {
	rsaKey := k[passkeytest.RS256]
	return slices.Concat(everyStatement("does not verify: sig must be over the registration data"), certified("fido-u2f"), []corruption{
		{"other key", nil, k.replace, "does not verify: sig must be"},
		{"RSA key", nil, func(r *registration) { r.AuthData = rsaKey.AuthData(r.ID, rsaKey.COSEKey(), nil) }, "for an ES256 key"},
		{"corrupted signature", nil, flip("sig"), "does not verify: sig must be"},
		{"no signature", nil, without("sig"), "without sig"},
		{"no certificate", nil, without("x5c"), "without x5c"},
		{"two certificates", nil, func(r *registration) {
			one := r.Statement["x5c"].([]any)[0]
			r.Statement["x5c"] = []any{one, one}
		}, "the one valid certificate"},
		{"algorithm", nil, member("alg", -7), `member "alg"`},
	})
}

func (k spareKeys) corruptApple() []corruption {
	return slices.Concat(everyStatement("does not verify: the nonce in the first certificate"), certified("apple"), []corruption{
		{"other key, other nonce", nil, k.replace, "does not verify: the nonce"},
		{"other key, right nonce", k.replace, nil, "must be that of the new key"}, // the certificate is made for the old one
		{"wrong nonce", certificate(func(c *x509.Certificate) {
			v := c.ExtraExtensions[0].Value
			v[len(v)-1] ^= 1
		}), nil, "does not verify: the nonce"},
		{"nonce of zeros", certificate(func(c *x509.Certificate) {
			c.ExtraExtensions[0].Value = nonce(make([]byte, 32))
		}), nil, "does not verify: the nonce"},
		{"empty nonce", certificate(func(c *x509.Certificate) { c.ExtraExtensions[0].Value = nonce(nil) }), nil, "does not verify: the nonce"},
		{"bytes after the nonce", certificate(func(c *x509.Certificate) {
			c.ExtraExtensions[0].Value = append(c.ExtraExtensions[0].Value, 0)
		}), nil, "must hold a nonce"},
		{"nonce unreadable", certificate(func(c *x509.Certificate) { c.ExtraExtensions[0].Value = []byte{5, 0} }), nil, "must hold a nonce"},
		{"no nonce", certificate(func(c *x509.Certificate) { c.ExtraExtensions = nil }), nil, "must have the extension 1.2.840.113635.100.8.2"},
		{"issuer first", nil, func(r *registration) { slices.Reverse(r.Statement["x5c"].([]any)) }, "must have the extension"},
		{"no certificate", nil, without("x5c"), "without x5c"},
		{"signature", nil, member("sig", []byte{1}), "the format apple has only x5c"},
	})
}

func (k spareKeys) corruptAndroidKey() []corruption {
	return slices.Concat(everyStatement(notOverAuthData), certified("android-key"), []corruption{
		{"other key", nil, k.replace, "must be that of the new key"},
		{"other counter", nil, func(r *registration) { r.AuthData[36] ^= 1 }, "sig must be over"},
		{"corrupted signature", nil, flip("sig"), "sig must be over"},
		{"other algorithm", nil, member("alg", -37), "alg must be the algorithm of the new key"},
		{"no algorithm", nil, without("alg"), "without alg"},
		{"no signature", nil, without("sig"), "without sig"},
		{"no certificate", nil, without("x5c"), "without x5c"},
		{"no description", certificate(func(c *x509.Certificate) { c.ExtraExtensions = nil }), nil, "must have the extension 1.3.6.1.4.1.11129.2.1.17"},
		{"description unreadable", certificate(func(c *x509.Certificate) { c.ExtraExtensions[0].Value = []byte{0x30, 0} }), nil, "must hold a key description"},
		{"bytes after the description", certificate(func(c *x509.Certificate) {
			c.ExtraExtensions[0].Value = append(c.ExtraExtensions[0].Value, 0)
		}), nil, "must hold a key description"},
		describe("other challenge", func(d *passkeytest.KeyDescription) { d.Challenge = make([]byte, 32) }, "attestationChallenge"),
		describe("no challenge", func(d *passkeytest.KeyDescription) { d.Challenge = nil }, "attestationChallenge"),
		describe("all applications in hardware", func(d *passkeytest.KeyDescription) {
			d.Hardware = append(d.Hardware, passkeytest.AllApplications())
		}, "allApplications must be absent"),
		describe("all applications in software", func(d *passkeytest.KeyDescription) {
			d.Software = append(d.Software, passkeytest.AllApplications())
		}, "allApplications must be absent"),
		describe("imported", func(d *passkeytest.KeyDescription) { d.Hardware[1] = passkeytest.Origin(2) }, "origin in the key description"),
		describe("imported says software", func(d *passkeytest.KeyDescription) {
			d.Software = append(d.Software, passkeytest.Origin(2))
		}, "origin in the key description"),
		describe("of unknown origin", func(d *passkeytest.KeyDescription) { d.Hardware = d.Hardware[:1] }, "origin in the key description"),
		describe("for encryption", func(d *passkeytest.KeyDescription) { d.Hardware[0] = passkeytest.Purpose(0, 1) }, "purpose in the key description"),
		describe("for nothing", func(d *passkeytest.KeyDescription) { d.Hardware = d.Hardware[1:] }, "purpose in the key description"),
	})
}

func (k spareKeys) corruptTPM() []corruption {
	return slices.Concat(everyStatement("does not verify: pubArea must hold"), certified("tpm"), []corruption{
		{"other key", nil, k.replace, "does not verify: pubArea"},
		{"other counter", nil, func(r *registration) { r.AuthData[36] ^= 1 }, "does not verify: pubArea"},
		{"corrupted signature", nil, flip("sig"), "does not verify: pubArea"},
		{"corrupted certInfo", nil, flip("certInfo"), "does not verify: pubArea"},
		{"corrupted pubArea", nil, flip("pubArea"), "does not verify: pubArea"},
		{"truncated certInfo", nil, func(r *registration) { r.Statement["certInfo"] = r.Statement["certInfo"].([]byte)[:20] }, "does not verify: pubArea"},
		{"empty pubArea", nil, member("pubArea", []byte{}), "does not verify: pubArea"},
		{"pubArea text", nil, member("pubArea", "x"), "wrong pubArea"},
		{"certInfo text", nil, member("certInfo", "x"), "wrong certInfo"},
		{"TPM 1.2", nil, member("ver", "1.2"), "does not verify: pubArea"},
		{"version bytes", nil, member("ver", []byte("2.0")), "wrong ver"},
		{"no version", nil, without("ver"), "without ver"},
		{"no certInfo", nil, without("certInfo"), "without certInfo"},
		{"no pubArea", nil, without("pubArea"), "without pubArea"},
		{"unknown algorithm", nil, member("alg", -999), "does not verify: pubArea"},
		certify("wrong magic", func(c *passkeytest.Certification) { c.Magic = 1 }),
		certify("a quote", func(c *passkeytest.Certification) { c.Type = 0x8018 }),
		certify("other data", func(c *passkeytest.Certification) { c.ExtraData = make([]byte, 32) }),
		certify("other name", func(c *passkeytest.Certification) { c.Name = passkeytest.TPMName([]byte("other")) }),
		certify("other attributes", func(c *passkeytest.Certification) { c.PubArea[7] ^= 1 }), // the name is that of the old ones
		certify("other key in pubArea", func(c *passkeytest.Certification) {
			c.PubArea[len(c.PubArea)-1] ^= 1
			c.Name = passkeytest.TPMName(c.PubArea)
		}),
		{"subject in the certificate", certificate(func(c *x509.Certificate) { c.Subject.CommonName = "x" }), nil, "section 8.3.1"},
		{"no usage in the certificate", certificate(func(c *x509.Certificate) { c.UnknownExtKeyUsage = nil }), nil, "section 8.3.1"},
		{"no maker in the certificate", certificate(func(c *x509.Certificate) { c.ExtraExtensions = nil }), nil, "section 8.3.1"},
		{"expired", certificate(func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }), nil, "section 8.3.1"},
	})
}

// TestAndroidLists checks that both lists count, and that other authorizations
// are ignored.
func TestAndroidLists(t *testing.T) {
	key := passkeytest.New(t, passkeytest.ES256)
	key.Format = passkeytest.AndroidKey
	r := key.Begin(challenge, origin)
	r.Describe = func(d *passkeytest.KeyDescription) {
		d.Software = []passkeytest.Authorization{passkeytest.Purpose(2, 3), passkeytest.KeySize(256)}
		d.Hardware = []passkeytest.Authorization{passkeytest.KeySize(256), passkeytest.Origin(0)}
	}
	r.Attest()
	if _, err := passkey.Verify(r.Answer(), nil); err != nil {
		t.Error(err)
	}
}

// TestExpiredCertificates checks that the two formats whose statements are not
// signed by a lasting key do not depend on the day.
func TestExpiredCertificates(t *testing.T) {
	for _, format := range []passkeytest.Format{passkeytest.Apple, passkeytest.AndroidKey} {
		t.Run(string(format), func(t *testing.T) {
			key := passkeytest.New(t, passkeytest.ES256)
			key.Format = format
			r := key.Begin(challenge, origin)
			r.Certificate = func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }
			r.Attest()
			if _, err := passkey.Verify(r.Answer(), nil); err != nil {
				t.Error(err)
			}
		})
	}
}

func describe(name string, change func(*passkeytest.KeyDescription), want string) corruption {
	return corruption{name, func(r *registration) { r.Describe = change }, nil, want}
}

func certify(name string, change func(*passkeytest.Certification)) corruption {
	return corruption{name, func(r *registration) { r.Certify = change }, nil, "does not verify: pubArea"}
}

func nonce(value []byte) []byte {
	der, err := asn1.Marshal(struct {
		Nonce []byte `asn1:"tag:1,explicit"`
	}{value})
	if err != nil {
		panic(err)
	}
	return der
}

// plainCertificate is one that attests nothing.
func plainCertificate() []byte {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	return selfSigned(key.Public(), key)
}

// hugeCertificate has an RSA key that takes long to verify with. It needs no
// primes: nothing was ever signed by it.
func hugeCertificate() []byte {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	n := new(big.Int).Lsh(big.NewInt(1), 8191)
	return selfSigned(&rsa.PublicKey{N: n.Add(n, big.NewInt(1)), E: 65537}, key)
}

func selfSigned(public any, key *ecdsa.PrivateKey) []byte {
	id := sha256.Sum256(nil)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), SubjectKeyId: id[:], NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	if err != nil {
		panic(err)
	}
	return der
}
