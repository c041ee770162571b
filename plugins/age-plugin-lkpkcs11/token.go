package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/miekg/pkcs11"

	"latchkey/plugins/host"
)

// key is a key on a token, in a session that is logged in.
type key struct {
	at      keyURI
	library *pkcs11.Ctx
	slot    uint
	session pkcs11.SessionHandle
	handle  pkcs11.ObjectHandle
	rsa     bool // else it is AES
}

// openKey finds the token and the key, and logs in. The caller closes the key.
func openKey(at keyURI, ask host.Ask) (_ *key, err error) {
	k := &key{at: at}
	if _, err := os.Stat(at.module); err != nil {
		return nil, fmt.Errorf("the PKCS#11 library is not there: %w", err)
	}
	if k.library = pkcs11.New(at.module); k.library == nil {
		return nil, fmt.Errorf("%s is not a PKCS#11 library that this machine can load", at.module)
	}
	defer func() {
		if err != nil {
			k.close()
		}
	}()
	if err := k.library.Initialize(); err != nil {
		return nil, fmt.Errorf("the library %s did not start: %w", at.module, err)
	}
	info, err := k.findToken()
	if err != nil {
		return nil, err
	}
	if k.session, err = k.library.OpenSession(k.slot, pkcs11.CKF_SERIAL_SESSION); err != nil {
		return nil, k.problem("a session could not be opened", err)
	}
	if info.Flags&pkcs11.CKF_LOGIN_REQUIRED != 0 {
		if err := k.login(info, ask); err != nil {
			return nil, err
		}
	}
	return k, k.findKey()
}

// close ends the session. Its errors mean nothing: the process ends next.
func (k *key) close() {
	if k.session != 0 {
		_ = k.library.Logout(k.session)
		_ = k.library.CloseSession(k.session)
	}
	_ = k.library.Finalize()
	k.library.Destroy()
}

// findToken finds the one token that the URI names.
func (k *key) findToken() (found pkcs11.TokenInfo, err error) {
	slots, err := k.library.GetSlotList(true)
	if err != nil {
		return found, k.problem("the tokens could not be listed", err)
	}
	var others []string
	n := 0
	for _, slot := range slots {
		info, err := k.library.GetTokenInfo(slot)
		if err != nil || info.Flags&pkcs11.CKF_TOKEN_INITIALIZED == 0 {
			continue
		}
		if !fits(k.at.token, info.Label) || !fits(k.at.serial, info.SerialNumber) ||
			!fits(k.at.manufacturer, info.ManufacturerID) || !fits(k.at.model, info.Model) {
			others = append(others, fmt.Sprintf("%q", padded(info.Label)))
			continue
		}
		n++
		k.slot, found = slot, info
	}
	switch {
	case n > 1:
		return found, fmt.Errorf("%d tokens are %s: add serial=NUMBER to the URI", n, k.at)
	case n == 0 && len(others) == 0:
		return found, fmt.Errorf("the token is away: %s shows no token at all", k.at.module)
	case n == 0:
		return found, fmt.Errorf("the token is away (%s): %s shows only %s", k.at, k.at.module, strings.Join(others, ", "))
	}
	return found, nil
}

func fits(want, have string) bool { return want == "" || want == padded(have) }

// padded texts of PKCS#11 end with blanks or NULs.
func padded(text string) string { return strings.TrimRight(text, " \x00") }

