package sealtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miekg/pkcs11"
)

const pin = "734-token-pin"

// softhsm is where Debian has the library; the second is that of other systems.
func softhsm(t testing.TB) string {
	t.Helper()
	for _, path := range []string{"/usr/lib/softhsm/libsofthsm2.so", "/usr/lib64/libsofthsm2.so"} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Fatal("missing: libsofthsm2.so; scripts/plugins test installs it")
	return ""
}

// token is a token with keys: "aes", "rsa", and "open", which can leave it.
type token struct {
	*site
	library string
}

func newToken(s *site) *token {
	s.Helper()
	tokens := filepath.Join(s.dir, "tokens")
	if err := os.Mkdir(tokens, 0o700); err != nil {
		s.Fatal(err)
	}
	s.write("hsm.conf", "directories.tokendir = "+tokens+"\nobjectstore.backend = file\nlog.level = ERROR\n")
	s.write("pin", pin+"\n")
	s.write("wrong.pin", "999-other-pin\n")
	s.env = append(s.env, "SOFTHSM2_CONF="+filepath.Join(s.dir, "hsm.conf"))
	t := &token{s, softhsm(s)}
	for _, label := range []string{"vault", "spare"} {
		command := exec.Command("softhsm2-util", "--init-token", "--free", "--label", label, "--pin", pin, "--so-pin", "so-"+pin)
		command.Env = append(os.Environ(), s.env...)
		if out, err := command.CombinedOutput(); err != nil {
			s.Fatalf("%v: %s", err, out)
		}
	}
	t.makeKeys()
	return t
}

func (t *token) uri(object string) string {
	return "pkcs11:token=vault;object=" + object + "?module-path=" + t.library
}

// makeKeys makes the keys on the token, as an operator does.
func (t *token) makeKeys() {
	t.Helper()
	t.Setenv("SOFTHSM2_CONF", filepath.Join(t.dir, "hsm.conf"))
	library := pkcs11.New(t.library)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(library.Initialize())
	defer library.Destroy()
	defer func() { must(library.Finalize()) }()
	slots, err := library.GetSlotList(true)
	must(err)
	for _, slot := range slots {
		info, err := library.GetTokenInfo(slot)
		must(err)
		if strings.TrimRight(info.Label, " \x00") != "vault" {
			continue
		}
		session, err := library.OpenSession(slot, pkcs11.CKF_SERIAL_SESSION|pkcs11.CKF_RW_SESSION)
		must(err)
		must(library.Login(session, pkcs11.CKU_USER, pin))
		for label, leaves := range map[string]bool{"aes": false, "open": true} {
			_, err := library.GenerateKey(session, []*pkcs11.Mechanism{pkcs11.NewMechanism(pkcs11.CKM_AES_KEY_GEN, nil)}, []*pkcs11.Attribute{
				pkcs11.NewAttribute(pkcs11.CKA_TOKEN, true), pkcs11.NewAttribute(pkcs11.CKA_LABEL, label), pkcs11.NewAttribute(pkcs11.CKA_VALUE_LEN, 32),
				pkcs11.NewAttribute(pkcs11.CKA_ENCRYPT, true), pkcs11.NewAttribute(pkcs11.CKA_DECRYPT, true),
				pkcs11.NewAttribute(pkcs11.CKA_SENSITIVE, true), pkcs11.NewAttribute(pkcs11.CKA_EXTRACTABLE, leaves),
			})
			must(err)
		}
		_, _, err = library.GenerateKeyPair(session, []*pkcs11.Mechanism{pkcs11.NewMechanism(pkcs11.CKM_RSA_PKCS_KEY_PAIR_GEN, nil)},
			[]*pkcs11.Attribute{
				pkcs11.NewAttribute(pkcs11.CKA_TOKEN, true), pkcs11.NewAttribute(pkcs11.CKA_LABEL, "rsa"), pkcs11.NewAttribute(pkcs11.CKA_MODULUS_BITS, 2048),
				pkcs11.NewAttribute(pkcs11.CKA_PUBLIC_EXPONENT, []byte{1, 0, 1}), pkcs11.NewAttribute(pkcs11.CKA_ENCRYPT, true),
			},
			[]*pkcs11.Attribute{
				pkcs11.NewAttribute(pkcs11.CKA_TOKEN, true), pkcs11.NewAttribute(pkcs11.CKA_LABEL, "rsa"), pkcs11.NewAttribute(pkcs11.CKA_PRIVATE, true),
				pkcs11.NewAttribute(pkcs11.CKA_DECRYPT, true), pkcs11.NewAttribute(pkcs11.CKA_SENSITIVE, true), pkcs11.NewAttribute(pkcs11.CKA_EXTRACTABLE, false),
			})
		must(err)
		must(library.CloseSession(session))
	}
}

