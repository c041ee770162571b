package domain

import (
	"strings"
	"time"
)

// Policy says who may do what, and who must approve.
type Policy struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Effect    Effect    `json:"effect"`
	Condition string    `json:"condition,omitzero"` // empty: always
	Consensus string    `json:"consensus,omitzero"` // empty: any submitter
	Time      string    `json:"time,omitzero"`      // empty: at any time
	Notes     string    `json:"notes,omitzero"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// Effect is what a policy does when it applies.
type Effect string

// The effects.
const (
	EffectAllow Effect = "EFFECT_ALLOW"
	EffectDeny  Effect = "EFFECT_DENY"
)

// Enum lists the effects for the schema.
func (Effect) Enum() []string { return []string{string(EffectAllow), string(EffectDeny)} }

// ContractInterface describes the functions of a contract or program, so that
// policies can read their arguments.
type ContractInterface struct {
	ID        string       `json:"id"`
	Address   string       `json:"address"` // as it was given
	Type      ContractType `json:"type"`
	Label     string       `json:"label"`
	Notes     string       `json:"notes,omitzero"`
	Decimals  string       `json:"decimals,omitzero"` // of a token; empty: not said
	Symbol    string       `json:"symbol,omitzero"`
	Text      string       `json:"text"` // the JSON
	CreatedAt time.Time    `json:"createdAt"`
	UpdatedAt time.Time    `json:"updatedAt"`
}

// ContractType says whose interface it is.
type ContractType string

// The types of contracts.
const (
	ContractEthereum ContractType = "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM"
	ContractSolana   ContractType = "SMART_CONTRACT_INTERFACE_TYPE_SOLANA"
)

// Enum lists the types for the schema.
func (ContractType) Enum() []string {
	return []string{string(ContractEthereum), string(ContractSolana)}
}

// Key is what the interface is found by: the case of an address does not
// matter for Ethereum, but does for Solana.
func (c *ContractInterface) Key() string { return ContractKey(c.Type, c.Address) }

// ContractKey is the key of the interfaces of one contract.
func ContractKey(t ContractType, address string) string {
	if t == ContractEthereum {
		address = strings.ToLower(address)
	}
	return string(t) + " " + address
}
