package translog

import (
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"github.com/transparency-dev/merkle/testonly"
)

// memory is stored tiles, by path without the width: a wider tile replaces a
// narrower one.
type memory map[[2]int64][]byte

func (m memory) Tile(level int, n int64, _ int) ([]byte, error) {
	data, found := m[[2]int64{int64(level), n}]
	if !found {
		return nil, ErrNoTile
	}
	return data, nil
}

func (m memory) store(tiles []Tile) (written int) {
	for _, tile := range tiles {
		m[[2]int64{int64(tile.Level), tile.N}] = tile.Data
		written += len(tile.Data)
	}
	return written
}

func leafOf(n int) Hash { return LeafHash(EntryHash([32]byte{}, strconv.AppendInt(nil, int64(n), 10))) }

// grow appends leaves to a tree in batches of random size, and stores its tiles.
func grow(t testing.TB, random *rand.Rand, tree *Tree, tiles memory, to, batch int) *Tree {
	t.Helper()
	for int(tree.Size()) < to {
		var leaves []Hash
		for range min(1+random.IntN(batch), to-int(tree.Size())) {
			leaves = append(leaves, leafOf(int(tree.Size())+len(leaves)))
		}
		var changed []Tile
		tree, changed = tree.Append(leaves...)
		tiles.store(changed)
	}
	return tree
}

func hashes(proof []Hash) [][]byte {
	var all [][]byte
	for _, h := range proof {
		all = append(all, h[:])
	}
	return all
}

// TestProofs checks roots and proofs of trees of many sizes against
// transparency-dev/merkle, which also verifies each of them.
func TestProofs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const most = 140_000 // three levels of tiles, the middle one with a full tile
	second := testonly.New(rfc6962.DefaultHasher)
	for n := range most {
		leaf := leafOf(n)
		second.Append(leaf[:])
	}
	sizes := []int{0, 1, 2, 3, 255, 256, 257, 511, 512, 65_535, 65_536, 65_537, 65_792, 131_072, most}
	for range 60 {
		sizes = append(sizes, random.IntN(3000), random.IntN(most))
	}
	slices.Sort(sizes)
	tiles, tree := memory{}, new(Tree)
	heads := []Head{tree.Head()}
	for _, size := range slices.Compact(sizes) {
		tree = grow(t, random, tree, tiles, size, 700)
		head := tree.Head()
		if want := Hash(second.HashAt(uint64(size))); head.Root != want || head.Size != int64(size) {
			t.Fatalf("root at %d: %v, want %v", size, head, want)
		}
		loaded, err := LoadTree(int64(size), tiles)
		if err != nil || loaded.Head() != head {
			t.Fatalf("loaded at %d: %v, %v", size, loaded, err)
		}
		for range min(size, 12) {
			checkInclusion(t, tiles, head, int64(random.IntN(size)))
		}
		if size > 0 {
			checkInclusion(t, tiles, head, 0)
			checkInclusion(t, tiles, head, int64(size-1))
		}
		for range 8 {
			checkConsistency(t, tiles, head, heads[random.IntN(len(heads))])
		}
		heads = append(heads, head)
		checkConsistency(t, tiles, head, head)
	}
	// What the storage has by now serves proofs about every earlier tree too.
	for range 300 {
		head, old := heads[random.IntN(len(heads))], heads[random.IntN(len(heads))]
		if head.Size > 0 {
			checkInclusion(t, tiles, head, random.Int64N(head.Size))
		}
		if old.Size <= head.Size {
			checkConsistency(t, tiles, head, old)
		}
	}
}

// TestEveryProof takes every entry and every earlier size of some small trees.
func TestEveryProof(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for _, size := range []int{1, 2, 7, 64, 255, 256, 257, 300 + random.IntN(300)} {
		tiles, tree := memory{}, new(Tree)
		heads := []Head{tree.Head()}
		for n := range size {
			var changed []Tile
			tree, changed = tree.Append(leafOf(n))
			tiles.store(changed)
			heads = append(heads, tree.Head())
		}
		for n := range size {
			checkInclusion(t, tiles, tree.Head(), int64(n))
		}
		for _, old := range heads {
			checkConsistency(t, tiles, tree.Head(), old)
		}
	}
}

