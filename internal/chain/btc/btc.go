package btc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/wire"
)

// MaxSize is the largest PSBT in bytes; legacy inputs carry whole transactions.
const MaxSize = 2 << 20

// maxUnsigned is the largest unsigned transaction that nodes relay. It bounds
// the work too: a legacy digest costs the whole transaction for each input.
const maxUnsigned = 100_000

// maxMoney is all the satoshis that there can be.
const maxMoney = 21_000_000 * 100_000_000

// Tx is a PSBT. The exported fields are for reading only.
type Tx struct {
	Version  int32
	LockTime uint32
	Inputs   []Input
	Outputs  []Output

	msg      *wire.MsgTx
	sections []section
}

// Input is an input and the output that it spends, if the PSBT has it.
type Input struct {
	TxID     string // of the spent output, in the order that users see
	Vout     uint32
	Sequence uint32

	// Known is whether the PSBT has the spent output, and Proven whether Amount
	// and Script are from the whole transaction, whose hash was checked. Else
	// they are what the PSBT claims: a signature of ours covers the claim for
	// the input that it is for, and for P2TR for all.
	Known, Proven bool
	Amount        int64 // satoshis
	Script        []byte
}

// Output is an output.
type Output struct {
	Value  int64 // satoshis
	Script []byte
}

// Parse reads a PSBT in its binary form.
func Parse(raw []byte) (*Tx, error) {
	if len(raw) > MaxSize {
		return nil, fmt.Errorf("the PSBT has %d bytes; at most %d are accepted", len(raw), MaxSize)
	}
	sections, err := split(bytes.Clone(raw))
	if err != nil {
		return nil, err
	}
	if len(sections) == 0 {
		return nil, errTruncated
	}
	tx := &Tx{sections: sections}
	if err := tx.readGlobal(); err != nil {
		return nil, err
	}
	if want := 1 + len(tx.msg.TxIn) + len(tx.msg.TxOut); len(sections) != want {
		return nil, fmt.Errorf("the PSBT has %d maps; its transaction needs %d", len(sections), want)
	}
	for i := range tx.msg.TxIn {
		if err := tx.input(i).checkKeys(inputKeys); err != nil {
			return nil, fmt.Errorf("input %d: %w", i, err)
		}
	}
	if err := tx.readInputs(); err != nil {
		return nil, err
	}
	if err := tx.readOutputs(); err != nil {
		return nil, err
	}
	// The reader is strict already. This makes a mistake in it a refusal.
	if !bytes.Equal(tx.Encode(), raw) {
		return nil, errors.New("the PSBT is not in its canonical encoding")
	}
	return tx, nil
}

func (tx *Tx) readGlobal() error {
	global := tx.sections[0]
	if err := global.checkKeys([]byte{globalUnsignedTx, globalVersion}); err != nil {
		return err
	}
	if v, ok := global.get(globalVersion); ok && (len(v) != 4 || binary.LittleEndian.Uint32(v) != 0) {
		return errors.New("only version 0 of PSBT is supported")
	}
	unsigned, ok := global.get(globalUnsignedTx)
	if !ok {
		return errors.New("the PSBT has no unsigned transaction; only version 0 is supported")
	}
	if len(unsigned) > maxUnsigned {
		return fmt.Errorf("the unsigned transaction has %d bytes; at most %d are accepted", len(unsigned), maxUnsigned)
	}
	// BIP-174: in the old serialisation, without witnesses.
	msg, err := readTx(unsigned, false)
	if err != nil {
		return fmt.Errorf("unsigned transaction: %w", err)
	}
	if len(msg.TxIn) == 0 || len(msg.TxOut) == 0 {
		return errors.New("the unsigned transaction has no inputs or no outputs")
	}
	tx.msg, tx.Version, tx.LockTime = msg, msg.Version, msg.LockTime
	return nil
}

