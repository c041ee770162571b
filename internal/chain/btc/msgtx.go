package btc

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/btcsuite/btcd/wire"
)

var errTx = errors.New("the transaction is truncated, too long or malformed")

// readTx reads a transaction that fills b exactly. The shape is walked first,
// because wire allocates by the counts that it reads.
func readTx(b []byte, witness bool) (*wire.MsgTx, error) {
	if !wellFormed(b, witness) {
		return nil, errTx
	}
	tx := &wire.MsgTx{}
	read, write := tx.DeserializeNoWitness, tx.SerializeNoWitness
	if witness {
		read, write = tx.Deserialize, tx.Serialize
	}
	var again bytes.Buffer
	if read(bytes.NewReader(b)) != nil || write(&again) != nil || !bytes.Equal(again.Bytes(), b) {
		return nil, errTx
	}
	return tx, nil
}

// wellFormed walks the fields of a transaction to its last byte.
func wellFormed(b []byte, witness bool) bool {
	w := walker{rest: b}
	w.skip(4)                                                                // version
	segwit := witness && len(w.rest) > 2 && w.rest[0] == 0 && w.rest[1] == 1 // BIP-144
	if segwit {
		w.skip(2)
	}
	inputs := w.count()
	for range inputs {
		w.skip(36) // outpoint
		w.bytes()
		w.skip(4) // sequence
		if w.bad {
			return false
		}
	}
	for range w.count() {
		w.skip(8) // value
		w.bytes()
		if w.bad {
			return false
		}
	}
	if segwit {
		for range inputs {
			for range w.count() {
				w.bytes()
			}
		}
	}
	w.skip(4) // lock time
	return !w.bad && len(w.rest) == 0
}

type walker struct {
	rest []byte
	bad  bool
}

func (w *walker) skip(n uint64) {
	if w.bad = w.bad || n > uint64(len(w.rest)); !w.bad {
		w.rest = w.rest[n:]
	}
}

func (w *walker) size() uint64 {
	if w.bad {
		return 0
	}
	n, rest, err := readSize(w.rest)
	if err != nil {
		w.bad = true
		return 0
	}
	w.rest = rest
	return n
}

func (w *walker) bytes() { w.skip(w.size()) }

// count reads how many items follow; each has at least a byte.
func (w *walker) count() uint64 {
	n := w.size()
	if n > uint64(len(w.rest)) {
		w.bad = true
		return 0
	}
	return n
}

// readTxOut reads an output that fills b exactly.
func readTxOut(b []byte) (*wire.TxOut, error) {
	if len(b) < 9 {
		return nil, errTx
	}
	script, rest, err := readBytes(b[8:])
	if err != nil || len(rest) > 0 {
		return nil, errTx
	}
	return &wire.TxOut{Value: int64(binary.LittleEndian.Uint64(b)), PkScript: script}, nil
}