// away takes all tokens out, and returns what puts them back.
func (t *token) away() (back func()) {
	t.Helper()
	from, to := filepath.Join(t.dir, "tokens"), filepath.Join(t.dir, "drawer")
	empty := filepath.Join(t.dir, "empty")
	move := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	move(os.Rename(from, to))
	move(os.Mkdir(from, 0o700)) // SoftHSM wants the folder
	return func() {
		t.Helper()
		move(os.Rename(from, empty))
		move(os.Rename(to, from))
		move(os.RemoveAll(empty))
	}
}

// TestTokenOpens: a token opens the seal at the start; away, it matters only at the
// next start, when people do it or another recipient.
func TestTokenOpens(t *testing.T) {
	hsm := newToken(newSite(t))
	hsm.shares()
	hsm.write("words", "correct horse\n")
	hsm.must("seal", "init", "--seal", "seal.json", "--pkcs11", "hsm="+hsm.uri("aes"), "--secret", "hsm=file:pin", "--people", "board=2/3", "--shares", "shares")
	if text := hsm.read("seal.json"); !strings.Contains(text, `"mech": "AES-GCM"`) || !strings.Contains(text, hsm.uri("aes")) {
		t.Errorf("the seal keeps %s", text)
	}
	hsm.configure("hsm: file:pin")
	organization := hsm.populate()
	server := hsm.serve("first.log")
	server.await(200, "")
	server.logged(`"recipient":"hsm"`)
	hsm.request(organization, "create_private_keys", newKey)
	before := hsm.request(organization, "list_private_keys")

	// Away while the server runs: it goes on, and the operator is told.
	back := hsm.away()
	if now := hsm.request(organization, "list_private_keys"); now != before {
		t.Errorf("%s, before %s", now, before)
	}
	hsm.request(organization, "create_private_keys", strings.Replace(newKey, `"k"`, `"later"`, 1))
	before = hsm.request(organization, "list_private_keys")
	hsm.refused(`recipient "hsm": the token is away`, "seal", "test", "--config", "latchkey.yaml")
	server.stop()

	// Away at the start: the people open it.
	server = hsm.serve("second.log")
	server.await(503, `"status":"sealed","recipient":"board","have":0,"need":2`)
	server.logged("the token is away")
	hsm.unseal("board", 3, 1)
	server.await(200, "")
	if now := hsm.request(organization, "list_private_keys"); now != before {
		t.Errorf("%s, before %s", now, before)
	}
	server.stop()

	// Or another recipient that has a secret.
	back()
	hsm.must("seal", "add", "--config", "latchkey.yaml", "--passphrase", "desk", "--secret", "desk=file:words")
	back = hsm.away()
	hsm.configure("hsm: file:pin, desk: file:words")
	server = hsm.serve("third.log")
	server.await(200, "")
	server.logged("the token is away")
	server.logged(`"recipient":"desk"`)
	server.stop()
	back()

	// A wrong PIN is said, and not repeated.
	hsm.configure("hsm: file:wrong.pin")
	hsm.refused("the PIN is wrong for the token (token=vault, object=aes)", "seal", "test", "--config", "latchkey.yaml")
	server = hsm.serve("fourth.log")
	server.await(503, "sealed")
	server.logged("the PIN is wrong for the token")
	server.stop()
	hsm.configure("hsm: file:pin")
	hsm.must("seal", "test", "--config", "latchkey.yaml")
	hsm.noSecret(pin, "/pin")
	hsm.noSecret("999-other-pin", "/wrong.pin")
}

// TestTokenAlone: without another way in, a token that is away ends the server.
func TestTokenAlone(t *testing.T) {
	hsm := newToken(newSite(t))
	hsm.must("seal", "init", "--seal", "seal.json", "--pkcs11", "hsm="+hsm.uri("rsa"), "--secret", "hsm=file:pin")
	if text := hsm.read("seal.json"); !strings.Contains(text, `"mech": "RSA-OAEP-SHA1"`) { // all that SoftHSM knows
		t.Errorf("the seal keeps %s", text)
	}
	hsm.configure("hsm: file:pin")
	hsm.must("seal", "test", "--config", "latchkey.yaml")
	hsm.away()
	server := hsm.serve("log")
	server.ended()
	server.logged("no recipient opens it: hsm: ")
	server.logged("the token is away: " + hsm.library + " shows no token at all")
}

