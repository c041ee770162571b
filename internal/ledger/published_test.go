package ledger_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	formats "github.com/transparency-dev/formats/log"
	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/note"

	"latchkey/internal/server/config"
	"latchkey/internal/test/pgtest"
	. "latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
	"latchkey/internal/translog"
)

// published reads the newest checkpoint as another implementation does, with the
// Ed25519 key alone.
func published(t *testing.T, s *Server) *formats.Checkpoint {
	t.Helper()
	var signed []byte
	testkit.Until(t, "there is a checkpoint", func() bool {
		var status int
		status, signed = get(t, s, "/latchkey/v1/log/checkpoint")
		return status == http.StatusOK
	})
	key := keysOf(t, s)[0]
	verifier, err := note.NewVerifier(keysOf(t, s).Texts()[0])
	if err != nil {
		t.Fatal(err)
	}
	checkpoint, _, _, err := formats.ParseCheckpoint(signed, key.Name(), verifier)
	if err != nil {
		t.Fatalf("%v\n%s", err, signed)
	}
	return checkpoint
}

// leaves reads the hashes of all leaves from the tiles.
func leaves(t *testing.T, s *Server, size uint64) (all [][]byte) {
	t.Helper()
	for n := int64(0); uint64(len(all)) < size; n++ {
		width := min(size-uint64(len(all)), translog.TileWidth)
		status, tile := get(t, s, "/latchkey/v1/log/"+translog.TilePath(0, n, int(width)))
		if status != http.StatusOK || len(tile) != int(width)*rfc6962.DefaultHasher.Size() {
			t.Fatalf("tile %d: HTTP %d, %d bytes", n, status, len(tile))
		}
		for chunk := range slices.Chunk(tile, rfc6962.DefaultHasher.Size()) {
			all = append(all, chunk)
		}
	}
	return all
}

// root computes the root of a tree, by another implementation than ours.
func root(t *testing.T, leaves [][]byte) []byte {
	t.Helper()
	f := compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}
	r := f.NewEmptyRange(0)
	for _, leaf := range leaves {
		if err := r.Append(leaf, nil); err != nil {
			t.Fatal(err)
		}
	}
	hash, err := r.GetRootHash(nil)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// continues checks that a later checkpoint is of a tree that has all of an earlier
// one, and that its tiles say so.
func continues(t *testing.T, s *Server, earlier, later *formats.Checkpoint) {
	t.Helper()
	all := leaves(t, s, later.Size)
	if got := root(t, all); !bytes.Equal(got, later.Hash) {
		t.Errorf("the tiles have the root %x, the checkpoint %x", got, later.Hash)
	}
	if got := root(t, all[:earlier.Size]); !bytes.Equal(got, earlier.Hash) {
		t.Errorf("the first %d leaves had the root %x, and now have %x", earlier.Size, earlier.Hash, got)
	}
}

// TestPublished reads the log as a stranger does, with programs of another hand.
func TestPublished(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		address := newAddress(t, s.Root)
		first := published(t, s)
		var wait sync.WaitGroup
		for i := range 300 { // more than a tile
			wait.Go(func() { sign(t, s.Root, address, fmt.Sprintf("%04x", i)) })
		}
		wait.Wait()
		last := sign(t, s.Root, address, "ffff")
		r := receipt(t, s.Root, map[string]any{"organizationId": s.Root.OrganizationID, "activityId": last})
		second := published(t, s)
		continues(t, s, first, second)

		proven, err := translog.VerifyReceipt(r, keysOf(t, s), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		salt, err := hex.DecodeString(r.Salt)
		if err != nil {
			t.Fatal(err)
		}
		entry := translog.EntryHash([32]byte(salt), []byte(r.Record))
		if got, want := leaves(t, s, second.Size)[proven.Index], rfc6962.DefaultHasher.HashLeaf(entry[:]); !bytes.Equal(got, want) {
			t.Errorf("leaf %d is %x, the receipt's is %x", proven.Index, got, want)
		}
		for _, path := range []string{
			"tile/0/999", "tile/0/x001/000", "tile/9/000", "tile/0/000.p/0", "tile/0/000.p/256", "tile/0/000.p/-1",
			"tile/0/00", "tile/x/000", "tile/entries/000", "tile/0/../../checkpoint", "tile/", "tile", "checkpoint/", "other",
		} {
			status, body := get(t, s, "/latchkey/v1/log/"+path)
			if status != http.StatusNotFound || !strings.Contains(string(body), `"message"`) {
				t.Errorf("%s: HTTP %d %s", path, status, body)
			}
		}
	})
}

