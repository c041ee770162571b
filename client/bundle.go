package client

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
)

// Expect is what a bundle of the server must say before it is believed.
type Expect struct {
	// SignerPublicKey is the server's key, uncompressed in hex, as dev.json and
	// /.well-known/latchkey.json name it. Take it from a place that you trust,
	// once, and not from the connection that brings the bundle.
	SignerPublicKey string
	// OrganizationID is the organization that the bundle must be for.
	OrganizationID string
	// UserID is the user that the target of an import must be for; exports and
	// codes name none.
	UserID string
}

// SealImport encrypts a secret to the target that [Client.InitImportPrivateKey]
// or [Client.InitImportWallet] returned, and gives the EncryptedBundle that
// [Client.ImportPrivateKey] or [Client.ImportWallet] takes. The secret is a private key's 32 raw
// bytes (for Ed25519 the seed), or the words of a wallet's mnemonic, which a
// line end and a passphrase may follow.
func SealImport(importBundle string, want Expect, secret []byte) (encryptedBundle string, err error) {
	target, err := want.target(importBundle)
	if err != nil {
		return "", fmt.Errorf("import bundle: %w", err)
	}
	if want.UserID == "" || target.UserID != want.UserID {
		return "", errors.New("import bundle: it is for another user")
	}
	return sealTo(target.Public, secret)
}

// SealOTPCode encrypts the code that a user received, together with the P-256
// key that shall be bound to it, to the OTPEncryptionTargetBundle of
// [Client.InitOTP], and gives the EncryptedOTPBundle that [Client.VerifyOTP]
// takes.
func SealOTPCode(targetBundle string, want Expect, code, publicKey string) (encryptedOTPBundle string, err error) {
	target, err := want.target(targetBundle)
	if err != nil {
		return "", fmt.Errorf("OTP bundle: %w", err)
	}
	text, err := json.Marshal(struct {
		Code      string `json:"otp_code"`
		PublicKey string `json:"public_key"`
	}{code, publicKey})
	if err != nil {
		return "", fmt.Errorf("OTP bundle: %w", err)
	}
	return sealTo(target.Public, text)
}

// OpenExport decrypts what [Client.ExportPrivateKey], [Client.ExportWallet] or
// [Client.ExportWalletAccount] returned for the recipient: a private key's 32 raw bytes,
// or the words of a mnemonic, which a line end and a passphrase may follow.
func (r *Recipient) OpenExport(exportBundle string, want Expect) (secret []byte, err error) {
	var export struct {
		Encapped       string `json:"encappedPublic"`
		Ciphertext     string `json:"ciphertext"`
		OrganizationID string `json:"organizationId"`
	}
	if err := want.open(exportBundle, &export); err != nil {
		return nil, fmt.Errorf("export bundle: %w", err)
	}
	if want.OrganizationID == "" || export.OrganizationID != want.OrganizationID {
		return nil, errors.New("export bundle: it is of another organization")
	}
	enc, err := hex.DecodeString(export.Encapped)
	if err != nil {
		return nil, errors.New("export bundle: encappedPublic is not hex")
	}
	ciphertext, err := hex.DecodeString(export.Ciphertext)
	if err != nil {
		return nil, errors.New("export bundle: ciphertext is not hex")
	}
	if secret, err = r.open(enc, ciphertext); err != nil {
		return nil, fmt.Errorf("export bundle: %w", err)
	}
	return secret, nil
}

// target is where to encrypt something for the server.
type target struct {
	Public         []byte
	OrganizationID string
	UserID         string
}

func (want Expect) target(bundle string) (target, error) {
	var in struct {
		Public         string `json:"targetPublic"`
		OrganizationID string `json:"organizationId"`
		UserID         string `json:"userId"`
	}
	if err := want.open(bundle, &in); err != nil {
		return target{}, err
	}
	if want.OrganizationID == "" || in.OrganizationID != want.OrganizationID {
		return target{}, errors.New("it is of another organization")
	}
	public, err := hex.DecodeString(in.Public)
	if err != nil {
		return target{}, errors.New("targetPublic is not hex")
	}
	return target{Public: public, OrganizationID: in.OrganizationID, UserID: in.UserID}, nil
}

// open reads what the server signed, after checking that it did.
func (want Expect) open(bundle string, into any) error {
	var envelope struct {
		Version   string `json:"version"`
		Data      string `json:"data"`
		Signature string `json:"dataSignature"`
		Signer    string `json:"enclaveQuorumPublic"`
	}
	if err := json.Unmarshal([]byte(bundle), &envelope); err != nil {
		return errors.New("it is not the JSON text of a bundle")
	}
	if envelope.Version != "v1.0.0" {
		return fmt.Errorf("version %.20q is not known: v1.0.0 is", envelope.Version)
	}
	raw, err := hex.DecodeString(want.SignerPublicKey)
	if err != nil {
		return errors.New("the expected SignerPublicKey is not hex")
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), raw)
	if err != nil {
		return errors.New("the expected SignerPublicKey is no uncompressed point of P-256")
	}
	if !strings.EqualFold(envelope.Signer, want.SignerPublicKey) {
		return errors.New("it is signed by another key than the server's")
	}
	data, err := hex.DecodeString(envelope.Data)
	if err != nil {
		return errors.New("data is not hex")
	}
	signature, err := hex.DecodeString(envelope.Signature)
	if err != nil {
		return errors.New("dataSignature is not hex")
	}
	if digest := sha256.Sum256(data); !ecdsa.VerifyASN1(key, digest[:], signature) {
		return errors.New("the server's signature does not fit the data")
	}
	if err := json.Unmarshal(data, into); err != nil {
		return errors.New("what the server signed is not a bundle")
	}
	return nil
}
