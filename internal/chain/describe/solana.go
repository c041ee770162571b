package describe

import (
	"encoding/hex"

	"latchkey/internal/chain/sol"
	"latchkey/internal/policy/fact"
)

// Solana describes a transaction. The interfaces may be nil.
//
// Accounts from tables are left out of the accounts of an instruction and
// listed among its lookups; where an account has a name they read
// ADDRESS_TABLE_LOOKUP. Transfers and effects are all that the instructions of
// the transaction itself order from the System Program and the token programs;
// an instruction of theirs that is not understood makes them untold. Other
// programs may order more.
func Solana(tx *sol.Tx, interfaces Interfaces) *fact.SolanaTx {
	d := solana{tx: tx, interfaces: interfaces, facts: &fact.SolanaTx{RecentBlockhash: tx.RecentBlockhash.String()}}
	for _, key := range tx.AccountKeys {
		d.facts.AccountKeys = append(d.facts.AccountKeys, key.String())
	}
	called := map[int]bool{}
	for i := range tx.Instructions {
		called[int(tx.Instructions[i].ProgramIndex)] = true
		d.instruction(i, &tx.Instructions[i])
	}
	for i, key := range d.facts.AccountKeys {
		if called[i] {
			d.facts.ProgramKeys = append(d.facts.ProgramKeys, key)
		}
	}
	d.lookups()
	return d.facts
}

// solana is a description that is being made.
type solana struct {
	tx         *sol.Tx
	interfaces Interfaces
	facts      *fact.SolanaTx
}

func (d *solana) instruction(number int, in *sol.Instruction) {
	f := fact.SolanaInstruction{
		ProgramKey: d.facts.AccountKeys[in.ProgramIndex],
		DataHex:    hex.EncodeToString(in.Data),
	}
	names := make([]string, len(in.Accounts)) // all of them, in order
	for i, account := range in.Accounts {
		if reference, ok := d.reference(int(account)); ok {
			names[i] = fact.SolanaTableAccount
			f.AddressTableLookups = append(f.AddressTableLookups, reference)
			continue
		}
		names[i] = d.facts.AccountKeys[account]
		f.Accounts = append(f.Accounts, fact.SolanaAccount{
			Key:      names[i],
			Signer:   d.tx.IsSigner(int(account)),
			Writable: d.tx.IsWritable(int(account)),
		})
	}
	d.program(number, f.ProgramKey, in.Data, names)
	if d.interfaces != nil {
		if program := d.interfaces.Program(f.ProgramKey); program != nil {
			if parsed, ok := program.Instruction(in.Data, names); ok {
				f.Parsed = parsed
			}
		}
	}
	d.facts.Instructions = append(d.facts.Instructions, f)
}

// reference says which entry of which table an account is; false for one of
// the account keys and for one that is not there.
func (d *solana) reference(account int) (fact.AddressTableReference, bool) {
	table, index, ok := d.tx.LookupOf(account)
	if !ok {
		return fact.AddressTableReference{}, false
	}
	return fact.AddressTableReference{
		TableKey: d.tx.Lookups[table].Table.String(),
		Index:    fact.Uint(uint64(index)),
		Writable: d.tx.IsWritable(account),
	}, true
}

func (d *solana) lookups() {
	for _, l := range d.tx.Lookups {
		d.facts.AddressTableLookups = append(d.facts.AddressTableLookups, fact.AddressTableLookup{
			TableKey:        l.Table.String(),
			WritableIndexes: numbers(l.Writable),
			ReadonlyIndexes: numbers(l.Readonly),
		})
	}
	for account := len(d.tx.AccountKeys); ; account++ {
		reference, ok := d.reference(account)
		if !ok {
			return
		}
		d.facts.AddressTableLookupReferences = append(d.facts.AddressTableLookupReferences, reference)
	}
}

func numbers(bytes []byte) []fact.Number {
	all := make([]fact.Number, len(bytes))
	for i, b := range bytes {
		all[i] = fact.Uint(uint64(b))
	}
	return all
}
