package policytest

import (
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/domain"
	"latchkey/internal/keys/address"
	"latchkey/internal/keys/curve"
	"latchkey/internal/request/ops"
)

// This file holds what a file may contain. Limits are those of the interface.

type fileContent struct {
	Users            []user                            `json:"users,omitzero" check:"max=1000" doc:"Users of the organization."`
	Tags             []tag                             `json:"tags,omitzero" check:"max=1000" doc:"Tags of users, by name."`
	PrivateKeyTags   []tag                             `json:"privateKeyTags,omitzero" check:"max=1000" doc:"Tags of private keys, by name."`
	RootQuorum       *quorum                           `json:"rootQuorum,omitzero" doc:"The root quorum; absent: no user of the file is in it."`
	Wallets          []wallet                          `json:"wallets,omitzero" check:"max=1000" doc:"Wallets of the organization."`
	PrivateKeys      []privateKey                      `json:"privateKeys,omitzero" check:"max=1000" doc:"Private keys of the organization."`
	Interfaces       []interfaceSpec                   `json:"interfaces,omitzero" check:"max=1000" doc:"What is known of contracts and programs."`
	VelocityControls []ops.CreateVelocityControlParams `json:"velocityControls,omitzero" check:"max=1000" doc:"Limits over time, as create_velocity_control takes them."`
	Policies         []policySpec                      `json:"policies" check:"required,max=1000" doc:"The policies."`
	Cases            []caseSpec                        `json:"cases,omitzero" check:"max=10000" doc:"Requests and their expected outcomes."`
}

type user struct {
	Name        string       `json:"name" check:"required,label" doc:"Name of the user."`
	ID          string       `json:"id,omitzero" check:"uuid" doc:"Its id; absent: one is made up."`
	Email       string       `json:"email,omitzero" check:"email" doc:"E-mail address."`
	Tags        []string     `json:"tags,omitzero" check:"max=1000,unique" doc:"Names of its tags."`
	Credentials []credential `json:"credentials,omitzero" check:"max=100" doc:"What it votes with, the first being used; absent: one P-256 API key."`
}

type credential struct {
	Type         domain.CredentialType `json:"type" check:"required,enum=CREDENTIAL_TYPE_API_KEY_P256|CREDENTIAL_TYPE_API_KEY_SECP256K1|CREDENTIAL_TYPE_API_KEY_ED25519|CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR|CREDENTIAL_TYPE_RECOVER_USER_KEY_P256|CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256|CREDENTIAL_TYPE_OTP_AUTH_KEY_P256|CREDENTIAL_TYPE_OAUTH_KEY_P256|CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256|CREDENTIAL_TYPE_LOGIN" doc:"What it is."`
	ID           string                `json:"id,omitzero" check:"uuid" doc:"Its id; absent: one is made up."`
	PublicKey    string                `json:"publicKey,omitzero" check:"max=4000" doc:"Public key: hex, or base64url of a passkey's; absent: one is made up."`
	CredentialID string                `json:"credentialId,omitzero" check:"max=1400" doc:"Of a passkey: its raw id as base64url."`
}

type tag struct {
	Name string `json:"name" check:"required,label" doc:"Name of the tag."`
	ID   string `json:"id,omitzero" check:"uuid" doc:"Its id; absent: one is made up."`
}

type quorum struct {
	Threshold int32    `json:"threshold" check:"required,min=1" doc:"How many must agree."`
	Members   []string `json:"members" check:"required,min=1,unique" doc:"Names of users."`
}

type wallet struct {
	Name     string    `json:"name" check:"required,label" doc:"Name of the wallet."`
	ID       string    `json:"id,omitzero" check:"uuid" doc:"Its id; absent: one is made up."`
	Imported bool      `json:"imported,omitzero" doc:"It was imported."`
	Exported bool      `json:"exported,omitzero" doc:"It was exported."`
	Accounts []account `json:"accounts,omitzero" check:"max=1000" doc:"Its accounts."`
}

