// Package lanes lays numbers side by side for processors that multiply eight limbs of
// 52 bits at once (AVX-512 IFMA): eight sums of points, and what is added to each.
//
// It only moves bits. What they stand for, and the formula, is of the package of a field,
// whose routine tools/curveasm writes. No branch and no address depends on a number.
package lanes

// Count is how many numbers are side by side.
const Count = 8

const (
	limbBits = 52
	limbMask = 1<<limbBits - 1
)

// Number has eight numbers, each in five limbs, lowest first.
type Number [5][Count]uint64

// Sums are eight points, x = X/ZZ and y = Y/ZZZ, that grow at the same time. The routine
// knows where its fields are.
type Sums struct {
	X, Y, ZZ, ZZZ Number
	px, py        [4][Count]uint64 // what is added, in limbs of 64 bits
	_             [6]Number        // between the steps of the routine
}

// Set makes one of the sums.
func (s *Sums) Set(lane int, x, y, zz, zzz *[4]uint64) {
	s.X.Set(lane, x)
	s.Y.Set(lane, y)
	s.ZZ.Set(lane, zz)
	s.ZZZ.Set(lane, zzz)
}

// Put lays a point beside one of the sums, to which the routine then adds it.
func (s *Sums) Put(lane int, x, y *[4]uint64) {
	for i := range x {
		s.px[i][lane], s.py[i][lane] = x[i], y[i]
	}
}

// Point is what was put beside one of the sums.
func (s *Sums) Point(lane int) (x, y [4]uint64) {
	for i := range x {
		x[i], y[i] = s.px[i][lane], s.py[i][lane]
	}
	return x, y
}

// Set makes one of the numbers.
func (n *Number) Set(lane int, z *[4]uint64) {
	n[0][lane] = z[0] & limbMask
	n[1][lane] = (z[0]>>52 | z[1]<<12) & limbMask
	n[2][lane] = (z[1]>>40 | z[2]<<24) & limbMask
	n[3][lane] = (z[2]>>28 | z[3]<<36) & limbMask
	n[4][lane] = z[3] >> 16
}

// Get sets z to one of the numbers, less over times 2^256. It leaves no copy elsewhere.
func (n *Number) Get(lane int, z *[4]uint64) (over uint64) {
	l1, l2, l3, l4 := n[1][lane], n[2][lane], n[3][lane], n[4][lane]
	z[0], z[1], z[2], z[3] = n[0][lane]|l1<<52, l1>>12|l2<<40, l2>>24|l3<<28, l3>>36|l4<<16
	return l4 >> 48
}
