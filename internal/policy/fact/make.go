package fact

import (
	"encoding/hex"

	"github.com/holiman/uint256"
)

// String is a text that is compared exactly.
func String(text string) Value { return Value{Kind: Text, Text: text} }

// Bytes is 0x and lower-case hex, which is compared without case: both
// spellings of a digit mean the same bytes.
func Bytes(b []byte) Value {
	return Value{Kind: Text, Fold: true, Text: "0x" + hex.EncodeToString(b)}
}

// Unsigned is an integer of an unsigned type: whatever it is, a policy can
// compare it.
func Unsigned(n Number) Value { return Value{Kind: Num, Number: n} }

// Signed is an integer of a signed type, which policies can compare only if
// 128 bits hold it.
func Signed(n Number) Value {
	limit := new(uint256.Int).Lsh(uint256.NewInt(1), 127)
	if c := n.Magnitude.Cmp(limit); c > 0 || c == 0 && !n.Negative {
		return Value{Kind: Unreadable, Text: "the integer does not fit into 128 bits with a sign"}
	}
	return Value{Kind: Num, Number: n}
}
