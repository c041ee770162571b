package describe

import (
	"encoding/hex"

	"latchkey/internal/chain/tron"
	"latchkey/internal/policy/fact"
)

// Tron describes a transaction. Bytes, the memo's among them, are lower-case hex
// without 0x, as nodes and clients write them. Of a contract only the fields of
// its own type are there; the fields of types that policies do not know are not.
// That includes the amount of a TransferAssetContract, which a policy about TRX
// must not take for TRX.
func Tron(tx *tron.Tx) *fact.TronTx {
	return &fact.TronTx{
		RefBlockBytes: hex.EncodeToString(tx.RefBlockBytes),
		RefBlockHash:  hex.EncodeToString(tx.RefBlockHash),
		Data:          hex.EncodeToString(tx.Data),
		Expiration:    fact.Int(tx.Expiration),
		Timestamp:     fact.Int(tx.Timestamp),
		FeeLimit:      fact.Int(tx.FeeLimit),
		Contracts:     []fact.TronContract{tronContract(&tx.Contract)},
	}
}

func tronContract(c *tron.Contract) fact.TronContract {
	f := fact.TronContract{Type: c.Type.String(), PermissionID: fact.Int(int64(c.PermissionID))}
	if c.Owner != nil {
		f.OwnerAddress = c.Owner.String()
	}
	switch {
	case c.Transfer != nil:
		f.ToAddress = text(c.Transfer.To.String())
		f.Amount = integer(c.Transfer.Amount)
	case c.Trigger != nil:
		f.ContractAddress = text(c.Trigger.ContractAddress.String())
		f.CallValue = integer(c.Trigger.CallValue)
		f.Data = text(hex.EncodeToString(c.Trigger.Data))
		f.CallTokenValue = integer(c.Trigger.CallTokenValue)
		f.TokenID = integer(c.Trigger.TokenID)
	case c.Freeze != nil:
		f.Resource = text(c.Freeze.Resource.String())
		f.FrozenBalance = integer(c.Freeze.Balance)
	case c.Unfreeze != nil:
		f.Resource = text(c.Unfreeze.Resource.String())
		f.UnfreezeBalance = integer(c.Unfreeze.Balance)
	case c.Delegate != nil:
		delegation(&f, c.Delegate)
		f.Lock = new(c.Delegate.Lock)
		f.LockPeriod = integer(c.Delegate.LockPeriod)
	case c.Undelegate != nil:
		delegation(&f, c.Undelegate)
	case c.UpdatePermission != nil:
		f.Owner = permission(c.UpdatePermission.Owner)
		f.Witness = permission(c.UpdatePermission.Witness)
		f.Actives = []fact.TronPermission{} // there, even if empty
		for _, p := range c.UpdatePermission.Actives {
			f.Actives = append(f.Actives, *permission(p))
		}
	}
	return f
}

func delegation(f *fact.TronContract, d *tron.Delegate) {
	f.Resource = text(d.Resource.String())
	f.Balance = integer(d.Balance)
	f.ReceiverAddress = text(d.Receiver.String())
}

func permission(p *tron.Permission) *fact.TronPermission {
	if p == nil {
		return nil
	}
	f := &fact.TronPermission{
		Type:       p.Type.String(),
		Name:       p.Name,
		Operations: hex.EncodeToString(p.Operations),
		ID:         fact.Int(int64(p.ID)),
		Threshold:  fact.Int(p.Threshold),
		ParentID:   fact.Int(int64(p.ParentID)),
	}
	for _, k := range p.Keys {
		f.Keys = append(f.Keys, fact.TronKey{Address: k.Address.String(), Weight: fact.Int(k.Weight)})
	}
	return f
}

func text(s string) *string { return &s }

func integer(n int64) *fact.Number {
	v := fact.Int(n)
	return &v
}
