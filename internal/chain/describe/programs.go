package describe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mr-tron/base58"

	"latchkey/internal/policy/fact"
)

// The programs whose instructions are read.
const (
	systemProgram    = "11111111111111111111111111111111"
	tokenProgram     = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
	token2022Program = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"
)

// instruction says how an instruction is written and what it does.
//
// Its fields are: n the amount that moves, u another u64, b a byte, s a text, k
// a key, a the key that gets control, o the same or none.
//
// Its accounts are: f where value leaves, t where it arrives, o the owner who
// orders it, m the mint, g the account that gets control, * all further ones
// get it, and a dot for others. Value moves if there is an f or a t; without a t
// it goes to the key that gets control, which then gets all of it.
type instruction struct {
	name, fields, accounts string
	changes                int // the account that has an effect; none: it only moves value
}

const none = -1

// systemInstructions are those of the System Program by number.
var systemInstructions = [...]instruction{
	0:  {"CreateAccount", "nua", "ft", 1},
	1:  {"Assign", "a", "f", 0},
	2:  {"Transfer", "n", "ft", none},
	3:  {"CreateAccountWithSeed", "ksnua", "ft", 1},
	4:  {"AdvanceNonceAccount", "", "", none},
	5:  {"WithdrawNonceAccount", "n", "ft", none},
	6:  {"InitializeNonceAccount", "a", "f", 0},
	7:  {"AuthorizeNonceAccount", "a", "f", 0},
	8:  {"Allocate", "u", ".", 0},
	9:  {"AllocateWithSeed", "ksua", "f", 0},
	10: {"AssignWithSeed", "ksa", "f", 0},
	11: {"TransferWithSeed", "nsk", "f.t", none},
	12: {"UpgradeNonceAccount", "", "", none},
}

// tokenInstructions are those of the token programs by number. The programs
// have more: extensions of Token-2022, confidential transfers and batches. A
// transaction with one that is not here does not tell what it does.
var tokenInstructions = map[byte]instruction{
	0:  {"InitializeMint", "bao", ".", 0},
	1:  {"InitializeAccount", "", "..g", 0},
	2:  {"InitializeMultisig", "b", "..*", 0},
	3:  {"Transfer", "n", "fto", none},
	4:  {"Approve", "n", "fto", 0},
	5:  {"Revoke", "", ".", 0},
	6:  {"SetAuthority", "bo", "fo", 0},
	7:  {"MintTo", "n", "mto", 0},
	8:  {"Burn", "n", "fmo", 0},
	9:  {"CloseAccount", "", "fto", 0},
	10: {"FreezeAccount", "", ".", 0},
	11: {"ThawAccount", "", ".", 0},
	12: {"TransferChecked", "nb", "fmto", none},
	13: {"ApproveChecked", "nb", "fmto", 0},
	14: {"MintToChecked", "nb", "mto", 0},
	15: {"BurnChecked", "nb", "fmo", 0},
	16: {"InitializeAccount2", "a", ".", 0},
	17: {"SyncNative", "", "", none},
	18: {"InitializeAccount3", "a", ".", 0},
	19: {"InitializeMultisig2", "b", ".*", 0},
	20: {"InitializeMint2", "bao", ".", 0},
	21: {"GetAccountDataSize", "", "", none},
	22: {"InitializeImmutableOwner", "", ".", 0},
	23: {"AmountToUiAmount", "", "", none},
	24: {"UiAmountToAmount", "", "", none},
	25: {"InitializeMintCloseAuthority", "o", ".", 0},
	35: {"InitializePermanentDelegate", "a", ".", 0},
}

// Of the extension for fees only the transfer is read: number 26, then 1.
const (
	tokenFees    = 26
	tokenWithFee = 1
)

var transferWithFee = instruction{"TransferCheckedWithFee", "nbu", "fmto", none}

// program adds what instruction number i does, if it is one of a program that
// is read. If that cannot be told, no list of that program is complete.
func (d *solana) program(i int, program string, data []byte, accounts []string) {
	untold := func(reason *string, err error) {
		if *reason == "" {
			*reason = fmt.Sprintf("instruction %d: %v", i, err)
		}
	}
	switch program {
	case systemProgram:
		in, data, err := systemInstruction(data)
		if err == nil {
			err = d.read(in, program, data, accounts)
		}
		if err != nil {
			untold(&d.facts.SystemUntold, err)
		}
	case tokenProgram, token2022Program:
		in, data, err := tokenInstruction(data)
		if err == nil {
			err = d.read(in, program, data, accounts)
		}
		if err != nil {
			untold(&d.facts.TokensUntold, err)
		}
	}
}