type account struct {
	Name      string         `json:"name,omitzero" check:"label" doc:"Name of the account, unique in the file."`
	Address   string         `json:"address,omitzero" check:"max=200" doc:"Its address; absent: that of the public key."`
	PublicKey string         `json:"publicKey,omitzero" check:"hex,max=66" doc:"Compressed public key; absent, without an address: one is made up."`
	Path      string         `json:"path,omitzero" check:"max=255" doc:"Derivation path; absent: one is made up."`
	Curve     curve.KeyCurve `json:"curve,omitzero" doc:"Curve of the key; absent: that of the format."`
	Format    address.Format `json:"format,omitzero" doc:"Format of the address; absent: ADDRESS_FORMAT_ETHEREUM."`
}

type privateKey struct {
	Name      string         `json:"name" check:"required,label" doc:"Name of the key."`
	ID        string         `json:"id,omitzero" check:"uuid" doc:"Its id; absent: one is made up."`
	Curve     curve.KeyCurve `json:"curve,omitzero" doc:"Curve of the key; absent: that of the first address, else CURVE_SECP256K1."`
	PublicKey string         `json:"publicKey,omitzero" check:"hex,max=66" doc:"Compressed public key; absent, without addresses: one is made up."`
	Addresses []keyAddress   `json:"addresses,omitzero" check:"max=50" doc:"Its addresses."`
	Tags      []string       `json:"tags,omitzero" check:"max=1000,unique" doc:"Names of its tags, of privateKeyTags."`
	Imported  bool           `json:"imported,omitzero" doc:"It was imported."`
	Exported  bool           `json:"exported,omitzero" doc:"It was exported."`
}

type keyAddress struct {
	Address string         `json:"address,omitzero" check:"max=200" doc:"The address; absent: that of the public key."`
	Format  address.Format `json:"format,omitzero" doc:"Its format; absent: ADDRESS_FORMAT_ETHEREUM."`
}

type interfaceSpec struct {
	Address string              `json:"address" check:"required,max=200" doc:"Address of the contract or program."`
	Type    domain.ContractType `json:"type" check:"required" doc:"Network of the contract."`
	File    string              `json:"file,omitzero" doc:"File with its ABI or IDL; a relative path is taken from the folder of this file."`
	JSON    jsontext.Value      `json:"json,omitzero" doc:"Its ABI or IDL itself, as text or as YAML."`
}

// policySpec is a policy as create_policies takes it. What list_policies adds is
// ignored, so that its reply can be used as it is.
type policySpec struct {
	PolicyName string         `json:"policyName" check:"required,label" doc:"Name, unique in the organization."`
	Effect     domain.Effect  `json:"effect" check:"required" doc:"What the policy does when it applies."`
	Condition  string         `json:"condition,omitzero" check:"max=20000" doc:"Expression over the request."`
	Consensus  string         `json:"consensus,omitzero" check:"max=20000" doc:"Expression over the approvers."`
	Time       string         `json:"time,omitzero" check:"max=20000" doc:"Expression over the time."`
	Notes      string         `json:"notes,omitzero" check:"max=10000" doc:"Human-readable notes."`
	PolicyID   string         `json:"policyId,omitzero" doc:"Ignored."`
	CreatedAt  jsontext.Value `json:"createdAt,omitzero" doc:"Ignored."`
	UpdatedAt  jsontext.Value `json:"updatedAt,omitzero" doc:"Ignored."`
}

type caseSpec struct {
	Name       string         `json:"name" check:"required,label" doc:"What the case shows."`
	Operation  string         `json:"operation,omitzero" doc:"Operation; its newest version is meant."`
	Type       string         `json:"type,omitzero" doc:"Activity type, instead of the operation."`
	Parameters jsontext.Value `json:"parameters,omitzero" check:"object" doc:"Parameters of the operation."`
	Submitter  string         `json:"submitter" check:"required" doc:"Name of the user who asks."`
	Approvers  []string       `json:"approvers,omitzero" check:"max=1000,unique" doc:"Names of further users who approve."`
	Time       string         `json:"time,omitzero" check:"max=64" doc:"When, as in RFC 3339."`
	Used       jsontext.Value `json:"used,omitzero" check:"object" doc:"What velocity controls have used before, by identifier; absent: nothing."`
	Expect     string         `json:"expect" check:"required,enum=ALLOW|DENY|PENDING" doc:"Expected outcome."`
	DeniedBy   []string       `json:"deniedBy,omitzero" check:"unique" doc:"Names of the policies that are to deny it, no others."`
	CanApprove []string       `json:"canApprove,omitzero" check:"unique" doc:"Names of the users who are to be able to approve it, no others."`
}
