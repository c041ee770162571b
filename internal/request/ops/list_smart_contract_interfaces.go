package ops

import (
	"context"

	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
)

// ListSmartContractInterfaces reads all descriptions of contracts.
var ListSmartContractInterfaces = activity.Query[InOrganization, ListContractInterfacesReply]{
	Name:    "list_smart_contract_interfaces",
	Summary: "Read all descriptions of contracts.",
	Read:    listSmartContractInterfaces,
}

// ListContractInterfacesReply is the reply of list_smart_contract_interfaces.
type ListContractInterfacesReply struct {
	SmartContractInterfaces []ContractInterface `json:"smartContractInterfaces" check:"required" doc:"Descriptions in the order of creation."`
}

func listSmartContractInterfaces(_ context.Context, r activity.Reader, _ *InOrganization) (ListContractInterfacesReply, error) {
	all, err := r.Tx.ContractInterfaces().List("", 0)
	return ListContractInterfacesReply{SmartContractInterfaces: record.Each(all, contractRecord(r.Tx.Org()))}, err
}
