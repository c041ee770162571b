package ops

import (
	"latchkey/internal/chain/abi"
	"latchkey/internal/chain/idl"
	"latchkey/internal/domain"
	"latchkey/internal/store"
)

// contracts finds what an organization knows of contracts and programs, for
// [describe]. The text of an interface is parsed once for each version of the
// organization.
type contracts struct {
	tx  *store.Tx
	err error // that a lookup failed with
}

// Contract implements describe.Interfaces.
func (c *contracts) Contract(address string) *abi.Interface {
	return lookUp(c, domain.ContractEthereum, address, abi.Parse)
}

// Program implements describe.Interfaces.
func (c *contracts) Program(address string) *idl.Interface {
	return lookUp(c, domain.ContractSolana, address, idl.Parse)
}

func lookUp[T any](c *contracts, t domain.ContractType, address string, parse func(string) (*T, error)) *T {
	key := domain.ContractKey(t, address)
	ids, err := store.Derived(c.tx, "contracts", c.newest)
	if err != nil || ids[key] == "" {
		c.fail(err)
		return nil
	}
	found, err := store.Derived(c.tx, "contract "+key, func() (*T, error) {
		known, err := c.tx.ContractInterfaces().Get(ids[key])
		if err != nil {
			return nil, err
		}
		return parse(known.Text)
	})
	c.fail(err)
	return found
}

// newest finds the interface of each contract that counts: the newest. Only
// their ids are kept, so that requests about contracts without an interface
// are not remembered.
func (c *contracts) newest() (map[string]string, error) {
	list, err := c.tx.ContractInterfaces().List("", 0)
	ids := make(map[string]string, len(list))
	for _, known := range list {
		ids[known.Key()] = known.ID
	}
	return ids, err
}

func (c *contracts) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}
