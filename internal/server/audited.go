package server

import (
	"context"
	"errors"
	"fmt"
	"os"

	"latchkey/internal/keys/vault"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
)

// Audited is an installation as an audit reads it: what is stored at one moment,
// and the keys by which that is checked. Nothing is made or changed.
type Audited struct {
	Image store.Image
	Rows  *vault.RowKeys
	// Remembered is the newest checkpoint that is kept outside of the database,
	// and Where the file; "": there is none.
	Remembered, Where string

	keys openedVault
}

// Close releases the database and the keys.
func (a *Audited) Close() error {
	a.keys.close()
	return a.Image.Close()
}

// OpenAudited opens the database of a config, or, if one is named, a backup of it.
// What is remembered outside of the database counts for the database alone: a
// backup is older.
func OpenAudited(ctx context.Context, c *config.Config, backup string) (_ *Audited, err error) {
	from, where := "sqlite:"+backup, ""
	if backup == "" {
		from, where = c.Store, StateFile(c)
	}
	var remembered []byte // before the database, which is then not older
	if where != "" {
		if remembered, err = os.ReadFile(where); err != nil {
			return nil, fmt.Errorf("log.state: %w", err)
		}
	}
	image, err := OpenImage(ctx, from)
	if err != nil {
		return nil, err
	}
	a := &Audited{Image: image, Where: where}
	if a.keys, err = openVault(ctx, c); err != nil {
		return nil, errors.Join(err, image.Close())
	}
	if err := a.openKeys(ctx, remembered); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

func (a *Audited) openKeys(ctx context.Context, remembered []byte) (err error) {
	sealed := store.ImageCiphertexts{Context: ctx, Image: a.Image}
	if a.Rows, err = a.keys.vault.LoadRowKeys(sealed); err != nil {
		return err
	}
	if a.Rows == nil {
		return ErrNotAdopted
	}
	if remembered == nil {
		return nil
	}
	installation, err := store.NewInspector(a.Rows).Installation(ctx, a.Image)
	if err != nil || installation == nil {
		return err
	}
	s := &State{keys: a.Rows, data: stateData{Format: 1, Installation: installation.ID}}
	err = s.parse(a.Where, remembered)
	a.Remembered = s.Checkpoint()
	return err
}
