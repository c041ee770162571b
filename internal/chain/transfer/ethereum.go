package transfer

import (
	"math/big"

	"github.com/holiman/uint256"

	"latchkey/internal/chain/eth"
	"latchkey/internal/policy/fact"
)

// Ethereum reads a transaction of an EVM chain. Fees do not count.
func Ethereum(tx *eth.Tx) *fact.Transfers {
	if tx.ChainID == nil || tx.ChainID.Sign() == 0 {
		return unreadable(evm, "", "the transaction does not name its chain")
	}
	network := tx.ChainID.String()
	if tx.Type == eth.SetCode {
		return unreadable(evm, network, "the transaction sets the code of accounts (EIP-7702), which may move anything")
	}
	t := &fact.Transfers{}
	add(t, fact.Asset{Namespace: evm, Network: network}, amountOf(tx.Value))
	switch amount, understood := tokenAmount(tx.Data); {
	case tx.To != nil && len(tx.Data) == 0:
	case tx.To != nil && understood:
		add(t, fact.Asset{Namespace: evm, Network: network, Token: tx.To.String()}, amount)
	default:
		why := "the call is not one by which a token is known to move"
		if tx.To == nil {
			why = "the transaction creates a contract, which may move tokens"
		}
		t.Untold = append(t.Untold, fact.Untold{Namespace: evm, Network: network, Tokens: true, Why: why})
	}
	return t
}

// Authorization reads an authorization to run the code of a contract as the
// account (EIP-7702).
func Authorization(a *eth.Authorization) *fact.Transfers {
	network := ""
	if a.ChainID.Sign() > 0 { // 0 is every chain
		network = a.ChainID.String()
	}
	return unreadable(evm, network, "the authorization lets a contract act as the account (EIP-7702), which may move anything")
}

func unreadable(namespace, network, why string) *fact.Transfers {
	return &fact.Transfers{Untold: []fact.Untold{{Namespace: namespace, Network: network, Native: true, Tokens: true, Why: why}}}
}

// amountOf is an unsigned integer that a parser has read.
func amountOf(n *big.Int) fact.Number {
	if n == nil {
		return fact.Number{}
	}
	amount, err := fact.Big(n)
	if err != nil { // parsers let no more through; one that did must not make it look small
		amount.Magnitude = *new(uint256.Int).SetAllOne()
	}
	return amount
}
