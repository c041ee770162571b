package curve

import (
	"math/rand/v2"
	"slices"
	"sync"

	"filippo.io/nistec"
)

// comb multiplies one point, by the method of Lim and Lee: the bits of a scalar
// are laid out in rows of some blocks each, and the table of a block has the sum of
// every choice of rows.
type comb struct {
	combShape
	// sums are by block, then by the rows that are chosen: first that of the lowest
	// row alone.
	sums [][]affine
}

// combShape: rows · blocks · stride covers all 256 bits. A multiplication takes
// blocks · stride additions and stride doublings. There are at most 8 rows, of at most
// 64 bits.
type combShape struct {
	rows, blocks int
	stride       int // columns of a block
}

var (
	smallComb = combShape{rows: 5, blocks: 2, stride: 26} // 4 kB
	largeComb = combShape{rows: 8, blocks: 4, stride: 8}  // 65 kB
)

// newComb makes the comb of a point that is not at infinity.
func newComb(shape combShape, q *nistec.P256Point) *comb {
	choices := 1<<shape.rows - 1
	sums := make([]sum, shape.blocks*choices)
	var power sum // 2^i·Q
	power.set(q)
	for row := range shape.rows {
		for block := range shape.blocks {
			own := sums[block*choices:][:choices]
			own[1<<row-1] = power
			// All sums whose highest bit is this row's.
			for low := 1; low < 1<<row; low++ {
				both := &own[(1<<row|low)-1]
				*both = power
				both.add(&own[low-1])
			}
			for range shape.stride {
				power.double()
			}
		}
	}
	c := &comb{combShape: shape}
	for own := range slices.Chunk(normalize(sums), choices) {
		c.sums = append(c.sums, own)
	}
	return c
}

// term is a multiple of the point of a comb. It has the bits of the scalar from the
// first of each row on; rows that the comb does not have are zero.
type term struct {
	*comb
	bits [8]uint64
}

func newTerm(c *comb, scalar *p256Scalar) (t term) {
	t.comb = c
	var number [len(scalar) + 1]uint64 // with zeros, for bits that the comb has and no scalar
	copy(number[:], scalar[:])
	for row := range c.rows {
		at := row * c.blocks * c.stride
		t.bits[row] = number[at/64]>>(at%64) | number[at/64+1]<<(64-at%64)
	}
	return t
}

// digit has a bit of each row.
func (t *term) digit(block, column int) uint64 {
	r, at := &t.bits, (block*t.stride+column)&63
	return r[0]>>at&1 | r[1]>>at&1<<1 | r[2]>>at&1<<2 | r[3]>>at&1<<3 |
		r[4]>>at&1<<4 | r[5]>>at&1<<5 | r[6]>>at&1<<6 | r[7]>>at&1<<7
}

// sumOf adds terms, whose combs have the same stride: they share the doublings.
func sumOf(terms ...term) (all sum) {
	if eightAtOnce() && fitEight(terms) {
		if all, ok := sumOfEight(terms); ok {
			return all
		}
	}
	for column := terms[0].stride - 1; column >= 0; column-- {
		all.double()
		for i := range terms {
			for block, sums := range terms[i].sums {
				if d := terms[i].digit(block, column); d != 0 {
					all.addAffine(&sums[d-1])
				}
			}
		}
	}
	return all
}

// maxLargeTables bounds the memory of large tables to 17 MB.
const maxLargeTables = 256

var largeTables tableOwners

// tableOwners are the keys that have a large table. When there are as many as may
// be, a new one takes the place of any other, which has to earn it anew: one that is
// busy soon has.
type tableOwners struct {
	mu  sync.Mutex
	all []*p256Verifier
}

func (o *tableOwners) give(k *p256Verifier) {
	k.table.Store(newComb(largeComb, k.point))
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.all) < maxLargeTables {
		o.all = append(o.all, k)
		return
	}
	at := rand.IntN(len(o.all))
	former := o.all[at]
	o.all[at] = k
	former.table.Store(newComb(smallComb, former.point))
	former.good.Store(worthATable)
}
