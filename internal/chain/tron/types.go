package tron

import "google.golang.org/protobuf/encoding/protowire"

// Type is the kind of a contract (core/Tron.proto, ContractType).
type Type int32

// The types whose parameters are read.
const (
	TransferContract                Type = 1
	TransferAssetContract           Type = 2
	TriggerSmartContract            Type = 31
	AccountPermissionUpdateContract Type = 46
	FreezeBalanceV2Contract         Type = 54
	UnfreezeBalanceV2Contract       Type = 55
	DelegateResourceContract        Type = 57
	UnDelegateResourceContract      Type = 58
)

// String is the name of the type, which is also the name of its parameter.
func (t Type) String() string { return typeNames[t] }

var typeNames = map[Type]string{
	0:  "AccountCreateContract",
	1:  "TransferContract",
	2:  "TransferAssetContract",
	3:  "VoteAssetContract",
	4:  "VoteWitnessContract",
	5:  "WitnessCreateContract",
	6:  "AssetIssueContract",
	8:  "WitnessUpdateContract",
	9:  "ParticipateAssetIssueContract",
	10: "AccountUpdateContract",
	11: "FreezeBalanceContract",
	12: "UnfreezeBalanceContract",
	13: "WithdrawBalanceContract",
	14: "UnfreezeAssetContract",
	15: "UpdateAssetContract",
	16: "ProposalCreateContract",
	17: "ProposalApproveContract",
	18: "ProposalDeleteContract",
	19: "SetAccountIdContract",
	30: "CreateSmartContract",
	31: "TriggerSmartContract",
	33: "UpdateSettingContract",
	41: "ExchangeCreateContract",
	42: "ExchangeInjectContract",
	43: "ExchangeWithdrawContract",
	44: "ExchangeTransactionContract",
	45: "UpdateEnergyLimitContract",
	46: "AccountPermissionUpdateContract",
	48: "ClearABIContract",
	49: "UpdateBrokerageContract",
	51: "ShieldedTransferContract",
	52: "MarketSellAssetContract",
	53: "MarketCancelOrderContract",
	54: "FreezeBalanceV2Contract",
	55: "UnfreezeBalanceV2Contract",
	56: "WithdrawExpireUnfreezeContract",
	57: "DelegateResourceContract",
	58: "UnDelegateResourceContract",
	59: "CancelAllUnfreezeV2Contract",
}

// ownerFields is where owner_address is in the types whose parameters are not
// read otherwise. ShieldedTransferContract has none.
var ownerFields = map[Type]protowire.Number{
	0: 1, 3: 1, 4: 1, 5: 1, 6: 1, 8: 1, 9: 1, 10: 2, 11: 1, 12: 1, 13: 1, 14: 1, 15: 1,
	16: 1, 17: 1, 18: 1, 19: 2, 30: 1, 33: 1, 41: 1, 42: 1, 43: 1, 44: 1, 45: 1, 48: 1,
	49: 1, 52: 1, 53: 1, 56: 1, 59: 1,
}