func (tx *Tx) readInputs() error {
	seen := map[wire.OutPoint]bool{}
	for i, in := range tx.msg.TxIn {
		if len(in.SignatureScript) > 0 {
			return fmt.Errorf("input %d of the unsigned transaction is already signed", i)
		}
		if seen[in.PreviousOutPoint] {
			return fmt.Errorf("input %d spends an output for the second time", i)
		}
		seen[in.PreviousOutPoint] = true
		input := Input{
			TxID:     in.PreviousOutPoint.Hash.String(),
			Vout:     in.PreviousOutPoint.Index,
			Sequence: in.Sequence,
		}
		spent, err := tx.spent(i, &input)
		if err != nil {
			return fmt.Errorf("input %d: %w", i, err)
		}
		if spent != nil {
			if spent.Value < 0 || spent.Value > maxMoney {
				return fmt.Errorf("input %d: the amount is out of range", i)
			}
			input.Known, input.Amount, input.Script = true, spent.Value, bytes.Clone(spent.PkScript)
		}
		tx.Inputs = append(tx.Inputs, input)
	}
	return nil
}

// spent is the output that input i spends; nil when the PSBT does not have it.
func (tx *Tx) spent(i int, input *Input) (*wire.TxOut, error) {
	point := tx.msg.TxIn[i].PreviousOutPoint
	var fromTx, claimed *wire.TxOut
	if b, ok := tx.input(i).get(inNonWitnessUTXO); ok {
		whole, err := readTx(b, true)
		switch {
		case err != nil:
			return nil, fmt.Errorf("non_witness_utxo: %w", err)
		case whole.TxHash() != point.Hash:
			return nil, errors.New("non_witness_utxo is another transaction than the one that is spent")
		case uint64(point.Index) >= uint64(len(whole.TxOut)):
			return nil, errors.New("non_witness_utxo has no such output")
		}
		fromTx = whole.TxOut[point.Index]
		input.Proven = true
	}
	if b, ok := tx.input(i).get(inWitnessUTXO); ok {
		var err error
		if claimed, err = readTxOut(b); err != nil {
			return nil, fmt.Errorf("witness_utxo: %w", err)
		}
	}
	if fromTx == nil {
		return claimed, nil
	}
	if claimed != nil && (claimed.Value != fromTx.Value || !bytes.Equal(claimed.PkScript, fromTx.PkScript)) {
		return nil, errors.New("witness_utxo and non_witness_utxo disagree")
	}
	return fromTx, nil
}

func (tx *Tx) readOutputs() error {
	var sum int64
	for i, out := range tx.msg.TxOut {
		if out.Value < 0 || out.Value > maxMoney {
			return fmt.Errorf("output %d: the amount is out of range", i)
		}
		if sum += out.Value; sum > maxMoney {
			return errors.New("the outputs add up to more than there is")
		}
		tx.Outputs = append(tx.Outputs, Output{Value: out.Value, Script: bytes.Clone(out.PkScript)})
	}
	if fee, ok := tx.Fee(); ok && fee < 0 {
		return errors.New("the outputs add up to more than the inputs")
	}
	return nil
}

// Fee is what the inputs hold above the outputs, by what is known of them; false
// when the PSBT does not have all the outputs that are spent.
func (tx *Tx) Fee() (satoshis int64, ok bool) {
	for _, in := range tx.Inputs {
		if !in.Known {
			return 0, false
		}
		satoshis += in.Amount // cannot overflow: maxUnsigned allows some 2,400 inputs
	}
	for _, out := range tx.Outputs {
		satoshis -= out.Value
	}
	return satoshis, true
}

// Encode is the PSBT with the signatures that were added.
func (tx *Tx) Encode() []byte {
	b := bytes.Clone(magic)
	for _, s := range tx.sections {
		for _, p := range s {
			b = appendBytes(appendBytes(b, p.key), p.value)
		}
		b = append(b, 0)
	}
	return b
}

func (tx *Tx) input(i int) section { return tx.sections[1+i] }