func checkInclusion(t *testing.T, tiles Tiles, head Head, index int64) {
	t.Helper()
	leaf := leafOf(int(index))
	path, err := ProveInclusion(tiles, head, index)
	if err != nil {
		t.Fatalf("inclusion of %d in %d: %v", index, head.Size, err)
	}
	if err := proof.VerifyInclusion(rfc6962.DefaultHasher, uint64(index), uint64(head.Size), leaf[:], hashes(path), head.Root[:]); err != nil {
		t.Fatalf("inclusion of %d in %d: the second implementation: %v", index, head.Size, err)
	}
	if err := CheckInclusion(path, head, index, leaf); err != nil {
		t.Fatal(err)
	}
	other := leaf
	other[0] ^= 1
	if CheckInclusion(path, head, index, other) == nil || CheckInclusion(append(path, leaf), head, index, leaf) == nil ||
		CheckInclusion(path, head, index+1, leaf) == nil {
		t.Fatalf("inclusion of %d in %d: a wrong proof is accepted", index, head.Size)
	}
}

func checkConsistency(t *testing.T, tiles Tiles, head, old Head) {
	t.Helper()
	path, err := ProveConsistency(tiles, head, old.Size)
	if err != nil {
		t.Fatalf("consistency %d to %d: %v", old.Size, head.Size, err)
	}
	if err := proof.VerifyConsistency(rfc6962.DefaultHasher, uint64(old.Size), uint64(head.Size), hashes(path), old.Root[:], head.Root[:]); err != nil {
		t.Fatalf("consistency %d to %d: the second implementation: %v", old.Size, head.Size, err)
	}
	if err := CheckConsistency(path, head, old); err != nil {
		t.Fatal(err)
	}
	if root, err := RootAt(tiles, head, old.Size); err != nil || root != old.Root {
		t.Fatalf("root at %d of %d: %v, %v", old.Size, head.Size, root, err)
	}
	fork := old
	fork.Root[5] ^= 1
	if CheckConsistency(path, head, fork) == nil || CheckConsistency(append(path, old.Root), head, old) == nil {
		t.Fatalf("consistency %d to %d: a fork is accepted", old.Size, head.Size)
	}
}

// A tree that a failed commit was to store is dropped: the one before it goes on.
func TestAppendLeavesEarlierTreesAlone(t *testing.T) {
	tree := new(Tree)
	for size := range 300 {
		one, _ := tree.Append(leafOf(size))
		root := one.Root()
		other, _ := tree.Append(leafOf(1000), leafOf(1001))
		if one.Root() != root || other.Root() == root || int(tree.Size()) != size {
			t.Fatalf("two trees that grew from one of %d entries share memory", size)
		}
		tree = one
	}
}

