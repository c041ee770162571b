package describe

import (
	"encoding/binary"
	"errors"
	"unicode/utf8"

	"latchkey/internal/policy/fact"
)

// The programs whose transfers are read.
const (
	systemProgram    = "11111111111111111111111111111111"
	tokenProgram     = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
	token2022Program = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"
)

// transfers adds the transfer that an instruction makes, if it is one.
func (d *solana) transfers(program string, data []byte, accounts []string) error {
	switch program {
	case systemProgram:
		transfer, err := systemTransfer(data, accounts)
		if err != nil || transfer == nil {
			return err
		}
		d.facts.Transfers = append(d.facts.Transfers, *transfer)
	case tokenProgram, token2022Program:
		transfer, err := tokenTransfer(data, accounts)
		if err != nil || transfer == nil {
			return err
		}
		d.facts.SPLTransfers = append(d.facts.SPLTransfers, *transfer)
	}
	return nil
}

// systemInstructions has the fields of each instruction of the System Program by
// its number: u for a u64, k for a key, s for a text.
var systemInstructions = [...]string{
	0:          "uuk",   // CreateAccount
	1:          "k",     // Assign
	systemSend: "u",     // Transfer
	3:          "ksuuk", // CreateAccountWithSeed
	4:          "",      // AdvanceNonceAccount
	5:          "u",     // WithdrawNonceAccount
	6:          "k",     // InitializeNonceAccount
	7:          "k",     // AuthorizeNonceAccount
	8:          "u",     // Allocate
	9:          "ksuk",  // AllocateWithSeed
	10:         "ksk",   // AssignWithSeed
	11:         "usk",   // TransferWithSeed
	12:         "",      // UpgradeNonceAccount
}

const systemSend = 2

var errSystem = errors.New("the System Program has no such instruction")

// systemTransfer reads an instruction of the System Program; nil if it is
// another one than Transfer. As on chain, bytes after the last field and further
// accounts are allowed: they change nothing, and to refuse them here would hide
// a transfer that takes place.
func systemTransfer(data []byte, accounts []string) (*fact.SolanaTransfer, error) {
	if len(data) < 4 {
		return nil, errSystem
	}
	kind := binary.LittleEndian.Uint32(data)
	if kind >= uint32(len(systemInstructions)) || !wellFormed(systemInstructions[kind], data[4:]) {
		return nil, errSystem
	}
	if kind != systemSend {
		return nil, nil
	}
	if len(accounts) < 2 {
		return nil, errors.New("a transfer of the System Program has two accounts")
	}
	return &fact.SolanaTransfer{From: accounts[0], To: accounts[1], Amount: amount(data[4:])}, nil
}

// wellFormed is whether the fields are there (bincode with fixed integers).
func wellFormed(fields string, data []byte) bool {
	for _, field := range fields {
		size := uint64(8)
		switch field {
		case 'k':
			size = 32
		case 's':
			if len(data) < 8 {
				return false
			}
			size = binary.LittleEndian.Uint64(data)
			if data = data[8:]; size > uint64(len(data)) || !utf8.Valid(data[:size]) {
				return false
			}
		}
		if size > uint64(len(data)) {
			return false
		}
		data = data[size:]
	}
	return true
}

func amount(data []byte) fact.Number { return fact.Uint(binary.LittleEndian.Uint64(data)) }

// tokenTransfer reads an instruction of the token programs; nil if it is no
// transfer. Bytes after the last field are allowed, as on chain.
func tokenTransfer(data []byte, accounts []string) (*fact.SPLTransfer, error) {
	const (
		plain   = 3  // Transfer: amount
		checked = 12 // TransferChecked: amount, decimals
		fees    = 26 // TransferFeeExtension, of which
		withFee = 1  // TransferCheckedWithFee: amount, decimals, fee
	)
	errShort := errors.New("an instruction of a token program is cut short")
	if len(data) == 0 {
		return nil, errShort
	}
	kind, data := data[0], data[1:]
	size := 8
	switch kind {
	case plain:
	case checked:
		size = 9
	case fees:
		if len(data) == 0 {
			return nil, errShort
		}
		if data[0] != withFee {
			return nil, nil
		}
		data, size = data[1:], 17
	default:
		return nil, nil
	}
	owner := 3 // accounts: source, mint, destination, owner, signers
	if kind == plain {
		owner = 2 // there is no mint
	}
	switch {
	case len(data) < size:
		return nil, errShort
	case len(accounts) <= owner:
		return nil, errors.New("a transfer of a token program has too few accounts")
	}
	f := &fact.SPLTransfer{
		From:    accounts[0],
		To:      accounts[owner-1],
		Owner:   accounts[owner],
		Amount:  amount(data),
		Signers: accounts[owner+1:],
	}
	if kind != plain {
		f.TokenMint = accounts[1]
	}
	return f, nil
}
