package main

import (
	"errors"
	"fmt"

	"github.com/google/go-tpm/tpm2"
	"github.com/google/go-tpm/tpm2/transport"
)

const nonceSize = 16

// chip is a TPM that was opened, with a key of its own under which objects are.
type chip struct {
	device string
	wire   transport.TPMCloser
}

// The parent is made anew each time: the same template gives the same key, as long as
// the TPM is not cleared. Neither it nor what is sealed counts for dictionary attacks:
// no password guards them, and a power loss or two while a server starts would lock
// them.
func (c *chip) parent() (*tpm2.CreatePrimaryResponse, error) {
	made, err := tpm2.CreatePrimary{
		PrimaryHandle: tpm2.TPMRHOwner,
		InPublic:      tpm2.New2B(tpm2.ECCSRKTemplate), // with NoDA
	}.Execute(c.wire)
	if err != nil {
		return nil, c.problem("it made no key of its own", err)
	}
	return made, nil
}

// flush forgets a handle, also after an error: a TPM has few places for them.
func (c *chip) flush(handle tpm2.TPMHandle) {
	_, _ = tpm2.FlushContext{FlushHandle: handle}.Execute(c.wire) // it is gone, or the TPM is
}

func (c *chip) close() { _ = c.wire.Close() }

// The wire does not show what a session encrypts: the secret on its way in, or out. A
// command without a parameter in that direction refuses it.
var (
	in  = tpm2.AESEncryption(128, tpm2.EncryptIn)
	out = tpm2.AESEncryption(128, tpm2.EncryptOut)
)

// encrypted are the options of such a session. It is salted with the parent, whose
// private part only the TPM has.
func encrypted(parent *tpm2.CreatePrimaryResponse, way tpm2.AuthOption) ([]tpm2.AuthOption, error) {
	public, err := parent.OutPublic.Contents()
	if err != nil {
		return nil, err
	}
	return []tpm2.AuthOption{tpm2.Salted(parent.ObjectHandle, *public), way}, nil
}

// seal makes an object with a secret.
func (c *chip) seal(secret []byte, pcrs registers) (public, private []byte, err error) {
	parent, err := c.parent()
	if err != nil {
		return nil, nil, err
	}
	defer c.flush(parent.ObjectHandle)
	options, err := encrypted(parent, in)
	if err != nil {
		return nil, nil, c.problem("its own key cannot be read", err)
	}
	template := tpm2.TPMTPublic{
		Type: tpm2.TPMAlgKeyedHash, NameAlg: tpm2.TPMAlgSHA256,
		ObjectAttributes: tpm2.TPMAObject{FixedTPM: true, FixedParent: true, NoDA: true, UserWithAuth: pcrs.empty(), AdminWithPolicy: !pcrs.empty()},
	}
	if !pcrs.empty() {
		if template.AuthPolicy, err = c.policy(pcrs); err != nil {
			return nil, nil, err
		}
	}
	session, end, err := tpm2.HMACSession(c.wire, tpm2.TPMAlgSHA256, nonceSize, options...)
	if err != nil {
		return nil, nil, c.problem("it opened no session", err)
	}
	defer func() { _ = end() }() // the session is gone, or the TPM is
	made, err := tpm2.Create{
		ParentHandle: tpm2.AuthHandle{Handle: parent.ObjectHandle, Name: parent.Name, Auth: session},
		InSensitive: tpm2.TPM2BSensitiveCreate{Sensitive: &tpm2.TPMSSensitiveCreate{
			Data: tpm2.NewTPMUSensitiveCreate(&tpm2.TPM2BSensitiveData{Buffer: secret}),
		}},
		InPublic: tpm2.New2B(template),
	}.Execute(c.wire)
	if err != nil {
		return nil, nil, c.problem("it sealed nothing", err)
	}
	return tpm2.Marshal(made.OutPublic), tpm2.Marshal(made.OutPrivate), nil
}

// policy is the digest of "these registers are as they are now".
func (c *chip) policy(pcrs registers) (tpm2.TPM2BDigest, error) {
	if err := c.allocated(pcrs); err != nil {
		return tpm2.TPM2BDigest{}, err
	}
	session, end, err := tpm2.PolicySession(c.wire, tpm2.TPMAlgSHA256, nonceSize, tpm2.Trial())
	if err != nil {
		return tpm2.TPM2BDigest{}, c.problem("it opened no session", err)
	}
	defer func() { _ = end() }()
	if _, err := (tpm2.PolicyPCR{PolicySession: session.Handle(), Pcrs: pcrs.selection()}).Execute(c.wire); err != nil {
		return tpm2.TPM2BDigest{}, c.problem("its registers "+pcrs.String()+" cannot be used", err)
	}
	digest, err := tpm2.PolicyGetDigest{PolicySession: session.Handle()}.Execute(c.wire)
	if err != nil {
		return tpm2.TPM2BDigest{}, c.problem("it made no policy", err)
	}
	return digest.PolicyDigest, nil
}

