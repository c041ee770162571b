package transfer

import (
	"latchkey/internal/chain/btc"
	"latchkey/internal/policy/fact"
)

// Bitcoin reads a transaction: what the own inputs hold above what the own outputs
// get, the fee included. It does not name its network. own says of an output,
// spent or made, whether it belongs to whom the limit is for; untold is why the
// inputs are not proven, as [describe.Bitcoin] says it.
func Bitcoin(tx *btc.Tx, untold string, own func(*btc.Output) (bool, error)) (*fact.Transfers, error) {
	if untold != "" {
		return unreadable(bitcoin, "", untold), nil
	}
	var sum int64
	for i := range tx.Inputs {
		mine, err := own(&btc.Output{Value: tx.Inputs[i].Amount, Script: tx.Inputs[i].Script})
		if err != nil {
			return nil, err
		}
		if mine {
			sum += tx.Inputs[i].Amount
		}
	}
	for i := range tx.Outputs {
		mine, err := own(&tx.Outputs[i])
		if err != nil {
			return nil, err
		}
		if mine {
			sum -= tx.Outputs[i].Value
		}
	}
	t := &fact.Transfers{}
	if sum > 0 { // else others pay in
		add(t, fact.Asset{Namespace: bitcoin}, fact.Int(sum))
	}
	return t, nil
}
