package curve

import (
	"math/rand/v2"
	"sync"

	"filippo.io/nistec"
)

// comb multiplies one point, by the method of Lim and Lee: the bits of a scalar
// are laid out in rows of some blocks each, and the table of a block has the sum of
// every choice of rows.
type comb struct {
	combShape
	sums [][]nistec.P256Point // by block, then by the rows that are chosen
}

// combShape: rows · blocks · stride covers all 256 bits. A multiplication takes
// blocks · stride additions and stride doublings.
type combShape struct {
	rows, blocks int
	stride       int // columns of a block
}

var (
	smallComb = combShape{rows: 5, blocks: 2, stride: 26} // 6 kB
	largeComb = combShape{rows: 8, blocks: 4, stride: 8}  // 98 kB
)

func newComb(shape combShape, q *nistec.P256Point) *comb {
	c := &comb{combShape: shape, sums: make([][]nistec.P256Point, shape.blocks)}
	for block := range c.sums {
		c.sums[block] = make([]nistec.P256Point, 1<<shape.rows)
	}
	power := nistec.NewP256Point().Set(q) // 2^i·Q
	for row := range shape.rows {
		for _, sums := range c.sums {
			// All sums whose highest bit is this row's.
			for low := range 1 << row {
				sum := nistec.NewP256Point().Set(power)
				if low != 0 {
					sum.Add(sum, &sums[low])
				}
				sums[1<<row|low] = *sum
			}
			for range shape.stride {
				power.Double(power)
			}
		}
	}
	return c
}

func (c *comb) times(scalar *[coordinateSize]byte) *nistec.P256Point {
	sum := nistec.NewP256Point()
	for column := c.stride - 1; column >= 0; column-- {
		sum.Double(sum)
		for block, sums := range c.sums {
			d := 0
			for row := range c.rows {
				d |= bit(scalar, (row*c.blocks+block)*c.stride+column) << row
			}
			if d != 0 {
				sum.Add(sum, &sums[d])
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

// maxLargeTables bounds the memory of large tables to 25 MB.
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
