// Package idl reads the interface of a Solana program, the JSON that Anchor
// writes (before and after its version 0.30), and instructions of the program
// by it, so that policies can read accounts and arguments by name.
//
// An interface is refused if it leaves anything open: two types of one name,
// types that contain themselves, instructions that their first bytes do not tell
// apart, arguments of a type that is unknown or not supported (maps, sets,
// generics). What no instruction needs is ignored.
//
// Data is decoded as Borsh, which has one encoding for each value. Data that is
// too short or too long, that no instruction begins, or that comes with fewer
// accounts than the interface names, is no match. Types without a size could
// make many values of little data, so each value is counted against a budget
// that the data's length sets.
//
// An [Interface] does not change after [Parse] and may be used by many
// goroutines at once.
package idl

import (
	"bytes"
	"encoding/hex"

	"latchkey/internal/policy/fact"
)

// MaxCharacters is the length of the longest interface.
const MaxCharacters = 400_000

// Interface is a program's instructions.
type Interface struct {
	instructions []instruction
}

// instruction is what a call needs to know of an instruction.
type instruction struct {
	name          string
	discriminator []byte // what its data begins with; none begins another's
	accounts      []string
	args          members
}

// Instruction reads the data and the accounts, in order, of an instruction to
// the program; false if it is not a well-formed call of an instruction of the
// interface. Accounts beyond those that the interface names are allowed, as
// programs allow them.
//
// A struct becomes a struct, a tuple a list, an absent option null, a public key
// its base58, bytes lower-case hex without 0x. A variant of an enum that has
// no fields becomes its name, any other a struct with its name as the one field.
// Floating point numbers cannot be read: policies have no numbers but integers.
func (i *Interface) Instruction(data []byte, accounts []string) (*fact.ParsedInstruction, bool) {
	in := i.find(data)
	if in == nil || len(accounts) < len(in.accounts) {
		return nil, false
	}
	d := newDecoder(data[len(in.discriminator):])
	args, ok := d.named(in.args)
	if !ok || len(d.rest) > 0 {
		return nil, false
	}
	parsed := &fact.ParsedInstruction{
		Name:          in.name,
		Discriminator: hex.EncodeToString(in.discriminator),
		Args:          args,
	}
	for k, name := range in.accounts {
		parsed.NamedAccounts = append(parsed.NamedAccounts, fact.Entry{Name: name, Value: fact.String(accounts[k])})
	}
	return parsed, true
}

func (i *Interface) find(data []byte) *instruction {
	for k := range i.instructions {
		if bytes.HasPrefix(data, i.instructions[k].discriminator) {
			return &i.instructions[k]
		}
	}
	return nil
}
