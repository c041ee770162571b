package transfer

import (
	"github.com/holiman/uint256"

	"latchkey/internal/policy/fact"
)

const wordSize = 32

// tokenCall is a function of a token by which tokens move, or may move later.
type tokenCall struct {
	words  int // that it has at least
	amount int // the word with the amount
}

// tokenCalls are the functions of ERC-20 and its extensions EIP-2612 and EIP-3009,
// by selector. The same are those of TRC-20.
var tokenCalls = map[[4]byte]tokenCall{
	{0xa9, 0x05, 0x9c, 0xbb}: {2, 1}, // transfer(address,uint256)
	{0x23, 0xb8, 0x72, 0xdd}: {3, 2}, // transferFrom(address,address,uint256)
	{0x09, 0x5e, 0xa7, 0xb3}: {2, 1}, // approve(address,uint256)
	{0x39, 0x50, 0x93, 0x51}: {2, 1}, // increaseAllowance(address,uint256)
	{0xd5, 0x05, 0xac, 0xcf}: {7, 2}, // permit(address,address,uint256,uint256,uint8,bytes32,bytes32)
	{0xe3, 0xee, 0x16, 0x0e}: {9, 2}, // transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)
	{0xcf, 0x09, 0x29, 0x95}: {7, 2}, // transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)
	{0xef, 0x55, 0xbe, 0xc6}: {9, 2}, // receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)
	{0x88, 0xb7, 0xab, 0x63}: {7, 2}, // receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)
}

// tokenAmount is what a call of a token moves at most; false if it is not
// understood. Further bytes are allowed, as contracts allow them.
func tokenAmount(data []byte) (fact.Number, bool) {
	if len(data) < 4 {
		return fact.Number{}, false
	}
	call, known := tokenCalls[[4]byte(data)]
	if data = data[4:]; !known || len(data) < call.words*wordSize {
		return fact.Number{}, false
	}
	word := data[call.amount*wordSize : (call.amount+1)*wordSize]
	return fact.Number{Magnitude: *new(uint256.Int).SetBytes(word)}, true
}
