//go:build !amd64

package curve

func (z *p256Element) mul(x, y *p256Element) { z.mulGeneric(x, y) }

func (z *p256Element) square(x *p256Element) { z.squareGeneric(x) }

func (p *sum) double() { p.doubleGeneric() }

func (p *sum) addAffine(q *affine) { p.addAffineGeneric(q) }

// eightAtOnce reports whether the processor adds eight points at once.
func eightAtOnce() bool { return false }

func addEight(s *eightSums, which uint16) { addEightGeneric(s, which) }
