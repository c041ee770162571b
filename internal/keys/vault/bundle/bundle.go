// Package bundle writes and reads the texts in which keys travel between
// server and client: signed targets and exports, what a client sealed to a
// target, and credential bundles. It sees ciphertext and public keys only.
package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/mr-tron/base58"
)

// Signer is the server's identity, as clients know it.
type Signer interface {
	// SignerPublicKey is the key that clients compare: uncompressed,
	// lower-case hex.
	SignerPublicKey() string
	// SignBundle signs SHA-256 of data by ECDSA on P-256, in DER.
	SignBundle(data []byte) (der []byte, err error)
}

// version is the only one that clients accept.
const version = "v1.0.0"

// envelope is a signed message of the server. The signature is over the bytes
// that data spells in hex.
type envelope struct {
	Version   string `json:"version"`
	Data      string `json:"data"`
	Signature string `json:"dataSignature"`
	Signer    string `json:"enclaveQuorumPublic"`
}

type target struct {
	Public       string `json:"targetPublic"`
	Organization string `json:"organizationId"`
	User         string `json:"userId"`
}

type export struct {
	Encapped     string `json:"encappedPublic"`
	Ciphertext   string `json:"ciphertext"`
	Organization string `json:"organizationId"`
}

// Target is the text that tells a client where to seal an import: an
// uncompressed P-256 point that is good for one organization and user.
func Target(s Signer, public []byte, organization, user string) (string, error) {
	return sign(s, target{Public: hex.EncodeToString(public), Organization: organization, User: user})
}

// Export is the text that brings a sealed key or phrase to a client.
func Export(s Signer, enc, ciphertext []byte, organization string) (string, error) {
	return sign(s, export{
		Encapped: hex.EncodeToString(enc), Ciphertext: hex.EncodeToString(ciphertext), Organization: organization,
	})
}

func sign(s Signer, inner any) (string, error) {
	data, err := json.Marshal(inner)
	if err != nil {
		return "", fmt.Errorf("bundle: %w", err)
	}
	signature, err := s.SignBundle(data)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(envelope{
		Version: version, Data: hex.EncodeToString(data), Signature: hex.EncodeToString(signature), Signer: s.SignerPublicKey(),
	})
	if err != nil {
		return "", fmt.Errorf("bundle: %w", err)
	}
	return string(text), nil
}

// Credential is the text of a credential that was sealed to a client: the
// compressed encapsulated key and the ciphertext in Base58Check, without a
// version byte.
func Credential(compressedEnc, ciphertext []byte) string {
	payload := slices.Concat(compressedEnc, ciphertext)
	once := sha256.Sum256(payload)
	twice := sha256.Sum256(once[:])
	return base58.Encode(append(payload, twice[:4]...))
}