// systemInstruction finds the instruction of the System Program and its fields.
func systemInstruction(data []byte) (*instruction, []byte, error) {
	if len(data) < 4 {
		return nil, nil, errors.New("an instruction of the System Program is cut short")
	}
	number := binary.LittleEndian.Uint32(data)
	if number >= uint32(len(systemInstructions)) {
		return nil, nil, fmt.Errorf("number %d of the System Program is not known", number)
	}
	return &systemInstructions[number], data[4:], nil
}

// tokenInstruction finds the instruction of a token program and its fields.
func tokenInstruction(data []byte) (*instruction, []byte, error) {
	if len(data) == 0 {
		return nil, nil, errors.New("an instruction of a token program is cut short")
	}
	number, data := data[0], data[1:]
	if number == tokenFees && len(data) > 0 && data[0] == tokenWithFee {
		return &transferWithFee, data[1:], nil
	}
	in, known := tokenInstructions[number]
	if !known {
		return nil, nil, fmt.Errorf("number %d of a token program is not known", number)
	}
	return &in, data, nil
}

// read adds what an instruction does. As on chain, bytes after the last field
// and further accounts are allowed: they change nothing, and to stumble over
// them would hide what takes place.
func (d *solana) read(in *instruction, program string, data []byte, accounts []string) error {
	amount, keys, ok := in.values(data)
	if !ok {
		return fmt.Errorf("%s is cut short or malformed", in.name)
	}
	if len(accounts) < len(strings.TrimSuffix(in.accounts, "*")) {
		return fmt.Errorf("%s has too few accounts", in.name)
	}
	moved := fact.SPLTransfer{Amount: amount, Signers: []string{}}
	var moves bool
	for i, role := range in.accounts {
		switch role {
		case 'f':
			moved.From, moves = accounts[i], true
		case 't':
			moved.To, moves = accounts[i], true
		case 'm':
			moved.TokenMint = accounts[i]
		case 'o':
			moved.Owner, moved.Signers = accounts[i], accounts[i+1:]
		}
	}
	if !strings.Contains(in.accounts, "t") && len(keys) > 0 {
		moved.To = keys[0]
	}
	switch {
	case moves && program == systemProgram:
		d.facts.Transfers = append(d.facts.Transfers, fact.SolanaTransfer{From: moved.From, To: moved.To, Amount: amount})
	case moves:
		d.facts.SPLTransfers = append(d.facts.SPLTransfers, moved)
	}
	if in.changes == none {
		return nil
	}
	if len(keys) == 0 {
		keys = in.controllers(accounts)
	}
	for _, key := range keys {
		d.facts.Effects = append(d.facts.Effects, fact.SolanaEffect{
			Program: program, Kind: in.name, Account: accounts[in.changes], Authority: key, Amount: amount,
		})
	}
	return nil
}

// values reads the fields: the amount, and the keys that get control. Integers
// are fixed and a text has its length before it, as bincode writes them.
func (in *instruction) values(data []byte) (amount *fact.Number, keys []string, ok bool) {
	for _, field := range in.fields {
		size := uint64(8)
		switch field {
		case 'k', 'a':
			size = 32
		case 'b':
			size = 1
		case 'o': // a byte says whether it is there
			if len(data) == 0 || data[0] > 1 {
				return nil, nil, false
			}
			size = 32 * uint64(data[0])
			data = data[1:]
		case 's':
			if len(data) < 8 {
				return nil, nil, false
			}
			size = binary.LittleEndian.Uint64(data)
			if data = data[8:]; size > uint64(len(data)) || !utf8.Valid(data[:size]) {
				return nil, nil, false
			}
		}
		if size > uint64(len(data)) {
			return nil, nil, false
		}
		switch {
		case field == 'n':
			n := fact.Uint(binary.LittleEndian.Uint64(data))
			amount = &n
		case (field == 'a' || field == 'o') && size > 0:
			keys = append(keys, base58.Encode(data[:size]))
		}
		data = data[size:]
	}
	return amount, keys, true
}

// controllers are the accounts that get control; one empty name if none does.
func (in *instruction) controllers(accounts []string) []string {
	for i, role := range in.accounts {
		switch role {
		case 't', 'g':
			return accounts[i : i+1]
		case '*':
			if i < len(accounts) {
				return accounts[i:]
			}
		}
	}
	return []string{""}
}
