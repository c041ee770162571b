package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// code is a routine that is being written.
type code struct {
	*build.Context
	later []func() // what runs rarely, and comes behind the end
	marks int
	// constants are those in memory, of all routines of a file.
	constants map[string]operand.Mem
}

// limbs are the registers of a number, lowest first; number is a number that is only
// read, in registers or in memory.
type (
	limbs  [4]reg.GPVirtual
	row    [5]reg.GPVirtual
	wide   [8]reg.GPVirtual
	number [4]operand.Op
)

func (t limbs) number() number { return number{t[0], t[1], t[2], t[3]} }

// pointer loads an argument, whose fields are then at hand.
func (c *code) pointer(name string) gotypes.Component {
	return c.Dereference(c.Param(name))
}

// at is where a number is in memory.
func (c *code) at(place gotypes.Component) (n number) {
	for i := range n {
		limb, err := place.Index(i).Resolve()
		if err != nil {
			panic(err) // the declarations in this package are wrong
		}
		n[i] = limb.Addr
	}
	return n
}

// local is room for a number on the frame.
func (c *code) local() (n number) {
	room := c.AllocLocal(32)
	for i := range n {
		n[i] = room.Offset(8 * i)
	}
	return n
}

func (c *code) load(x number) (t limbs) {
	for i := range t {
		t[i] = c.GP64()
		c.MOVQ(x[i], t[i])
	}
	return t
}

func (c *code) store(t limbs, to number) {
	for i := range t {
		c.MOVQ(t[i], to[i])
	}
}

// zero is a new register with zero. It clears the flags of all carries.
func (c *code) zero() reg.GPVirtual {
	r := c.GP64()
	c.XORL(r.As32(), r.As32())
	return r
}

// constant is in memory.
func (c *code) constant(name string, n operand.U64) operand.Mem {
	if _, ok := c.constants[name]; !ok {
		c.constants[name] = c.ConstData(name, n)
	}
	return c.constants[name]
}

// times multiplies the limb in DX. It leaves the flags alone.
func (c *code) times(limb operand.Op) (low, high reg.GPVirtual) {
	low, high = c.GP64(), c.GP64()
	c.MULXQ(limb, low, high)
	return low, high
}

// row is x times one limb, which has one more.
//
// Carries are what the processor has least units for. So a row is first added up for
// itself, and then to others: two chains begin with an addition that takes no carry, and
// the last limb of a product takes one without giving one. With ADCX and ADOX, which
// run both chains at once, there would be nine such additions in place of seven.
func (c *code) row(x number, limb operand.Op) (t row) {
	c.MOVQ(limb, reg.RDX)
	t[0], t[1] = c.times(x[0])
	for i := 1; i < 4; i++ {
		var low reg.GPVirtual
		low, t[i+1] = c.times(x[i])
		if i == 1 {
			c.ADDQ(low, t[i])
		} else {
			c.ADCQ(low, t[i])
		}
	}
	c.ADCQ(operand.U8(0), t[4])
	return t
}

// product is x·y, limb by limb.
func (c *code) product(x, y number) (t wide) {
	first := c.row(x, y[0])
	copy(t[:], first[:])
	for j := 1; j < 4; j++ {
		r := c.row(x, y[j])
		c.add(limbs(t[j:j+4]), number{r[0], r[1], r[2], r[3]})
		c.ADCQ(operand.U8(0), r[4])
		t[j+4] = r[4]
	}
	return t
}

// square is x·x: products of different limbs count twice, and squares of limbs are
// added.
func (c *code) square(x number) (t wide) {
	var low, low13, low23, high, h reg.GPVirtual
	c.MOVQ(x[0], reg.RDX)
	t[1], t[2] = c.times(x[1])
	low, t[3] = c.times(x[2])
	h, t[4] = c.times(x[3])
	c.MOVQ(x[3], reg.RDX)
	low13, t[5] = c.times(x[1])
	low23, t[6] = c.times(x[2])
	c.ADDQ(low, t[2])
	c.ADCQ(h, t[3])
	c.ADCQ(low13, t[4])
	c.ADCQ(low23, t[5])
	c.ADCQ(operand.U8(0), t[6])
	c.MOVQ(x[1], reg.RDX)
	low, high = c.times(x[2])
	c.ADDQ(low, t[3])
	c.ADCQ(high, t[4])
	c.ADCQ(operand.U8(0), t[5])
	c.ADCQ(operand.U8(0), t[6])

	t[7] = c.zero()
	c.ADDQ(t[1], t[1])
	for _, limb := range t[2:] {
		c.ADCQ(limb, limb)
	}
	for i := range x {
		c.MOVQ(x[i], reg.RDX)
		low, high = c.times(reg.RDX)
		if i == 0 {
			t[0] = low
			c.ADDQ(high, t[1])
			continue
		}
		c.ADCQ(low, t[2*i])
		c.ADCQ(high, t[2*i+1])
	}
	return t
}

// add adds y to t, and leaves the carry in the flag.
func (c *code) add(t limbs, y number) {
	c.ADDQ(y[0], t[0])
	for i := 1; i < 4; i++ {
		c.ADCQ(y[i], t[i])
	}
}

// subtract takes y away from t, and leaves the borrow in the flag.
func (c *code) subtract(t limbs, y number) {
	c.SUBQ(y[0], t[0])
	for i := 1; i < 4; i++ {
		c.SBBQ(y[i], t[i])
	}
}

// subtractTwice takes y, if there is one, and 2w away from t. It says how often 2^256
// was borrowed.
func (c *code) subtractTwice(t limbs, y *number, w number) (over reg.GPVirtual) {
	over = c.zero()
	if y != nil {
		c.subtract(t, *y)
		c.ADCQ(operand.U8(0), over)
	}
	twice := c.load(w)
	c.ADDQ(twice[0], twice[0])
	for i := 1; i < 4; i++ {
		c.ADCQ(twice[i], twice[i])
	}
	c.ADCQ(operand.U8(0), over)
	c.subtract(t, twice.number())
	c.ADCQ(operand.U8(0), over)
	return over
}

// mark is a new name for a place in the code.
func (c *code) mark(name string) operand.LabelRef {
	c.marks++
	return operand.LabelRef(fmt.Sprintf("%s%d", name, c.marks))
}

// rarely goes to body where jumps do, and then on behind them.
func (c *code) rarely(body func(), jumps func(there operand.Op)) {
	there, back := c.mark("rare"), c.mark("back")
	jumps(there)
	c.Label(string(back))
	c.later = append(c.later, func() {
		c.Label(string(there))
		body()
		c.JMP(back)
	})
}

// end returns, and writes what comes behind.
func (c *code) end() {
	c.RET()
	for _, write := range c.later {
		write()
	}
}