// A damaged, missing or short tile gives an error that names it where that can be
// known, and never a proof.
func TestDamagedTiles(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	tiles := memory{}
	tree := grow(t, random, new(Tree), tiles, 70_000, 5000)
	head := tree.Head()
	for place, good := range tiles {
		if place[0] == 0 && random.IntN(20) > 0 {
			continue // of level 0 some are enough
		}
		index := place[1] << (8 * (place[0] + 1)) // an entry below the tile
		path := TilePath(int(place[0]), place[1], len(good)/HashSize)
		for name, bad := range map[string][]byte{"missing": nil, "short": good[:len(good)-1], "flipped": flipped(random, good)} {
			if tiles[place] = bad; bad == nil {
				delete(tiles, place)
			}
			_, err := ProveInclusion(tiles, head, index)
			var which *TileError
			switch {
			case err == nil:
				t.Fatalf("%s %s: there is a proof", name, path)
			case name != "flipped" && (!errors.As(err, &which) || which.Path != path):
				t.Fatalf("%s %s: %v", name, path, err)
			case name == "missing" && !errors.Is(err, ErrNoTile):
				t.Fatalf("%s %s: %v", name, path, err)
			case name == "flipped" && !strings.Contains(err.Error(), "do not give the root"):
				t.Fatalf("%s %s: %v", name, path, err)
			}
		}
		tiles[place] = good
	}
	if _, err := LoadTree(70_000, memory{}); !errors.Is(err, ErrNoTile) {
		t.Errorf("a tree without tiles: %v", err)
	}
	damaged := errors.New("the disk is gone")
	if _, err := LoadTree(70_000, failing{damaged}); !errors.Is(err, damaged) || !strings.Contains(err.Error(), "tile/0/273.p/112") {
		t.Errorf("a failing storage: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Tile(int, int64, int) ([]byte, error) { return nil, f.err }

func flipped(random *rand.Rand, good []byte) []byte {
	bad := slices.Clone(good)
	bad[random.IntN(len(bad))] ^= 1 << random.IntN(8)
	return bad
}

func TestOutOfRange(t *testing.T) {
	tree, _ := new(Tree).Append(leafOf(0), leafOf(1))
	head := tree.Head()
	huge := Head{Size: 1<<62 + 1} // tlog alone does not return for it
	for name, err := range map[string]error{
		"index beyond": second(ProveInclusion(tree, head, 2)), "negative index": second(ProveInclusion(tree, head, -1)),
		"older than itself": second(ProveConsistency(tree, head, 3)), "root beyond": second(RootAt(tree, head, 3)),
		"huge inclusion": CheckInclusion(nil, huge, 1, Hash{}), "huge consistency": CheckConsistency([]Hash{{}}, huge, head),
		"huge proof": second(ProveInclusion(tree, huge, 1)), "huge tree": second(LoadTree(huge.Size, tree)),
		"a root of nothing": CheckConsistency(nil, head, Head{Root: Hash{1}}),
	} {
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if err := CheckConsistency(nil, head, EmptyHead()); err != nil {
		t.Errorf("a tree does not continue the empty one: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestTilePath(t *testing.T) {
	for path, tile := range map[string][3]int{
		"tile/0/000": {0, 0, 256}, "tile/0/x001/x234/067": {0, 1234067, 256}, "tile/2/005.p/17": {2, 5, 17}, "tile/63/000.p/1": {63, 0, 1},
	} {
		if got := TilePath(tile[0], int64(tile[1]), tile[2]); got != path {
			t.Errorf("%v is %s, want %s", tile, got, path)
		}
		if level, n, width, err := ParseTilePath(path); err != nil || [3]int{level, int(n), width} != tile {
			t.Errorf("%s: %d %d %d %v", path, level, n, width, err)
		}
	}
	for _, path := range []string{"", "tile/0/", "tile/0/0", "tile/0/000.p/256", "tile/0/000.p/0", "tile/0/000.p/01", "tile/64/000", "tile/-1/000", "tile/entries/000", "tile/data/000", "tile/0/x001", "tile/0/000/", "/tile/0/000", "tile/8/0/000", "tile/0/x999/x999/x999/x999/x999/x999/x999/999"} {
		if _, _, _, err := ParseTilePath(path); err == nil {
			t.Errorf("%q is accepted", path)
		}
	}
}

// entries is how large the trees of benchmarks are: TRANSLOG_ENTRIES=10000000.
func entries(b *testing.B) int {
	n, err := strconv.Atoi(os.Getenv("TRANSLOG_ENTRIES"))
	if err != nil {
		n = 100_000
	}
	return n
}

// BenchmarkAppend grows a tree in batches of 64, as busy commits do, and reports
// what storage writes for an entry. Run it with -benchtime 1x.
func BenchmarkAppend(b *testing.B) {
	leaves := make([]Hash, 64)
	for i := range leaves {
		leaves[i] = leafOf(i)
	}
	for b.Loop() {
		tree, written := new(Tree), 0
		for int(tree.Size()) < entries(b) {
			var changed []Tile
			tree, changed = tree.Append(leaves...)
			for _, tile := range changed {
				written += len(tile.Data)
			}
		}
		b.ReportMetric(float64(written)/float64(tree.Size()), "bytes/entry")
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(tree.Size()), "ns/entry")
	}
}

// BenchmarkLoadTree is what a start costs: the right edge and the root.
func BenchmarkLoadTree(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	tiles := memory{}
	head := grow(b, random, new(Tree), tiles, entries(b), 5000).Head()
	for b.Loop() {
		tree, err := LoadTree(head.Size, tiles)
		if err != nil || tree.Root() != head.Root {
			b.Fatal("not the same tree")
		}
	}
}

func BenchmarkProveInclusion(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	tiles := memory{}
	head := grow(b, random, new(Tree), tiles, entries(b), 5000).Head()
	for b.Loop() {
		if _, err := ProveInclusion(tiles, head, random.Int64N(head.Size)); err != nil {
			b.Fatal(err)
		}
	}
}
