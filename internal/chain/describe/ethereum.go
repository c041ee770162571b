package describe

import (
	"encoding/hex"
	"math/big"
	"strings"

	"latchkey/internal/chain/eth"
	"latchkey/internal/policy/fact"
)

// types are the names of the transaction types.
var types = map[eth.Type]string{
	eth.Legacy:     "LEGACY",
	eth.AccessList: "TYPE_1",
	eth.DynamicFee: "TYPE_2",
	eth.Blob:       "TYPE_3",
	eth.SetCode:    "TYPE_4",
}

// Ethereum describes a transaction that the address from signs. The interfaces
// may be nil.
//
// What the transaction does not have is empty or zero: the chain id of one from
// before EIP-155, the recipient of one that creates a contract. The gas price of
// a type that has none is the most that it can be, the maximal fee. The
// selector is always that of the data; name and arguments are there only if the
// recipient's interface fits the whole call.
func Ethereum(tx *eth.Tx, from string, interfaces Interfaces) *fact.EthereumTx {
	f := &fact.EthereumTx{
		From:                 from,
		Data:                 "0x" + hex.EncodeToString(tx.Data),
		Type:                 types[tx.Type],
		Value:                number(tx.Value),
		Gas:                  fact.Uint(tx.Gas),
		GasPrice:             number(tx.GasPrice),
		ChainID:              number(tx.ChainID),
		Nonce:                fact.Uint(tx.Nonce),
		MaxFeePerGas:         number(tx.MaxFeePerGas),
		MaxPriorityFeePerGas: number(tx.MaxPriorityFeePerGas),
		MaxFeePerBlobGas:     number(tx.MaxFeePerBlobGas),
	}
	if tx.GasPrice == nil {
		f.GasPrice = f.MaxFeePerGas
	}
	if len(tx.Data) >= 4 {
		f.FunctionSignature = f.Data[:2+2*4]
	}
	if tx.To == nil {
		return f
	}
	f.To = tx.To.String()
	if interfaces == nil {
		return f
	}
	contract := interfaces.Contract(f.To)
	if contract == nil {
		return f
	}
	if call, ok := contract.Call(tx.Data); ok {
		f.FunctionName = call.Name
		f.ContractCallArgs = &call.Args
	}
	return f
}

// EIP7702 describes an authorization to run a contract's code as the account.
func EIP7702(a *eth.Authorization) *fact.EIP7702 {
	return &fact.EIP7702{Address: a.Address.String(), ChainID: number(a.ChainID), Nonce: fact.Uint(a.Nonce)}
}

// EIP712 describes typed data. A standard member of the domain that is absent,
// or declared with another type than the standard's, is empty or zero.
//
// Values of the message are compared as their declared type asks: addresses and
// bytes without case, strings exactly. An integer is a number if the document
// writes it as one; written as a string it stays that string.
func EIP712(td *eth.TypedData) *fact.EIP712 {
	f := &fact.EIP712{
		PrimaryType: td.PrimaryType,
		Domain:      fact.EIP712Domain{Name: td.Domain.Name, Version: td.Domain.Version, ChainID: number(td.Domain.ChainID)},
		Message:     fields(td.Members()),
	}
	if td.Domain.VerifyingContract != nil {
		f.Domain.VerifyingContract = td.Domain.VerifyingContract.String()
	}
	return f
}

func fields(members eth.Struct) fact.Map {
	all := make(fact.Map, len(members))
	for i := range members {
		all[i] = fact.Entry{Name: members[i].Name, Value: typed(&members[i])}
	}
	return all
}

func typed(m *eth.Member) fact.Value {
	switch v := m.Value.(type) {
	case bool:
		return fact.Value{Kind: fact.Bool, Bool: v}
	case string:
		return fact.String(v)
	case eth.Address:
		return fact.Bytes(v[:])
	case []byte:
		return fact.Bytes(v)
	case *big.Int:
		switch {
		case m.Quoted != "":
			return fact.String(m.Quoted)
		case strings.HasPrefix(m.Type, "uint"):
			return fact.Unsigned(number(v))
		default:
			return fact.Signed(number(v))
		}
	case eth.Array:
		list := make([]fact.Value, len(v))
		for i := range v {
			list[i] = typed(&v[i])
		}
		return fact.Value{Kind: fact.List, List: list}
	case eth.Struct:
		return fact.Value{Kind: fact.Struct, Fields: fields(v)}
	default:
		return fact.Value{Kind: fact.Unreadable, Text: "a value of this type cannot be compared"}
	}
}
