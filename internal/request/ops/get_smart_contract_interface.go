package ops

import (
	"context"

	"latchkey/internal/request/activity"
)

// GetSmartContractInterface reads the description of a contract.
var GetSmartContractInterface = activity.Query[GetContractInterfaceParams, GetContractInterfaceReply]{
	Name:    "get_smart_contract_interface",
	Summary: "Read the description of a contract.",
	Read:    getSmartContractInterface,
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

func getSmartContractInterface(_ context.Context, r activity.Reader, p *GetContractInterfaceParams) (GetContractInterfaceReply, error) {
	found, err := r.Tx.ContractInterfaces().Get(p.SmartContractInterfaceID)
	if err != nil {
		return GetContractInterfaceReply{}, err
	}
	return GetContractInterfaceReply{SmartContractInterface: contractRecord(r.Tx.Org())(found)}, nil
}
