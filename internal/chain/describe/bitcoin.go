package describe

import (
	"encoding/hex"
	"errors"
	"fmt"
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
// The fee is what the inputs hold, less what the outputs get. It is told only
// where the amounts are proven: the signature covers those of all inputs (P2TR),
// or the PSBT carries the transactions that they are from. A signature for
// segwit version 0 covers the amount of its own input only. So two requests, each
// of which lies about the other's input, would together spend any fee.
func Bitcoin(tx *btc.Tx, signer address.Format) (*fact.BitcoinTx, error) {
	network, ok := BitcoinNetwork(signer)
	if !ok {
		return nil, errors.New("a Bitcoin transaction is signed with a Bitcoin address")
	}
	fee, _ := tx.Fee()
	f := &fact.BitcoinTx{
		Version:        strconv.FormatInt(int64(tx.Version), 10),
		LocktimeAmount: fact.Uint(uint64(tx.LockTime)),
		LocktimeType:   "Blocks",
		Fee:            fact.Int(fee),
		FeeUntold:      feeUntold(tx, address.IsTaproot(signer)),
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

// feeUntold is why the fee is not proven; empty if it is.
func feeUntold(tx *btc.Tx, taproot bool) string {
	for i, in := range tx.Inputs {
		switch {
		case !in.Known:
			return fmt.Sprintf("input %d has neither non_witness_utxo nor witness_utxo", i)
		case !in.Proven && !taproot:
			return fmt.Sprintf("input %d has no non_witness_utxo, so that its amount is not proven", i)
		}
	}
	return ""
}

// BitcoinNetwork is the network of a Bitcoin address; false for other formats.
func BitcoinNetwork(f address.Format) (btc.Network, bool) {
	rest, ok := strings.CutPrefix(string(f), "ADDRESS_FORMAT_BITCOIN_")
	name, _, _ := strings.Cut(rest, "_")
	network, known := map[string]btc.Network{"MAINNET": btc.Mainnet, "TESTNET": btc.Testnet, "SIGNET": btc.Testnet, "REGTEST": btc.Regtest}[name]
	return network, ok && known
}
