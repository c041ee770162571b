package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"latchkey/bench/workload"
	"latchkey/internal/ids"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/engine"
	"latchkey/internal/request/ops"
	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
)

// fillChildren makes sub-organizations in a store that no server has open. A
// million of them through the interface would take half an hour: each is a
// change of the same parent, and one waits for the other. So the executor of
// create_sub_organization runs here, hundreds of times in one transaction, and
// writes what it always writes. What is not written are the activities.
func fillChildren(ctx context.Context, file string, g *workload.Grown, keep func() error) (err error) {
	if g.Dimension != workload.SubOrganizations || g.Filled >= g.Size {
		return nil
	}
	c, err := config.Load(file)
	if err != nil {
		return err
	}
	s, err := server.OpenStore(ctx, c.Store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	keys, err := server.OpenKeys(ctx, s, c.MasterKey, "")
	if err != nil {
		return err
	}
	defer keys.Vault.Close()
	f := &founding{ctx: ctx, store: s, keys: keys, catalog: ops.Catalog()}
	return g.FillChildren(ctx, f.found, keep)
}

type founding struct {
	ctx     context.Context
	store   *store.Store
	keys    engine.KeyServices
	catalog *activity.Catalog
}

// found makes sub-organizations of one parent, all or none.
func (f *founding) found(parent string, parameters [][]byte) (results [][]byte, err error) {
	newest := f.catalog.Endpoint("create_sub_organization").Newest()
	err = f.store.Update(f.ctx, parent, func(tx *store.Tx) error {
		results = nil
		for _, p := range parameters {
			intent, err := f.catalog.Endpoint(newest.Name).Parse(newest, p)
			if err != nil {
				return err
			}
			result, err := f.execute(tx, intent)
			if err != nil {
				return err
			}
			results = append(results, result)
		}
		return nil
	})
	return results, err
}

// execute runs one activity as if it had been allowed.
func (f *founding) execute(tx *store.Tx, intent *activity.Intent) ([]byte, error) {
	id, hash := ids.New(), sha256.Sum256(intent.JSON)
	env := activity.Env{Tx: tx, Now: time.Now(), NewID: ids.New, ServerKeys: f.keys.ServerKeys}
	env.CreateChild = func(org string) (activity.Env, error) {
		child := env
		child.Tx, child.CreateChild = tx.CreateOrganization(org), nil
		var err error
		child.Vault, err = f.keys.Vault.Begin(f.keys.Clerk.Warrant(org, id, hash), child.Tx.Ciphertexts())
		return child, err
	}
	return intent.Exec(f.ctx, env)
}
