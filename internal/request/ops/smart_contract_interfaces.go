package ops

import (
	"latchkey/internal/domain"
	"latchkey/internal/request/record"
)

// This file holds what several operations say about smart contract interfaces,
// which let policies refer to the arguments of calls.

// ContractInterfaceResult is the result of create_smart_contract_interface and
// delete_smart_contract_interface.
type ContractInterfaceResult struct {
	SmartContractInterfaceID string `json:"smartContractInterfaceId" check:"required,uuid" doc:"The description."`
}

// ContractInterface is a description as clients read it.
type ContractInterface struct {
	OrganizationID           string              `json:"organizationId" check:"required,uuid" doc:"Organization that it belongs to."`
	SmartContractInterfaceID string              `json:"smartContractInterfaceId" check:"required,uuid" doc:"Id of the description."`
	SmartContractAddress     string              `json:"smartContractAddress" check:"required" doc:"Address of the contract or program."`
	SmartContractInterface   string              `json:"smartContractInterface" check:"required" doc:"Its ABI or IDL, as JSON text."`
	Type                     domain.ContractType `json:"type" check:"required" doc:"Network of the contract."`
	Label                    string              `json:"label" check:"required" doc:"Human-readable name."`
	Notes                    string              `json:"notes" check:"required,allowempty" doc:"Human-readable notes."`
	Decimals                 string              `json:"decimals,omitzero" doc:"Of a token, how many decimal places its amounts have; absent if that was not said."`
	Symbol                   string              `json:"symbol,omitzero" doc:"Of a token, how its unit is written; absent if that was not said."`
	CreatedAt                record.Timestamp    `json:"createdAt" check:"required" doc:"When it was created."`
	UpdatedAt                record.Timestamp    `json:"updatedAt" check:"required" doc:"When it was last changed."`
}

func contractRecord(org string) func(*domain.ContractInterface) ContractInterface {
	return func(c *domain.ContractInterface) ContractInterface {
		return ContractInterface{
			OrganizationID: org, SmartContractInterfaceID: c.ID, SmartContractAddress: c.Address,
			SmartContractInterface: c.Text, Type: c.Type, Label: c.Label, Notes: c.Notes, Decimals: c.Decimals, Symbol: c.Symbol,
			CreatedAt: record.Time(c.CreatedAt), UpdatedAt: record.Time(c.UpdatedAt),
		}
	}
}
