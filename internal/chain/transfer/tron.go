package transfer

import (
	"latchkey/internal/chain/tron"
	"latchkey/internal/policy/fact"
)

// Tron reads a transaction of Tron, which does not name its network. Fees do not
// count, and neither do TRC-10 tokens, stakes and lent resources: they are other
// assets, or stay with the account.
func Tron(tx *tron.Tx) *fact.Transfers {
	t := &fact.Transfers{}
	c := &tx.Contract
	native := func(sun int64) {
		if sun > 0 {
			add(t, fact.Asset{Namespace: tronNet}, fact.Int(sun))
		}
	}
	switch {
	case c.Transfer != nil:
		native(c.Transfer.Amount)
	case c.TransferAsset != nil, c.Freeze != nil, c.Unfreeze != nil, c.Delegate != nil, c.Undelegate != nil:
	case c.Trigger != nil:
		native(c.Trigger.CallValue)
		if amount, understood := tokenAmount(c.Trigger.Data); understood {
			add(t, fact.Asset{Namespace: tronNet, Token: c.Trigger.ContractAddress.String()}, amount)
		} else {
			t.Untold = append(t.Untold, fact.Untold{Namespace: tronNet, Tokens: true, Why: "the call is not one by which a token is known to move"})
		}
	default:
		return unreadable(tronNet, "", "a "+c.Type.String()+" is not known to leave what the account holds where it is")
	}
	return t
}