// allocated makes sure that the bank is there: a policy over registers that are not
// would hold always.
func (c *chip) allocated(pcrs registers) error {
	for _, n := range pcrs.numbers {
		read, err := tpm2.PCRRead{PCRSelectionIn: registers{pcrs.bank, []uint{n}}.selection()}.Execute(c.wire)
		if err != nil {
			return c.problem("its registers cannot be read", err)
		}
		if len(read.PCRValues.Digests) != 1 {
			return fmt.Errorf("the TPM at %s has no register %s:%d", c.device, pcrs.bank, n)
		}
	}
	return nil
}

// unseal opens an object.
func (c *chip) unseal(public, private []byte, pcrs registers) ([]byte, error) {
	inPublic, err := tpm2.Unmarshal[tpm2.TPM2BPublic](public)
	inPrivate, err2 := tpm2.Unmarshal[tpm2.TPM2BPrivate](private)
	if errors.Join(err, err2) != nil {
		return nil, errors.New("public and private, which the seal keeps, are no object of a TPM")
	}
	parent, err := c.parent()
	if err != nil {
		return nil, err
	}
	defer c.flush(parent.ObjectHandle)
	options, err := encrypted(parent, out)
	if err != nil {
		return nil, c.problem("its own key cannot be read", err)
	}
	loaded, err := tpm2.Load{
		ParentHandle: tpm2.NamedHandle{Handle: parent.ObjectHandle, Name: parent.Name},
		InPrivate:    *inPrivate,
		InPublic:     *inPublic,
	}.Execute(c.wire)
	if err != nil {
		return nil, c.problem("it does not take what the seal keeps", err)
	}
	defer c.flush(loaded.ObjectHandle)
	session, end, err := c.session(pcrs, options)
	if err != nil {
		return nil, err
	}
	defer func() { _ = end() }()
	opened, err := tpm2.Unseal{ItemHandle: tpm2.AuthHandle{Handle: loaded.ObjectHandle, Name: loaded.Name, Auth: session}}.Execute(c.wire)
	if err != nil {
		if !pcrs.empty() && (errors.Is(err, tpm2.TPMRCPolicyFail) || errors.Is(err, tpm2.TPMRCPCRChanged)) {
			return nil, fmt.Errorf("the registers %s of the TPM at %s have changed since the seal was made: other firmware, another boot loader or other settings; "+
				"open the seal by another recipient, then add this machine anew", pcrs, c.device)
		}
		return nil, c.problem("it did not unseal", err)
	}
	return opened.OutData.Buffer, nil
}

// session authorizes the use of an object.
func (c *chip) session(pcrs registers, options []tpm2.AuthOption) (tpm2.Session, func() error, error) {
	if pcrs.empty() {
		session, end, err := tpm2.HMACSession(c.wire, tpm2.TPMAlgSHA256, nonceSize, options...)
		if err != nil {
			return nil, nil, c.problem("it opened no session", err)
		}
		return session, end, nil
	}
	session, end, err := tpm2.PolicySession(c.wire, tpm2.TPMAlgSHA256, nonceSize, options...)
	if err != nil {
		return nil, nil, c.problem("it opened no session", err)
	}
	if _, err := (tpm2.PolicyPCR{PolicySession: session.Handle(), Pcrs: pcrs.selection()}).Execute(c.wire); err != nil {
		_ = end()
		return nil, nil, c.problem("its registers "+pcrs.String()+" cannot be used", err)
	}
	return session, end, nil
}

// problem says what an error of a TPM means.
func (c *chip) problem(what string, err error) error {
	reason := ""
	switch {
	case errors.Is(err, tpm2.TPMRCIntegrity):
		reason = "; the seal was made on another machine, or the TPM was cleared since"
	case errors.Is(err, tpm2.TPMRCBadAuth), errors.Is(err, tpm2.TPMRCAuthFail):
		reason = "; its owner hierarchy has a password, which this program does not know"
	case errors.Is(err, tpm2.TPMRCLockout):
		reason = "; it is locked after wrong passwords of another program"
	case errors.Is(err, tpm2.TPMRCInitialize):
		reason = "; it was not started (TPM2_Startup), which firmware or the emulator does"
	}
	return fmt.Errorf("the TPM at %s: %s%s (%w)", c.device, what, reason, err)
}
