package ops

import (
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/proof/passkey"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// This file holds what several operations say about passkeys.

// AuthenticatorParamsV2 describes a passkey.
type AuthenticatorParamsV2 struct {
	AuthenticatorName string            `json:"authenticatorName" check:"required,label" doc:"Human-readable name."`
	Challenge         string            `json:"challenge" check:"required,max=256" doc:"Challenge that was presented, base64url." example:"BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc"`
	Attestation       AttestationParams `json:"attestation" check:"required" doc:"What the authenticator answered."`
}

// AttestationParams is the answer of an authenticator.
type AttestationParams struct {
	CredentialID      string      `json:"credentialId" check:"required,max=1024" doc:"Credential id, base64url." example:"AAECAwQFBgcICQoLDA0ODw"`
	ClientDataJSON    string      `json:"clientDataJson" check:"required" doc:"Client data, base64url." example:"eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIiwiY2hhbGxlbmdlIjoiQndjSEJ3Y0hCd2NIQndjSEJ3Y0hCd2NIQndjSEJ3Y0hCd2NIQndjSEJ3YyIsIm9yaWdpbiI6Imh0dHA6Ly9sb2NhbGhvc3Q6MzAwMCIsImNyb3NzT3JpZ2luIjpmYWxzZX0"`
	AttestationObject string      `json:"attestationObject" check:"required" doc:"Attestation object, base64url." example:"o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YViUSZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2NFAAAAAAAAAAAAAAAAAAAAAAAAAAAAEAABAgMEBQYHCAkKCwwNDg-lAQIDJiABIVggV-l39tt-M8P-es8oQu2YcAnK9W1FhoL8pEe309diqzQiWCDFqzdwulc73_VBQGVkD_tbNG36hN7E201o5fWcxHHC7A"`
	Transports        []Transport `json:"transports" check:"required,max=10" doc:"How the authenticator can be reached."`
}

// AuthenticatorParams describes a passkey, in version 1.
type AuthenticatorParams struct {
	AuthenticatorName string              `json:"authenticatorName" check:"required,label" doc:"Human-readable name."`
	UserID            string              `json:"userId,omitzero" check:"uuid" doc:"User who gets the authenticator; it follows from the request anyway."`
	Challenge         string              `json:"challenge" check:"required,max=256" doc:"Challenge that was presented, base64url." example:"BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc"`
	Attestation       PublicKeyCredential `json:"attestation" check:"required" doc:"What the authenticator answered."`
}

// PublicKeyCredential is the answer of an authenticator, in version 1.
type PublicKeyCredential struct {
	ID                      string                `json:"id" check:"required,max=1024" doc:"Credential id, base64url." example:"AAECAwQFBgcICQoLDA0ODw"`
	Type                    string                `json:"type" check:"required,enum=public-key" doc:"Always public-key."`
	RawID                   string                `json:"rawId" check:"required,max=1024" doc:"Credential id, base64url." example:"AAECAwQFBgcICQoLDA0ODw"`
	AuthenticatorAttachment string                `json:"authenticatorAttachment,omitzero" check:"enum=cross-platform|platform" doc:"How the authenticator is attached."`
	Response                AttestationResponse   `json:"response" check:"required" doc:"The answer itself."`
	ClientExtensionResults  ClientExtensionResult `json:"clientExtensionResults" check:"required" doc:"What extensions answered."`
}

// AttestationResponse is the inner part of a [PublicKeyCredential].
type AttestationResponse struct {
	ClientDataJSON          string      `json:"clientDataJson" check:"required" doc:"Client data, base64url." example:"eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIiwiY2hhbGxlbmdlIjoiQndjSEJ3Y0hCd2NIQndjSEJ3Y0hCd2NIQndjSEJ3Y0hCd2NIQndjSEJ3YyIsIm9yaWdpbiI6Imh0dHA6Ly9sb2NhbGhvc3Q6MzAwMCIsImNyb3NzT3JpZ2luIjpmYWxzZX0"`
	AttestationObject       string      `json:"attestationObject" check:"required" doc:"Attestation object, base64url." example:"o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YViUSZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2NFAAAAAAAAAAAAAAAAAAAAAAAAAAAAEAABAgMEBQYHCAkKCwwNDg-lAQIDJiABIVggV-l39tt-M8P-es8oQu2YcAnK9W1FhoL8pEe309diqzQiWCDFqzdwulc73_VBQGVkD_tbNG36hN7E201o5fWcxHHC7A"`
	Transports              []Transport `json:"transports,omitzero" check:"max=10" doc:"How the authenticator can be reached."`
	AuthenticatorAttachment string      `json:"authenticatorAttachment,omitzero" check:"enum=cross-platform|platform" doc:"How the authenticator is attached."`
}

// ClientExtensionResult is what extensions answered.
type ClientExtensionResult struct {
	AppID        *bool            `json:"appid,omitzero" doc:"Whether the appid extension was used."`
	AppIDExclude *bool            `json:"appidExclude,omitzero" doc:"Whether the appidExclude extension was used."`
	CredProps    *CredentialProps `json:"credProps,omitzero" doc:"Properties of the credential."`
}

// CredentialProps are properties of a passkey.
type CredentialProps struct {
	RK bool `json:"rk" doc:"Whether the credential is discoverable."`
}

// Transport is a way to reach an authenticator.
type Transport string

const transportInternal Transport = "AUTHENTICATOR_TRANSPORT_INTERNAL"

// Enum lists the transports for the schema.
func (Transport) Enum() []string {
	return []string{
		"AUTHENTICATOR_TRANSPORT_BLE", string(transportInternal), "AUTHENTICATOR_TRANSPORT_NFC",
		"AUTHENTICATOR_TRANSPORT_USB", "AUTHENTICATOR_TRANSPORT_HYBRID",
	}
}

// Check refuses what is not the answer of an authenticator. From which pages it
// may come is known when it is executed.
func (p *AuthenticatorParamsV2) Check(problems *schema.Problems) {
	for _, f := range p.problems() {
		problems.Add(f.Path, "invalid authenticator attestation: %s", f.Description)
	}
}

// Check refuses what is not the answer of an authenticator.
func (p *AuthenticatorParams) Check(problems *schema.Problems) {
	if p.Attestation.ID != p.Attestation.RawID {
		problems.Add("attestation.rawId", "must be the same as id")
	}
	newest := p.newest()
	for _, f := range newest.problems() {
		problems.Add(inVersion1(f.Path), "invalid authenticator attestation: %s", f.Description)
	}
}

func (p *AuthenticatorParamsV2) problems() []fault.Field {
	_, err := passkey.Verify(p.answer(), nil)
	if refusal, ok := fault.As(err); ok {
		return refusal.Fields
	}
	return nil
}

func (p *AuthenticatorParamsV2) answer() passkey.Answer {
	return passkey.Answer{
		Challenge: p.Challenge, CredentialID: p.Attestation.CredentialID,
		ClientDataJSON: p.Attestation.ClientDataJSON, AttestationObject: p.Attestation.AttestationObject,
	}
}

// inVersion1 is the place of a member of version 2 in version 1.
func inVersion1(path string) string {
	switch path {
	case "attestation.credentialId":
		return "attestation.rawId"
	case "attestation.clientDataJson":
		return "attestation.response.clientDataJson"
	case "attestation.attestationObject":
		return "attestation.response.attestationObject"
	default:
		return path
	}
}

func (p *AuthenticatorParams) newest() AuthenticatorParamsV2 {
	return AuthenticatorParamsV2{
		AuthenticatorName: p.AuthenticatorName, Challenge: p.Challenge,
		Attestation: AttestationParams{
			CredentialID: p.Attestation.RawID, ClientDataJSON: p.Attestation.Response.ClientDataJSON,
			AttestationObject: p.Attestation.Response.AttestationObject, Transports: p.Attestation.Response.Transports,
		},
	}
}

// documented is the passkey in the form of version 1, as the interface's
// document echoes it. How the authenticator is attached follows from how it can
// be reached.
func (p *AuthenticatorParamsV2) documented() AuthenticatorParams {
	attachment := ""
	if transports := p.Attestation.Transports; slices.Contains(transports, transportInternal) {
		attachment = "platform"
	} else if len(transports) > 0 {
		attachment = "cross-platform"
	}
	return AuthenticatorParams{
		AuthenticatorName: p.AuthenticatorName, Challenge: p.Challenge,
		Attestation: PublicKeyCredential{
			ID: p.Attestation.CredentialID, Type: "public-key", RawID: p.Attestation.CredentialID,
			AuthenticatorAttachment: attachment,
			Response: AttestationResponse{
				ClientDataJSON: p.Attestation.ClientDataJSON, AttestationObject: p.Attestation.AttestationObject,
				Transports: p.Attestation.Transports, AuthenticatorAttachment: attachment,
			},
			ClientExtensionResults: ClientExtensionResult{AppID: new(bool), AppIDExclude: new(bool)},
		},
	}
}

// eachNewest renders a list of version 1 in version 2.
func eachNewest(list []AuthenticatorParams) []AuthenticatorParamsV2 {
	newest := make([]AuthenticatorParamsV2, len(list))
	for i := range list {
		newest[i] = list[i].newest()
	}
	return newest
}

// addAuthenticator gives the user a passkey and returns its id.
func addAuthenticator(e activity.Env, u *domain.User, p AuthenticatorParamsV2) (string, error) {
	if limit := e.Limits.Authenticators; limit > 0 && len(u.Authenticators) >= limit {
		return "", fault.Exhausted("user has exceeded maximum authenticators (%d); delete one first", limit)
	}
	return registerPasskey(e, u, p)
}

// registerPasskey is [addAuthenticator] without the limit.
func registerPasskey(e activity.Env, u *domain.User, p AuthenticatorParamsV2) (string, error) {
	origins, err := e.Origins()
	if err != nil {
		return "", err
	}
	registered, err := passkey.Verify(p.answer(), origins)
	if err != nil {
		return "", err
	}
	a := domain.Authenticator{
		ID: e.NewID(), Name: p.AuthenticatorName,
		CredentialID: registered.CredentialID, COSEKey: registered.COSEKey, RPIDHash: registered.RPIDHash,
		Counter: registered.Counter, Attestation: registered.Attestation, AAGUID: registered.AAGUID,
		Model: model(p.Attestation.Transports), CreatedAt: e.Now, UpdatedAt: e.Now,
	}
	for _, t := range p.Attestation.Transports {
		a.Transports = append(a.Transports, string(t))
	}
	u.Authenticators = append(u.Authenticators, a)
	u.UpdatedAt = e.Now
	return a.ID, nil
}

// model describes the kind of authenticator. Attestations are not requested, so
// nothing more is known.
func model(transports []Transport) string {
	switch {
	case slices.Contains(transports, transportInternal):
		return "Platform authenticator"
	case slices.ContainsFunc(transports, func(t Transport) bool { return t != "AUTHENTICATOR_TRANSPORT_HYBRID" }):
		return "Security key"
	default:
		return "Passkey"
	}
}