// TestReceiptRefused: what there is no receipt for is refused by name.
func TestReceiptRefused(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		id := sign(t, s.Root, newAddress(t, s.Root), "00")
		other := s.CreateOrganization(t, "other")
		for _, c := range []struct {
			caller     *Caller
			parameters map[string]any
			status     int
			says       string
		}{
			{s.Root, map[string]any{"organizationId": s.Root.OrganizationID}, http.StatusBadRequest, "activityId"},
			{s.Root, map[string]any{"organizationId": s.Root.OrganizationID, "activityId": "x"}, http.StatusBadRequest, "UUID"},
			{s.Root, map[string]any{"organizationId": s.Root.OrganizationID, "activityId": id, "status": "DONE"}, http.StatusBadRequest, "status"},
			{s.Root, map[string]any{"organizationId": s.Root.OrganizationID, "activityId": id, "status": "ACTIVITY_STATUS_REJECTED"}, http.StatusNotFound, "ACTIVITY_STATUS_REJECTED"},
			{s.Root, map[string]any{"organizationId": s.Root.OrganizationID, "activityId": id, "index": 1}, http.StatusBadRequest, "index"},
			{other, map[string]any{"organizationId": other.OrganizationID, "activityId": id}, http.StatusNotFound, "no activity"},
			{other, map[string]any{"organizationId": s.Root.OrganizationID, "activityId": id}, http.StatusUnauthorized, ""},
		} {
			reply := c.caller.PostTo(t, "/latchkey/v1/receipt", c.parameters)
			if reply.Status != c.status || !strings.Contains(string(reply.Body), c.says) {
				t.Errorf("%v: HTTP %d %s, want HTTP %d and %q", c.parameters, reply.Status, reply.Body, c.status, c.says)
			}
		}
	})
}

// TestTwoNodes lets two servers over one PostgreSQL write, ends one of them and
// starts it again: there is one tree, every server proves what any of them
// acknowledged, and numbers have no gap.
func TestTwoNodes(t *testing.T) {
	url := pgtest.URL(t)
	one := Start(t, url, config.Default())
	two := Start(t, url, config.Default())
	address := newAddress(t, one.Root)
	var mu sync.Mutex
	var ids []string
	work := func(round string, servers ...*Server) {
		var wait sync.WaitGroup
		for i := range 60 {
			c := servers[i%len(servers)].As(one.Root)
			wait.Go(func() {
				id := sign(t, c, address, fmt.Sprintf("%s%02x", round, i))
				mu.Lock()
				ids = append(ids, id)
				mu.Unlock()
			})
		}
		wait.Wait()
	}
	work("b0", one, two)
	first := published(t, two)
	one.Stop(t)
	work("c0", two)
	again := Start(t, url, config.Default())
	work("d0", again, two)

	numbers := map[int64]string{}
	for i, id := range ids {
		c := []*Server{again, two}[i%2].As(one.Root)
		r := receipt(t, c, map[string]any{"organizationId": c.OrganizationID, "activityId": id})
		proven, err := translog.VerifyReceipt(r, keysOf(t, two), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		numbers[proven.Record.Sequence] = id
	}
	for n := range len(ids) {
		if numbers[int64(n)+3] == "" { // the first two are of the organization and the wallet
			t.Errorf("no activity has the number %d", n+3)
		}
	}
	continues(t, again, first, published(t, again))
}
