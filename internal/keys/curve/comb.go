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
// blocks · stride additions and stride doublings.
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
	sums := make([]jacobian, shape.blocks*choices)
	var power jacobian // 2^i·Q
	power.set(q)
	for row := range shape.rows {
		for block := range shape.blocks {
			own := sums[block*choices:][:choices]
			own[1<<row-1] = power
			// All sums whose highest bit is this row's.
			for low := 1; low < 1<<row; low++ {
				sum := &own[(1<<row|low)-1]
				*sum = power
				sum.add(&own[low-1])
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

// term is a multiple of the point of a comb.
type term struct {
	*comb
	scalar *[coordinateSize]byte
}

// sum adds terms, whose combs have the same stride: they share the doublings.
func sum(terms ...term) (sum jacobian) {
	for column := terms[0].stride - 1; column >= 0; column-- {
		sum.double()
		for _, t := range terms {
			for block, sums := range t.sums {
				d := 0
				for row := range t.rows {
					d |= bit(t.scalar, (row*t.blocks+block)*t.stride+column) << row
				}
				if d != 0 {
					sum.addAffine(&sums[d-1])
				}
			}
		}
	}
	return sum
}

// bit is bit i of a big-endian number, counted from the lowest.
func bit(number *[coordinateSize]byte, i int) int {
	if i >= 8*coordinateSize {
		return 0
	}
	return int(number[coordinateSize-1-i/8]>>(i%8)) & 1
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