// login never takes the last try: a service that starts again and again with a wrong
// PIN would lock the token.
func (k *key) login(info pkcs11.TokenInfo, ask host.Ask) error {
	switch {
	case info.Flags&pkcs11.CKF_USER_PIN_LOCKED != 0:
		return fmt.Errorf("the PIN of the token is locked (%s): unlock it with the token's own tools", k.at)
	case info.Flags&pkcs11.CKF_USER_PIN_FINAL_TRY != 0:
		return fmt.Errorf("the token (%s) has one try for its PIN left, which is not used here: log in with the token's own tools first", k.at)
	case info.Flags&pkcs11.CKF_USER_PIN_INITIALIZED == 0:
		return fmt.Errorf("the token (%s) has no PIN yet", k.at)
	}
	pin, err := ask("PIN of the token (" + k.at.String() + ")")
	if err != nil {
		return errors.New("the token wants a PIN, and none was given (--secret NAME=SOURCE, seal.secrets)")
	}
	switch err := k.library.Login(k.session, pkcs11.CKU_USER, pin); {
	case is(err, pkcs11.CKR_PIN_INCORRECT), is(err, pkcs11.CKR_PIN_INVALID), is(err, pkcs11.CKR_PIN_LEN_RANGE):
		return fmt.Errorf("the PIN is wrong for the token (%s)", k.at)
	case is(err, pkcs11.CKR_PIN_LOCKED):
		return fmt.Errorf("the PIN of the token is locked (%s): unlock it with the token's own tools", k.at)
	case err != nil && !is(err, pkcs11.CKR_USER_ALREADY_LOGGED_IN):
		return k.problem("the login failed", err)
	}
	return nil
}

// findKey finds the one key that the URI names: an AES key, else an RSA key.
func (k *key) findKey() error {
	for _, kind := range []struct {
		name  string
		class uint
		key   uint
	}{{"secret-key", pkcs11.CKO_SECRET_KEY, pkcs11.CKK_AES}, {"private", pkcs11.CKO_PRIVATE_KEY, pkcs11.CKK_RSA}} {
		if k.at.kind != "" && k.at.kind != kind.name {
			continue
		}
		template := []*pkcs11.Attribute{
			pkcs11.NewAttribute(pkcs11.CKA_CLASS, kind.class),
			pkcs11.NewAttribute(pkcs11.CKA_KEY_TYPE, kind.key),
		}
		if k.at.object != "" {
			template = append(template, pkcs11.NewAttribute(pkcs11.CKA_LABEL, k.at.object))
		}
		if k.at.id != "" {
			template = append(template, pkcs11.NewAttribute(pkcs11.CKA_ID, []byte(k.at.id)))
		}
		found, err := k.find(template)
		switch {
		case err != nil:
			return k.problem("the keys could not be listed", err)
		case len(found) > 1:
			return fmt.Errorf("several keys are %s: name one by id=", k.at)
		case len(found) == 1:
			k.handle, k.rsa = found[0], kind.class == pkcs11.CKO_PRIVATE_KEY
			return nil
		}
	}
	return fmt.Errorf("there is no AES key and no RSA key on the token that is %s: make one there", k.at)
}

func (k *key) find(template []*pkcs11.Attribute) ([]pkcs11.ObjectHandle, error) {
	if err := k.library.FindObjectsInit(k.session, template); err != nil {
		return nil, err
	}
	found, _, err := k.library.FindObjects(k.session, 2)
	return found, errors.Join(err, k.library.FindObjectsFinal(k.session))
}

// refuseExtractable refuses a key that can leave the token: it would guard nothing.
func (k *key) refuseExtractable() error {
	values, err := k.library.GetAttributeValue(k.session, k.handle, []*pkcs11.Attribute{
		pkcs11.NewAttribute(pkcs11.CKA_EXTRACTABLE, nil),
		pkcs11.NewAttribute(pkcs11.CKA_SENSITIVE, nil),
	})
	if err != nil || len(values) != 2 {
		return k.problem("the token does not tell whether the key can leave it", err)
	}
	if truth(values[0]) || !truth(values[1]) {
		return fmt.Errorf("the key (%s) can leave the token: make one that is sensitive and not extractable, and name that", k.at)
	}
	return nil
}

func truth(a *pkcs11.Attribute) bool { return len(a.Value) == 1 && a.Value[0] != 0 }

// problem says what an error of a token means.
func (k *key) problem(what string, err error) error {
	switch {
	case err == nil:
		return fmt.Errorf("%s (%s)", what, k.at)
	case is(err, pkcs11.CKR_DEVICE_REMOVED), is(err, pkcs11.CKR_TOKEN_NOT_PRESENT), is(err, pkcs11.CKR_TOKEN_NOT_RECOGNIZED):
		return fmt.Errorf("%s: the token is away (%s)", what, k.at)
	}
	return fmt.Errorf("%s (%s): %w", what, k.at, err)
}

func is(err error, code pkcs11.Error) bool { return errors.Is(err, code) }
