package ops

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
)

// GetOrganization reads what an organization holds.
var GetOrganization = activity.Query[InOrganization, GetOrganizationReply]{
	Name:    "get_organization",
	Summary: "Read the organization with its users, tags, policies, wallets and keys.",
	Read:    getOrganization,
}

// GetOrganizationReply is the reply of get_organization.
type GetOrganizationReply struct {
	OrganizationData OrganizationData `json:"organizationData" check:"required" doc:"The organization."`
}

// OrganizationData is what an organization holds. Lists are in the order of
// creation.
type OrganizationData struct {
	OrganizationID                   string                       `json:"organizationId" check:"required,uuid" doc:"Id of the organization."`
	Name                             string                       `json:"name" check:"required" doc:"Its name."`
	Users                            []record.User                `json:"users" check:"required" doc:"Its users, with their credentials."`
	Policies                         []Policy                     `json:"policies" check:"required" doc:"Its policies."`
	PrivateKeys                      []record.PrivateKey          `json:"privateKeys" check:"required" doc:"The public side of its private keys."`
	Tags                             []record.Tag                 `json:"tags" check:"required" doc:"Its tags, of users and of private keys."`
	RootQuorum                       Quorum                       `json:"rootQuorum" check:"required" doc:"Its root quorum."`
	Features                         []Feature                    `json:"features" check:"required" doc:"Features that are on."`
	Wallets                          []record.Wallet              `json:"wallets" check:"required" doc:"Its wallets, without their accounts."`
	SmartContractInterfaceReferences []ContractInterfaceReference `json:"smartContractInterfaceReferences" check:"required" doc:"Its descriptions of contracts, without their texts."`
}

// ContractInterfaceReference names a description of a contract.
type ContractInterfaceReference struct {
	SmartContractInterfaceID string `json:"smartContractInterfaceId" check:"required,uuid" doc:"Id of the description."`
	SmartContractAddress     string `json:"smartContractAddress" check:"required" doc:"Address of the contract or program."`
	Digest                   string `json:"digest" check:"required" doc:"SHA-256 of the text, as hex."`
}

func contractReference(c *domain.ContractInterface) ContractInterfaceReference {
	digest := sha256.Sum256([]byte(c.Text))
	return ContractInterfaceReference{
		SmartContractInterfaceID: c.ID, SmartContractAddress: c.Address, Digest: hex.EncodeToString(digest[:]),
	}
}

func getOrganization(_ context.Context, r activity.Reader, _ *InOrganization) (reply GetOrganizationReply, err error) {
	org, err := r.Tx.Organization()
	if err != nil {
		return reply, err
	}
	data := OrganizationData{
		OrganizationID: org.ID, Name: org.Name,
		RootQuorum: Quorum(org.RootQuorum),
		Features:   record.Each(org.Features, func(f domain.Feature) Feature { return Feature(f) }),
	}
	users, err := r.Tx.Users().List("", 0)
	if err != nil {
		return reply, err
	}
	tags, err := r.Tx.Tags().List("", 0)
	if err != nil {
		return reply, err
	}
	policies, err := r.Tx.Policies().List("", 0)
	if err != nil {
		return reply, err
	}
	keys, err := r.Tx.PrivateKeys().List("", 0)
	if err != nil {
		return reply, err
	}
	wallets, err := r.Tx.Wallets().List("", 0)
	if err != nil {
		return reply, err
	}
	contracts, err := r.Tx.ContractInterfaces().List("", 0)
	data.Users, data.Tags = record.Each(users, record.OfUser), record.Each(tags, record.OfTag)
	data.Policies, data.PrivateKeys = record.Each(policies, policyRecord), record.Each(keys, record.OfPrivateKey)
	data.Wallets = record.Each(wallets, record.OfWallet)
	data.SmartContractInterfaceReferences = record.Each(contracts, contractReference)
	return GetOrganizationReply{OrganizationData: data}, err
}
