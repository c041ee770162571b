package ops

import (
	"context"

	"latchkey/internal/request/activity"
)

// DeleteSmartContractInterface deletes the description of a contract.
var DeleteSmartContractInterface = activity.Op[ContractInterfaceID, ContractInterfaceResult]{
	Spec: activity.Spec{
		Name: "delete_smart_contract_interface", Version: 1,
		Summary: "Delete the description of a contract.",
		Govern:  activity.Govern{Resource: activity.ResourceInterface, Action: activity.ActionDelete},
	},
	Exec: deleteSmartContractInterface,
}

// ContractInterfaceID are the parameters of delete_smart_contract_interface.
type ContractInterfaceID struct {
	SmartContractInterfaceID string `json:"smartContractInterfaceId" check:"required,uuid" doc:"The description."`
}

func deleteSmartContractInterface(_ context.Context, e activity.Env, p *ContractInterfaceID) (ContractInterfaceResult, error) {
	return ContractInterfaceResult(*p), e.Tx.ContractInterfaces().Delete(p.SmartContractInterfaceID)
}
