package tron

import (
	"bytes"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Contract is what a transaction does.
type Contract struct {
	Type         Type
	PermissionID int32
	Provider     []byte
	Name         []byte

	// Owner is the account that acts. It is nil only for types whose parameter
	// has none.
	Owner *Address

	// Parameter is the encoded parameter. For the types below it is also read
	// into the one pointer that is set; of other types only the owner is read,
	// and their parameter need not be canonical.
	Parameter []byte

	Transfer         *Transfer
	TransferAsset    *TransferAsset
	Trigger          *Trigger
	Freeze           *Freeze   // FreezeBalanceV2Contract
	Unfreeze         *Freeze   // UnfreezeBalanceV2Contract
	Delegate         *Delegate // DelegateResourceContract
	Undelegate       *Delegate // UnDelegateResourceContract
	UpdatePermission *UpdatePermission
}

// typeURL prefixes the name of a type in google.protobuf.Any.
const typeURL = "type.googleapis.com/protocol."

// message binds the fields of Transaction.Contract; kind and parameter are in
// their wire form.
func (c *Contract) message(kind *int64, parameter *[]byte) message {
	return message{
		{1, "contract.type", kind},
		{2, "contract.parameter", parameter},
		{3, "contract.provider", &c.Provider},
		{4, "contract.ContractName", &c.Name},
		{5, "contract.Permission_id", &c.PermissionID},
	}
}

func (c *Contract) read(b []byte) error {
	var kind int64
	var wrapped []byte
	if err := c.message(&kind, &wrapped).read(b); err != nil {
		return err
	}
	if c.Type = Type(kind); int64(c.Type) != kind || typeNames[c.Type] == "" {
		return fmt.Errorf("unknown contract type %d", kind)
	}
	var url string
	if err := (message{{1, "type_url", &url}, {2, "value", &c.Parameter}}).read(wrapped); err != nil {
		return err
	}
	// Nodes choose the reader by the type and then compare the name.
	if url != typeURL+c.Type.String() {
		return fmt.Errorf("the parameter of a %s has another type", c.Type)
	}
	return c.readParameter()
}

func (c *Contract) encode() []byte {
	kind := int64(c.Type)
	url := typeURL + c.Type.String()
	wrapped := message{{1, "", &url}, {2, "", &c.Parameter}}.append(nil)
	return c.message(&kind, &wrapped).append(nil)
}

func (c *Contract) readParameter() error {
	m := c.parameter()
	if m == nil {
		return c.readOwner()
	}
	if err := m.read(c.Parameter); err != nil {
		return err
	}
	for _, f := range m {
		if a, ok := f.value.(*Address); ok && *a == (Address{}) {
			return fmt.Errorf("%s is missing", f.name)
		}
	}
	if !bytes.Equal(m.append(nil), c.Parameter) {
		return errors.New("the contract parameter is not in its canonical encoding")
	}
	return nil
}

// parameter makes the struct for the type and binds its fields to the numbers
// in core/contract/*.proto; nil for the types that are not read.
func (c *Contract) parameter() message {
	var from Address
	owner := func(number protowire.Number) field {
		c.Owner = &from
		return field{number, "owner_address", &from}
	}
	switch c.Type {
	case TransferContract:
		p := &Transfer{}
		c.Transfer = p
		return message{owner(1), {2, "to_address", &p.To}, {3, "amount", &p.Amount}}
	case TransferAssetContract:
		p := &TransferAsset{}
		c.TransferAsset = p
		return message{{1, "asset_name", &p.AssetName}, owner(2), {3, "to_address", &p.To}, {4, "amount", &p.Amount}}
	case TriggerSmartContract:
		p := &Trigger{}
		c.Trigger = p
		return message{
			owner(1),
			{2, "contract_address", &p.ContractAddress},
			{3, "call_value", &p.CallValue},
			{4, "data", &p.Data},
			{5, "call_token_value", &p.CallTokenValue},
			{6, "token_id", &p.TokenID},
		}
	case FreezeBalanceV2Contract:
		p := &Freeze{}
		c.Freeze = p
		return message{owner(1), {2, "frozen_balance", &p.Balance}, {3, "resource", &p.Resource}}
	case UnfreezeBalanceV2Contract:
		p := &Freeze{}
		c.Unfreeze = p
		return message{owner(1), {2, "unfreeze_balance", &p.Balance}, {3, "resource", &p.Resource}}
	case DelegateResourceContract:
		p := &Delegate{}
		c.Delegate = p
		return message{
			owner(1),
			{2, "resource", &p.Resource},
			{3, "balance", &p.Balance},
			{4, "receiver_address", &p.Receiver},
			{5, "lock", &p.Lock},
			{6, "lock_period", &p.LockPeriod},
		}
	case UnDelegateResourceContract:
		p := &Delegate{}
		c.Undelegate = p
		return message{owner(1), {2, "resource", &p.Resource}, {3, "balance", &p.Balance}, {4, "receiver_address", &p.Receiver}}
	case AccountPermissionUpdateContract:
		p := &UpdatePermission{}
		c.UpdatePermission = p
		return message{owner(1), {2, "owner", one(&p.Owner)}, {3, "witness", one(&p.Witness)}, {4, "actives", many(&p.Actives)}}
	}
	return nil
}

// readOwner finds the owner in a parameter that is not read otherwise.
func (c *Contract) readOwner() error {
	wanted, ok := ownerFields[c.Type]
	if !ok {
		return nil
	}
	for b := c.Parameter; len(b) > 0; {
		number, kind, n := protowire.ConsumeField(b)
		if n < 0 {
			return errTruncated
		}
		if number == wanted {
			if c.Owner != nil {
				return errOrder
			}
			c.Owner = new(Address)
			f := field{number, "owner_address", c.Owner}
			_, _, tag := protowire.ConsumeTag(b)
			if _, err := f.read(kind, b[tag:n]); err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
		}
		b = b[n:]
	}
	if c.Owner == nil {
		return errors.New("owner_address is missing")
	}
	return nil
}
