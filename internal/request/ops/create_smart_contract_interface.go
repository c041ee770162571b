package ops

import (
	"context"
	"strconv"

	"latchkey/internal/chain/abi"
	"latchkey/internal/chain/idl"
	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// CreateSmartContractInterface stores the description of a contract.
var CreateSmartContractInterface = activity.Op[ContractInterfaceParams, ContractInterfaceResult]{
	Spec: activity.Spec{
		Name: "create_smart_contract_interface", Version: 1,
		Summary: "Describe a contract by its ABI, or a program by its IDL; the newest description of an address counts.",
		Govern:  activity.Govern{Resource: activity.ResourceInterface, Action: activity.ActionCreate},
	},
	Exec: createSmartContractInterface,
}

// ContractInterfaceParams are the parameters of create_smart_contract_interface.
type ContractInterfaceParams struct {
	SmartContractAddress   string              `json:"smartContractAddress" check:"required,max=200" doc:"Address of the contract or program." example:"0x95222290DD7278Aa3Ddd389Cc1E1d165CC4BAfe5"`
	SmartContractInterface string              `json:"smartContractInterface" check:"required,max=400000" doc:"Its ABI or IDL, as JSON text." example:"[]"`
	Type                   domain.ContractType `json:"type" check:"required" doc:"Network of the contract."`
	Label                  string              `json:"label" check:"required,label" doc:"Human-readable name."`
	Notes                  string              `json:"notes,omitzero" check:"max=10000" doc:"Human-readable notes."`
	Decimals               string              `json:"decimals,omitzero" check:"max=3" doc:"Of a token, how many decimal places its amounts have, from 0 to 255, as text. Amounts are then shown in its unit." example:"6"`
	Symbol                 string              `json:"symbol,omitzero" check:"max=32" doc:"Of a token, how its unit is written." example:"USDC"`
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
	if places, err := strconv.ParseUint(p.Decimals, 10, 8); p.Decimals != "" && (err != nil || strconv.FormatUint(places, 10) != p.Decimals) {
		problems.Add("decimals", "must be a whole number from 0 to 255, as text")
	}
	if p.Symbol != "" && p.Decimals == "" {
		problems.Add("symbol", "is that of a token, whose decimals must be given too")
	}
}

func createSmartContractInterface(_ context.Context, e activity.Env, p *ContractInterfaceParams) (ContractInterfaceResult, error) {
	c := &domain.ContractInterface{
		ID: e.NewID(), Address: p.SmartContractAddress, Type: p.Type, Label: p.Label, Notes: p.Notes,
		Decimals: p.Decimals, Symbol: p.Symbol, Text: p.SmartContractInterface, CreatedAt: e.Now, UpdatedAt: e.Now,
	}
	if err := e.Tx.ContractInterfaces().Insert(c); err != nil {
		return ContractInterfaceResult{}, err
	}
	all, err := e.Tx.ContractInterfaces().List("", 0)
	if err != nil {
		return ContractInterfaceResult{}, err
	}
	return ContractInterfaceResult{SmartContractInterfaceID: c.ID}, checkText("smart contract interfaces", maxInterfaceText, all,
		func(c *domain.ContractInterface) int { return len(c.Text) + len(c.Notes) })
}

// maxInterfaceText bounds the texts of an organization's interfaces.
const maxInterfaceText = 8 << 20
