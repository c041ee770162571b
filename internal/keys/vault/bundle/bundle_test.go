package bundle

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"latchkey/internal/fault"
	"latchkey/internal/test/testkit"
)

const (
	testOrg  = "f9a31c64-d604-42e4-9bef-a773096afad7"
	testUser = "ef7e305c-f085-4a32-accf-939d8373f2ac"
)

// recorded signs what it once signed, so that a text can be compared whole.
type recorded struct {
	public, signature string
	err               error
	data              []byte
}

func (r *recorded) SignerPublicKey() string { return r.public }

func (r *recorded) SignBundle(data []byte) ([]byte, error) {
	r.data = bytes.Clone(data)
	der, err := hex.DecodeString(r.signature)
	return der, errors.Join(err, r.err)
}

var unhex = testkit.Unhex

// The envelopes of wire.md, Appendix A.3 and A.4, which clients accepted: ours
// have the same bytes, and their signatures verify.
func TestExamples(t *testing.T) {
	for _, text := range []string{
		`{"version":"v1.0.0","data":"7b227461726765745075626c6963223a2230343531613735383038333338393865613162313833636264373335306134303939303738633665663163316531386539373063643736383330333566323565376430313130353232373132623062356137636666303831363835343836393834613934653638333165646163343665373336306661396438333461376138316131222c226f7267616e697a6174696f6e4964223a2266396133316336342d643630342d343265342d396265662d613737333039366166616437222c22757365724964223a2265663765333035632d663038352d346133322d616363662d393339643833373366326163227d","dataSignature":"3045022100c28f7a01b4147a3ec192b7a497eea0d69b4983aae25f7fcc9e238889e18a12bb02200e75767f81e3954b47a24ab8732b4f7005ac8e63fd3ae8271f14c0b64578e761","enclaveQuorumPublic":"040217e617f0b6443928278f96999e69a23a4f2c152bdf6d6cdf66e5b80282d4ed194a7debcb97712d2dda3ca85aa8765a56f45fc758599652f2897c65306e5794"}`,
		`{"version":"v1.0.0","data":"7b22656e6361707065645075626c6963223a2230346264393539366562646230643731323036653765623935656533343134383530393161376538383664363462353831616332386433646135613561326230346263663261363365623834356166613763613563303464653262376633613262646533616463326561396264323434633836623937653630666633333430323239222c2263697068657274657874223a22356165616363656264313866646438613339616636643538373866396439663662363033323430303461323530656636646561383433643636306636373365366161646164633062373666623265643738656535343865633361653164333864222c226f7267616e697a6174696f6e4964223a2266396133316336342d643630342d343265342d396265662d613737333039366166616437227d","dataSignature":"30450220484087f4ef6c5d92ed85024abd17b73c22060b7b679ed8374263fde386aa2bd5022100cc940a2da8f1e85c25b2183de5c09347783992fcfc82f195779dfe82252b7c12","enclaveQuorumPublic":"040217e617f0b6443928278f96999e69a23a4f2c152bdf6d6cdf66e5b80282d4ed194a7debcb97712d2dda3ca85aa8765a56f45fc758599652f2897c65306e5794"}`,
		`{"version":"v1.0.0","data":"7b22656e6361707065645075626c6963223a2230343865356464383337336232643362626166346536353064356539323039383062396363363632373738393164626532666464303334366463356131383865303365396233633633643338316463343932666236333934396131663465323538373763653765353965326534633634393761613934323464336563653065653766222c2263697068657274657874223a22373564646635653964656563633235313661653239356133663035663333336463363835393164373930623837663665643537303232393561323937623039653562393766396463636238643236313333633762326538643834396233313464616234343937396161333630396133623164383163623364643062363931363765633263623832336564383633623434396165303031376638636232373061376432363839383734383961303333363538646237303661623033222c226f7267616e697a6174696f6e4964223a2266396133316336342d643630342d343265342d396265662d613737333039366166616437227d","dataSignature":"3044022028b7e0971d3aca883ebf8a159116ade55386daf6cbdb1cefac87fead92df17df022058516f32e97b3e7b6cfb1d533ef8fc2e5816cb704dc22fdd438df466dedb1bb3","enclaveQuorumPublic":"040217e617f0b6443928278f96999e69a23a4f2c152bdf6d6cdf66e5b80282d4ed194a7debcb97712d2dda3ca85aa8765a56f45fc758599652f2897c65306e5794"}`,
	} {
		var e envelope
		if err := json.Unmarshal([]byte(text), &e, json.RejectUnknownMembers(true)); err != nil {
			t.Fatal(err)
		}
		data := unhex(t, e.Data)
		signer := &recorded{public: e.Signer, signature: e.Signature}
		var in map[string]string
		if err := json.Unmarshal(data, &in); err != nil {
			t.Fatal(err)
		}
		var got string
		var err error
		if in["targetPublic"] != "" {
			got, err = Target(signer, unhex(t, in["targetPublic"]), in["organizationId"], in["userId"])
		} else {
			got, err = Export(signer, unhex(t, in["encappedPublic"]), unhex(t, in["ciphertext"]), in["organizationId"])
		}
		if err != nil || got != text {
			t.Errorf("%v\n%s, want\n%s", err, got, text)
		}
		key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), unhex(t, e.Signer))
		if err != nil {
			t.Fatal(err)
		}
		if digest := sha256.Sum256(signer.data); !ecdsa.VerifyASN1(key, digest[:], unhex(t, e.Signature)) {
			t.Error("the signature is over other bytes")
		}
	}
}

