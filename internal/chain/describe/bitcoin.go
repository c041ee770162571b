package describe

import (
	"encoding/hex"
	"errors"
	"strconv"
	"strings"

	"latchkey/internal/chain/btc"
	"latchkey/internal/keys/address"
	"latchkey/internal/policy/fact"
)

// lockTimeThreshold divides lock times: below it they are heights of blocks,
// from it on Unix times (Bitcoin's LOCKTIME_THRESHOLD).
const lockTimeThreshold = 500_000_000

// Bitcoin describes a transaction that the holder of an address of the given
// format signs: the format says on which network it is, and so what the
// addresses of outputs look like.
//
// The fee is what the PSBT says that the inputs hold, less what the outputs get.
// A PSBT without the amounts is refused. The fee is proven only where the
// signature covers the amounts of all inputs (P2TR) or the PSBT carries the
// transactions that they are from; else an amount of another party's input is
// the sender's claim, as it is for every signer of PSBTs.
func Bitcoin(tx *btc.Tx, signer address.Format) (*fact.BitcoinTx, error) {
	network, ok := bitcoinNetwork(signer)
	if !ok {
		return nil, errors.New("a Bitcoin transaction is signed with a Bitcoin address")
	}
	fee, ok := tx.Fee()
	if !ok {
		return nil, errors.New("the fee cannot be told: every input needs witness_utxo or non_witness_utxo")
	}
	f := &fact.BitcoinTx{
		Version:        strconv.FormatInt(int64(tx.Version), 10),
		LocktimeAmount: fact.Uint(uint64(tx.LockTime)),
		LocktimeType:   "Blocks",
		Fee:            fact.Int(fee),
	}
	if tx.LockTime >= lockTimeThreshold {
		f.LocktimeType = "Seconds"
	}
	for _, in := range tx.Inputs {
		f.Inputs = append(f.Inputs, fact.BitcoinInput{TxID: in.TxID, Vout: fact.Uint(uint64(in.Vout)), Sequence: fact.Uint(uint64(in.Sequence))})
	}
	for i := range tx.Outputs {
		out := fact.BitcoinOutput{Value: fact.Int(tx.Outputs[i].Value), ScriptPubkey: hex.EncodeToString(tx.Outputs[i].Script)}
		out.Address, out.AddressType = tx.Outputs[i].Address(network)
		f.Outputs = append(f.Outputs, out)
	}
	return f, nil
}

func bitcoinNetwork(f address.Format) (btc.Network, bool) {
	rest, ok := strings.CutPrefix(string(f), "ADDRESS_FORMAT_BITCOIN_")
	name, _, _ := strings.Cut(rest, "_")
	network, known := map[string]btc.Network{"MAINNET": btc.Mainnet, "TESTNET": btc.Testnet, "SIGNET": btc.Testnet, "REGTEST": btc.Regtest}[name]
	return network, ok && known
}
