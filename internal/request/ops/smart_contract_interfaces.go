package ops

import (
	"context"

	"latchkey/internal/chain/abi"
	"latchkey/internal/chain/idl"
	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
	"latchkey/internal/schema"
)

// The operations on smart contract interfaces, which let policies speak of the
// arguments of calls.
var (
	CreateSmartContractInterface = activity.Op[ContractInterfaceParams, ContractInterfaceResult]{
		Spec: activity.Spec{
			Name: "create_smart_contract_interface", Version: 1,
			Summary: "Describe a contract by its ABI, or a program by its IDL; the newest description of an address counts.",
			Govern:  activity.Govern{Resource: activity.ResourceInterface, Action: activity.ActionCreate},
		},
		Exec: createContractInterface,
	}
	DeleteSmartContractInterface = activity.Op[ContractInterfaceID, ContractInterfaceResult]{
		Spec: activity.Spec{
			Name: "delete_smart_contract_interface", Version: 1,
			Summary: "Delete the description of a contract.",
			Govern:  activity.Govern{Resource: activity.ResourceInterface, Action: activity.ActionDelete},
		},
		Exec: func(_ context.Context, e activity.Env, p *ContractInterfaceID) (ContractInterfaceResult, error) {
			return ContractInterfaceResult(*p), e.Tx.ContractInterfaces().Delete(p.SmartContractInterfaceID)
		},
	}
	GetSmartContractInterface = activity.Query[GetContractInterfaceParams, GetContractInterfaceReply]{
		Name:    "get_smart_contract_interface",
		Summary: "Read the description of a contract.",
		Read: func(_ context.Context, r activity.Reader, p *GetContractInterfaceParams) (GetContractInterfaceReply, error) {
			found, err := r.Tx.ContractInterfaces().Get(p.SmartContractInterfaceID)
			if err != nil {
				return GetContractInterfaceReply{}, err
			}
			return GetContractInterfaceReply{SmartContractInterface: contractRecord(r.Tx.Org())(found)}, nil
		},
	}
	ListSmartContractInterfaces = activity.Query[InOrganization, ListContractInterfacesReply]{
		Name:    "list_smart_contract_interfaces",
		Summary: "Read all descriptions of contracts.",
		Read: func(_ context.Context, r activity.Reader, _ *InOrganization) (ListContractInterfacesReply, error) {
			all, err := r.Tx.ContractInterfaces().List("", 0)
			return ListContractInterfacesReply{SmartContractInterfaces: record.Each(all, contractRecord(r.Tx.Org()))}, err
		},
	}
)

// ContractInterfaceParams are the parameters of create_smart_contract_interface.
type ContractInterfaceParams struct {
	SmartContractAddress   string              `json:"smartContractAddress" check:"required,max=200" doc:"Address of the contract or program." example:"0x95222290DD7278Aa3Ddd389Cc1E1d165CC4BAfe5"`
	SmartContractInterface string              `json:"smartContractInterface" check:"required,max=400000" doc:"Its ABI or IDL, as JSON text." example:"[]"`
	Type                   domain.ContractType `json:"type" check:"required" doc:"Network of the contract."`
	Label                  string              `json:"label" check:"required,label" doc:"Human-readable name."`
	Notes                  string              `json:"notes,omitzero" check:"max=10000" doc:"Human-readable notes."`
}

// Check reads the interface.
func (p *ContractInterfaceParams) Check(problems *schema.Problems) {
	var err error
	if p.Type == domain.ContractEthereum {
		_, err = abi.Parse(p.SmartContractInterface)
	} else {
		_, err = idl.Parse(p.SmartContractInterface)
	}
	if err != nil {
		problems.Add("smartContractInterface", "%v", err)
	}
}

// ContractInterfaceID names a description.
type ContractInterfaceID struct {
	SmartContractInterfaceID string `json:"smartContractInterfaceId" check:"required,uuid" doc:"The description."`
}

// ContractInterfaceResult is the result of both.
type ContractInterfaceResult struct {
	SmartContractInterfaceID string `json:"smartContractInterfaceId" check:"required,uuid" doc:"The description."`
}

// GetContractInterfaceParams are the parameters of get_smart_contract_interface.
type GetContractInterfaceParams struct {
	OrganizationID           string `json:"organizationId" check:"required" doc:"Organization to read."`
	SmartContractInterfaceID string `json:"smartContractInterfaceId" check:"required,uuid" doc:"Description to read."`
}

// GetContractInterfaceReply is the reply of get_smart_contract_interface.
type GetContractInterfaceReply struct {
	SmartContractInterface ContractInterface `json:"smartContractInterface" check:"required" doc:"The description."`
}

// ListContractInterfacesReply is the reply of list_smart_contract_interfaces.
type ListContractInterfacesReply struct {
	SmartContractInterfaces []ContractInterface `json:"smartContractInterfaces" check:"required" doc:"Descriptions in the order of creation."`
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
	CreatedAt                record.Timestamp    `json:"createdAt" check:"required" doc:"When it was created."`
	UpdatedAt                record.Timestamp    `json:"updatedAt" check:"required" doc:"When it was last changed."`
}

func contractRecord(org string) func(*domain.ContractInterface) ContractInterface {
	return func(c *domain.ContractInterface) ContractInterface {
		return ContractInterface{
			OrganizationID: org, SmartContractInterfaceID: c.ID, SmartContractAddress: c.Address,
			SmartContractInterface: c.Text, Type: c.Type, Label: c.Label, Notes: c.Notes,
			CreatedAt: record.Time(c.CreatedAt), UpdatedAt: record.Time(c.UpdatedAt),
		}
	}
}

func createContractInterface(_ context.Context, e activity.Env, p *ContractInterfaceParams) (ContractInterfaceResult, error) {
	c := &domain.ContractInterface{
		ID: e.NewID(), Address: p.SmartContractAddress, Type: p.Type, Label: p.Label, Notes: p.Notes,
		Text: p.SmartContractInterface, CreatedAt: e.Now, UpdatedAt: e.Now,
	}
	return ContractInterfaceResult{SmartContractInterfaceID: c.ID}, e.Tx.ContractInterfaces().Insert(c)
}