func TestSignerFails(t *testing.T) {
	bad := &recorded{err: errors.New("no")}
	if _, err := Target(bad, nil, testOrg, testUser); err == nil {
		t.Error("a target without a signature")
	}
	if _, err := Export(bad, nil, nil, testOrg); err == nil {
		t.Error("an export without a signature")
	}
}

func TestParseEncrypted(t *testing.T) {
	point := "04" + strings.Repeat("ab", 64)
	sealed := strings.Repeat("cd", 17)
	for _, tc := range []struct{ name, text, want string }{
		{"good", `{"encappedPublic":"` + point + `","ciphertext":"` + sealed + `"}`, ""},
		{"other order, spaces, upper case", ` { "ciphertext" : "` + strings.ToUpper(sealed) + `", "encappedPublic":"` + point + `" } `, ""},
		{"nothing", ``, "not a JSON object"},
		{"not JSON", `04ab`, "not a JSON object"},
		{"an array", `[]`, "not a JSON object"},
		{"null", `null`, "both"},
		{"two texts", `{} {}`, "not a JSON object"},
		{"a member twice", `{"encappedPublic":"` + point + `","encappedPublic":"` + point + `","ciphertext":"` + sealed + `"}`, "not a JSON object"},
		{"an unknown member", `{"encappedPublic":"` + point + `","ciphertext":"` + sealed + `","x":1}`, "not a JSON object"},
		{"other case of a name", `{"EncappedPublic":"` + point + `","ciphertext":"` + sealed + `"}`, "not a JSON object"},
		{"no ciphertext", `{"encappedPublic":"` + point + `"}`, "both"},
		{"no point", `{"ciphertext":"` + sealed + `"}`, "both"},
		{"null ciphertext", `{"encappedPublic":"` + point + `","ciphertext":null}`, "both"},
		{"a number", `{"encappedPublic":4,"ciphertext":"` + sealed + `"}`, "not a JSON object"},
		{"compressed", `{"encappedPublic":"02` + strings.Repeat("ab", 32) + `","ciphertext":"` + sealed + `"}`, "uncompressed"},
		{"not hex", `{"encappedPublic":"04` + strings.Repeat("zz", 64) + `","ciphertext":"` + sealed + `"}`, "uncompressed"},
		{"prefix", `{"encappedPublic":"0x` + point + `","ciphertext":"` + sealed + `"}`, "uncompressed"},
		{"odd ciphertext", `{"encappedPublic":"` + point + `","ciphertext":"` + sealed + `c"}`, "ciphertext must be hex"},
		{"only a tag", `{"encappedPublic":"` + point + `","ciphertext":"` + sealed[2:] + `"}`, "ciphertext must be hex"},
		{"too much", `{"encappedPublic":"` + point + `","ciphertext":"` + strings.Repeat("00", maxCiphertext+tagSize+1) + `"}`, "may hold at most"},
		{"too long", `{"encappedPublic":"` + point + `","ciphertext":"` + strings.Repeat("00", 2*maxCiphertext) + `"}`, "too long"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ParseEncrypted([]byte(tc.text))
			if tc.want == "" {
				if err != nil || hex.EncodeToString(got.Enc) != point || hex.EncodeToString(got.Ciphertext) != sealed {
					t.Errorf("%v, %v", got, err)
				}
				return
			}
			if _, ok := fault.As(err); !ok || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "encryptedBundle") {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

func FuzzParseEncrypted(f *testing.F) {
	point := make([]byte, pointSize)
	rand.Read(point)
	point[0] = 4
	good, err := Encrypted{Enc: point, Ciphertext: point}.Text()
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(good))
	f.Add([]byte(`{"encappedPublic":"","ciphertext":""}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := ParseEncrypted(text)
		if err != nil {
			if _, ok := fault.As(err); !ok {
				t.Errorf("not a fault: %v", err)
			}
			return
		}
		written, err := got.Text()
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseEncrypted([]byte(written))
		if err != nil || !bytes.Equal(again.Enc, got.Enc) || !bytes.Equal(again.Ciphertext, got.Ciphertext) {
			t.Errorf("%v became %v, %v", got, again, err)
		}
	})
}
