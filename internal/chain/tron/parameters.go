package tron

import "errors"

// Transfer sends TRX.
type Transfer struct {
	To     Address
	Amount int64 // sun
}

// TransferAsset sends a TRC-10 token.
type TransferAsset struct {
	AssetName []byte // the token id in digits
	To        Address
	Amount    int64
}

// Trigger calls a smart contract.
type Trigger struct {
	ContractAddress Address
	CallValue       int64 // sun
	Data            []byte
	CallTokenValue  int64
	TokenID         int64
}

// Freeze stakes TRX, or takes a stake back.
type Freeze struct {
	Balance  int64 // sun
	Resource Resource
}

// Delegate lends a resource to another account, or takes it back. Lock and
// LockPeriod are zero when it is taken back.
type Delegate struct {
	Resource   Resource
	Balance    int64 // sun
	Receiver   Address
	Lock       bool
	LockPeriod int64
}

// Resource is what staked TRX buys.
type Resource int32

// The resources.
const (
	Bandwidth Resource = 0
	Energy    Resource = 1
	TronPower Resource = 2
)

func (r Resource) String() string { return [...]string{"BANDWIDTH", "ENERGY", "TRON_POWER"}[r] }

// UpdatePermission replaces who may act for an account.
type UpdatePermission struct {
	Owner, Witness *Permission // nil when absent
	Actives        []*Permission
}

// PermissionType is the role of a permission.
type PermissionType int32

// The roles.
const (
	OwnerPermission   PermissionType = 0
	WitnessPermission PermissionType = 1
	ActivePermission  PermissionType = 2
)

func (t PermissionType) String() string { return [...]string{"Owner", "Witness", "Active"}[t] }

// Permission is a weighted set of keys.
type Permission struct {
	Type       PermissionType
	ID         int32
	Name       string
	Threshold  int64
	ParentID   int32
	Operations []byte // a bit for each contract type
	Keys       []*Key
}

// Key is one member of a permission.
type Key struct {
	Address Address
	Weight  int64
}

func (p *Permission) message() message {
	return message{
		{1, "type", &p.Type},
		{2, "id", &p.ID},
		{3, "permission_name", &p.Name},
		{4, "threshold", &p.Threshold},
		{5, "parent_id", &p.ParentID},
		{6, "operations", &p.Operations},
		{7, "keys", many(&p.Keys)},
	}
}

func (k *Key) message() message {
	return message{{1, "address", &k.Address}, {2, "weight", &k.Weight}}
}

func (k *Key) check() error {
	if k.Address == (Address{}) {
		return errors.New("address is missing")
	}
	return nil
}

func (p *Permission) check() error { return nil }

// part is a pointer to a nested message.
type part[T any] interface {
	*T
	message() message
	check() error
}

// many binds a repeated message.
func many[T any, P part[T]](dst *[]P) nested {
	return nested{
		add: func(b []byte) error {
			p := P(new(T))
			*dst = append(*dst, p)
			if err := p.message().read(b); err != nil {
				return err
			}
			return p.check()
		},
		all: func() (encoded [][]byte) {
			for _, p := range *dst {
				encoded = append(encoded, p.message().append(nil))
			}
			return encoded
		},
	}
}

// one binds a message that occurs at most once.
func one[T any, P part[T]](dst *P) nested {
	return nested{
		add: func(b []byte) error {
			if *dst != nil {
				return errOrder
			}
			*dst = P(new(T))
			if err := (*dst).message().read(b); err != nil {
				return err
			}
			return (*dst).check()
		},
		all: func() [][]byte {
			if *dst == nil {
				return nil
			}
			return [][]byte{(*dst).message().append(nil)}
		},
	}
}
