package ops

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/keys/curve"
	"latchkey/internal/proof/token"
	"latchkey/internal/request/activity"
)

// verifyContact checks a verification token, which proves that a code sent to
// the contact was read, and reports whether there was one. A token is optional,
// but one that is given must be valid.
func verifyContact(e activity.Env, text string, t domain.OTPType, contact string) (verified bool, err error) {
	if text == "" {
		return false, nil
	}
	v, err := readVerification(e, text)
	if err != nil {
		return false, err
	}
	user := domain.User{Email: contact, PhoneNumber: contact}
	if v.Type != t || !user.HasContact(t, v.Contact) {
		return false, fault.Invalid("invalid verification token: it proves another contact")
	}
	return true, useVerification(e, v.VerifiedBy(), domain.UseUpdate)
}

// useVerification uses a verification token up, for one kind of use: in the
// commit of what it is used for, and wherever else the token would count.
func useVerification(e activity.Env, v *domain.VerifiedBy, kind domain.UseKind) error {
	first, err := e.Tx.UseToken(&domain.TokenUse{TokenID: v.TokenID, ExpiresAt: v.ExpiresAt, Kind: kind})
	if err == nil && !first {
		err = fault.Invalid("invalid verification token: it was used for a %s already, and serves for one; verify a new code", kind)
	}
	return err
}

// readVerification reads a token that counts in the organization: one that was
// issued there, or by its parent.
func readVerification(e activity.Env, text string) (*token.Verification, error) {
	v, err := token.ReadVerification(e.ServerKeys.SignerPublicKey(), text, e.Now)
	if err != nil {
		return nil, err
	}
	org, err := e.Tx.Organization()
	if err != nil {
		return nil, err
	}
	if v.OrganizationID != org.ID && v.OrganizationID != org.ParentID {
		return nil, fault.Invalid("invalid verification token: it was issued by another organization; verify a code in this one or in its parent")
	}
	if v.InChildren && v.OrganizationID == org.ID {
		return nil, fault.Invalid("invalid verification token: the auth proxy of this organization issued it, for users of its sub-organizations alone")
	}
	return v, nil
}

// ClientSignature proves that the user of a verification token holds the key
// that it is bound to.
type ClientSignature struct {
	PublicKey string `json:"publicKey" check:"required,hex" doc:"Key that the token is bound to." example:"025b36890dacbd7c9a96bb74a1ee28b3d2d75b72e09a20ef25cf8e6fd8a9f0350d"`
	Scheme    string `json:"scheme" check:"required,enum=CLIENT_SIGNATURE_SCHEME_API_P256" doc:"How it is signed."`
	Message   string `json:"message" check:"required,max=65536,secret" doc:"JSON text that was signed: what the token is used for."`
	Signature string `json:"signature" check:"required,hex,max=128" doc:"r and s, 32 bytes each, in hex, over the SHA-256 of the message."`
}

// usage is what a client signs.
type usage struct {
	Login *struct {
		PublicKey string `json:"publicKey"`
	} `json:"login"`
	Signup   jsontext.Value `json:"signup"`
	SignupV2 jsontext.Value `json:"signupV2"`
	TokenID  string         `json:"tokenId"`
	Type     string         `json:"type"`
}

// check verifies the signature, and returns what it says that the token is used
// for.
func (c *ClientSignature) check(v *token.Verification, use string) (*usage, error) {
	wrong := func(why string) error { return fault.Invalid("invalid client signature: %s", why) }
	key, err := curve.ParsePublicKey(curve.P256, c.PublicKey)
	if err != nil {
		return nil, wrong(err.Error())
	}
	if v.PublicKey == "" || key.String() != v.PublicKey {
		return nil, wrong("publicKey is not the key that the verification token is bound to")
	}
	raw, err := hex.DecodeString(c.Signature)
	if err != nil || len(raw) != 64 || !key.VerifyDigest(sha256.Sum256([]byte(c.Message)), raw[:32], raw[32:]) {
		return nil, wrong("it is not a signature of the message by publicKey")
	}
	message := new(usage)
	if err := json.Unmarshal([]byte(c.Message), message); err != nil {
		return nil, wrong("the message is not the JSON that clients sign")
	}
	if message.TokenID != v.ID || message.Type != use {
		return nil, wrong("the message names another token or use")
	}
	return message, nil
}

// The uses of a token.
const (
	useLogin  = "USAGE_TYPE_LOGIN"
	useSignup = "USAGE_TYPE_SIGNUP"
)
