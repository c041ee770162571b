package transfer

import (
	"math/big"

	"latchkey/internal/chain/eth"
	"latchkey/internal/policy/fact"
)

// permit2 is the address of Permit2, the same on every chain.
var permit2 = eth.Address{0, 0, 0, 0, 0, 0x22, 0xd4, 0x73, 0x03, 0x0f, 0x11, 0x6d, 0xde, 0xe9, 0xf6, 0xb4, 0x3a, 0xc7, 0x8b, 0xa3}

// member is the name and type of a member of typed data.
type member struct{ name, kind string }

// tokenMessages are the messages that a token itself takes: EIP-3009 and EIP-2612.
var tokenMessages = map[string][]member{
	"TransferWithAuthorization": authorization3009,
	"ReceiveWithAuthorization":  authorization3009,
	"Permit":                    {{"owner", "address"}, {"spender", "address"}, {"value", "uint256"}, {"nonce", "uint256"}, {"deadline", "uint256"}},
}

var authorization3009 = []member{
	{"from", "address"}, {"to", "address"}, {"value", "uint256"}, {"validAfter", "uint256"}, {"validBefore", "uint256"}, {"nonce", "bytes32"},
}

// permit2Messages are those of Permit2. The first member has the tokens; a
// witness, of any type, may follow where the last member says so.
var permit2Messages = map[string][]member{
	"PermitSingle":                   {{"details", "PermitDetails"}, {"spender", "address"}, {"sigDeadline", "uint256"}},
	"PermitBatch":                    {{"details", "PermitDetails[]"}, {"spender", "address"}, {"sigDeadline", "uint256"}},
	"PermitTransferFrom":             {{"permitted", "TokenPermissions"}, {"spender", "address"}, {"nonce", "uint256"}, {"deadline", "uint256"}},
	"PermitBatchTransferFrom":        {{"permitted", "TokenPermissions[]"}, {"spender", "address"}, {"nonce", "uint256"}, {"deadline", "uint256"}},
	"PermitWitnessTransferFrom":      {{"permitted", "TokenPermissions"}, {"spender", "address"}, {"nonce", "uint256"}, {"deadline", "uint256"}, witness},
	"PermitBatchWitnessTransferFrom": {{"permitted", "TokenPermissions[]"}, {"spender", "address"}, {"nonce", "uint256"}, {"deadline", "uint256"}, witness},
}

// witness is the member whose name and type the spender chooses.
var witness = member{}

// permitted are the structs that name a token and an amount of it.
var permitted = map[string][]member{
	"PermitDetails":    {{"token", "address"}, {"amount", "uint160"}, {"expiration", "uint48"}, {"nonce", "uint48"}},
	"TokenPermissions": {{"token", "address"}, {"amount", "uint256"}},
}

// TypedData reads a message of EIP-712. Only the exact types of the standards are
// understood: a contract takes no others for them.
func TypedData(td *eth.TypedData) *fact.Transfers {
	if td.Domain.ChainID == nil || td.Domain.ChainID.Sign() == 0 {
		return unreadable(evm, "", "the typed data does not name its chain")
	}
	network := td.Domain.ChainID.String()
	members := td.Members()
	contract := td.Domain.VerifyingContract
	switch {
	case contract == nil:
	case *contract == permit2:
		if t, ok := permit2Tokens(network, td.PrimaryType, members); ok {
			return t
		}
	case has(members, tokenMessages[td.PrimaryType]):
		t := &fact.Transfers{}
		value, _ := members[2].Value.(*big.Int)
		add(t, fact.Asset{Namespace: evm, Network: network, Token: contract.String()}, amountOf(value))
		return t
	}
	return unreadable(evm, network, "the typed data is not of a type by which a token is known to move")
}

func permit2Tokens(network, primaryType string, members eth.Struct) (*fact.Transfers, bool) {
	want := permit2Messages[primaryType]
	if !has(members, want) {
		return nil, false
	}
	list, many := members[0].Value.(eth.Array)
	if !many {
		list = eth.Array{members[0]}
	}
	t := &fact.Transfers{}
	for _, m := range list {
		fields, _ := m.Value.(eth.Struct)
		if !has(fields, permitted[m.Type]) {
			return nil, false
		}
		token, _ := fields[0].Value.(eth.Address)
		amount, _ := fields[1].Value.(*big.Int)
		add(t, fact.Asset{Namespace: evm, Network: network, Token: token.String()}, amountOf(amount))
	}
	return t, true
}

// has reports whether the members are exactly those of a type that is known.
func has(members eth.Struct, want []member) bool {
	if len(want) == 0 || len(members) != len(want) {
		return false
	}
	for i, w := range want {
		if w != witness && (members[i].Name != w.name || members[i].Type != w.kind) {
			return false
		}
	}
	return true
}