// TestTokenRefused: what cannot be a recipient is refused with its reason, and leaves
// nothing behind.
func TestTokenRefused(t *testing.T) {
	hsm := newToken(newSite(t))
	crash := filepath.Join(hsm.dir, "crash.so")
	hsm.write("crash.c", "int C_GetFunctionList(void **list) { *(volatile int *)0 = 1; return 0; }\n")
	if out, err := exec.Command("gcc", "-shared", "-fPIC", "-o", crash, filepath.Join(hsm.dir, "crash.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for why, uri := range map[string]string{
		"can leave the token: make one that is sensitive and not extractable": hsm.uri("open"),
		"there is no AES key and no RSA key on the token":                     hsm.uri("none"),
		"the token is away (token=gone, object=aes)":                          strings.Replace(hsm.uri("aes"), "vault", "gone", 1),
		"the PKCS#11 library is not there":                                    "pkcs11:token=vault;object=aes?module-path=/nowhere/lib.so",
		"is not a PKCS#11 library":                                            "pkcs11:token=vault;object=aes?module-path=" + filepath.Join(hsm.dir, "hsm.conf"),
		"ended without an answer":                                             "pkcs11:token=vault;object=aes?module-path=" + crash,
		"no PIN belongs into it":                                              hsm.uri("aes") + "&pin-value=" + pin,
		"must end with ?module-path=":                                         "pkcs11:token=vault;object=aes",
		"must name the key":                                                   "pkcs11:token=vault?module-path=" + hsm.library,
		"must name the token":                                                 "pkcs11:object=aes?module-path=" + hsm.library,
		`has "slot-id", which is not known here`:                              "pkcs11:slot-id=1;object=aes?module-path=" + hsm.library,
		"is named by a URI: pkcs11:":                                          "token=vault",
	} {
		hsm.refused(why, "seal", "init", "--seal", "seal.json", "--pkcs11", "hsm="+uri, "--secret", "hsm=file:pin")
		said, _ := hsm.try("seal", "init", "--seal", "seal.json", "--pkcs11", "hsm="+uri, "--secret", "hsm=file:pin")
		if strings.Contains(said, pin) || !strings.Contains(said, `recipient "hsm"`) {
			t.Errorf("it says %s", said)
		}
	}
	hsm.refused("the PIN is wrong", "seal", "init", "--seal", "seal.json", "--pkcs11", "hsm="+hsm.uri("aes"), "--secret", "hsm=file:wrong.pin")
	if _, err := os.Stat(filepath.Join(hsm.dir, "seal.json")); err == nil {
		t.Error("a seal was made")
	}
	hsm.noSecret(pin, "/pin")
}

// TestSwappedKeys: what one recipient keeps does not open as another one's, and a key
// on the token that was replaced does not open either.
func TestSwappedKeys(t *testing.T) {
	hsm := newToken(newSite(t))
	hsm.must("seal", "init", "--seal", "seal.json", "--pkcs11", "one="+hsm.uri("aes"), "--pkcs11", "two="+hsm.uri("aes"), "--secret", "one=file:pin", "--secret", "two=file:pin")
	hsm.configure("one: file:pin, two: file:pin")
	whole := hsm.read("seal.json")
	parts := strings.Split(whole, `"kept": {`)
	if len(parts) != 3 {
		t.Fatal(whole)
	}
	first, afterFirst, _ := strings.Cut(parts[1], "}")
	second, afterSecond, _ := strings.Cut(parts[2], "}")
	hsm.write("seal.json", parts[0]+`"kept": {`+second+"}"+afterFirst+`"kept": {`+first+"}"+afterSecond)
	hsm.refused(`recipient "one": it answered with something else than the key of this recipient`, "seal", "test", "--config", "latchkey.yaml", "one")
	hsm.write("seal.json", strings.Replace(whole, "object=aes", "object=open", 1))
	hsm.refused("the key is another one, or the seal was damaged", "seal", "test", "--config", "latchkey.yaml", "one")
	hsm.write("seal.json", strings.Replace(whole, "AES-GCM", "AES-CBC", 1))
	hsm.refused(`mech, which the seal keeps, is "AES-CBC"`, "seal", "test", "--config", "latchkey.yaml", "one")
	hsm.write("seal.json", strings.Replace(whole, `"name": "two"`, `"name": "six"`, 1))
	hsm.refused("the seal was changed without the master key", "seal", "test", "--config", "latchkey.yaml", "one")
	hsm.write("seal.json", whole[:len(whole)/2])
	hsm.refused("this is not a whole seal", "seal", "test", "--config", "latchkey.yaml", "one")
	hsm.write("seal.json", whole)
	hsm.must("seal", "test", "--config", "latchkey.yaml")
}
