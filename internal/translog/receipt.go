package translog

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Receipt proves offline that an entry is in the log.
type Receipt struct {
	Record string `json:"record"` // the text that was hashed
	Salt   string `json:"salt"`   // 32 bytes in lower-case hex
	Proof  string `json:"proof"`  // C2SP tlog-proof
}

// maxReceipt bounds the text of a receipt.
const maxReceipt = 1 << 20

// NewReceipt makes the receipt of the entry of an index.
func NewReceipt(record []byte, salt [32]byte, index int64, inclusion []Hash, checkpoint []byte) Receipt {
	return Receipt{Record: string(record), Salt: hex.EncodeToString(salt[:]), Proof: proofText(index, inclusion, checkpoint)}
}

// ParseReceipt reads a receipt as JSON: the reply of the server, {"receipt": {…}},
// or its inner object.
func ParseReceipt(text []byte) (Receipt, error) {
	if len(text) > maxReceipt {
		return Receipt{}, fmt.Errorf("receipt: it has more than %d bytes", maxReceipt)
	}
	outer, err := members(text)
	if err != nil {
		return Receipt{}, fmt.Errorf("receipt: %w", err)
	}
	if inner, found := outer["receipt"]; found && len(outer) == 1 {
		if outer, err = members(inner); err != nil {
			return Receipt{}, fmt.Errorf("receipt: %w", err)
		}
	}
	var r Receipt
	for name, to := range map[string]*string{"record": &r.Record, "salt": &r.Salt, "proof": &r.Proof} {
		if value := outer[name]; len(value) == 0 || value[0] != '"' || json.Unmarshal(value, to) != nil {
			return Receipt{}, fmt.Errorf("receipt: the member %q is missing or is not a string; a receipt has record, salt and proof", name)
		}
		delete(outer, name)
	}
	for name := range outer {
		return Receipt{}, fmt.Errorf("receipt: the member %.60q is not known; a receipt has record, salt and proof", name)
	}
	return r, nil
}

// members reads one JSON object, with each name once and nothing behind it.
func members(text []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("it is not a JSON object")
	}
	all := map[string]json.RawMessage{}
	for d.More() {
		t, err := d.Token()
		name, isName := t.(string)
		if err != nil || !isName {
			return nil, errors.New("it is not valid JSON")
		}
		if _, twice := all[name]; twice {
			return nil, fmt.Errorf("the member %.60q is there twice", name)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, fmt.Errorf("the member %.60q is not valid JSON", name)
		}
		all[name] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, errors.New("it is not valid JSON: the object has no end")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the object")
	}
	return all, nil
}

// Proven is what a receipt proves.
type Proven struct {
	Record     Record
	Index      int64 // in the log
	Checkpoint *Signed
}

// VerifyReceipt checks a receipt offline. The checkpoint must be signed by each
// key of logs that has its origin as name, and be cosigned by at least quorum of the
// witnesses, each with all of its given keys. The error says what is wrong.
func VerifyReceipt(r Receipt, logs, witnesses Keys, quorum int) (*Proven, error) {
	record, err := ParseRecord(r.Record)
	if err != nil {
		return nil, err
	}
	salt, err := hex.DecodeString(r.Salt)
	if err != nil || len(salt) != 32 || strings.ToLower(r.Salt) != r.Salt {
		return nil, errors.New("receipt: the salt is not 32 bytes in lower-case hex")
	}
	index, inclusion, note, err := parseProof(r.Proof)
	if err != nil {
		return nil, err
	}
	signed, err := OpenCheckpoint(note, logs, witnesses)
	if err != nil {
		return nil, err
	}
	if by := signed.CosignedBy(witnesses); len(by) < quorum {
		return nil, fmt.Errorf("checkpoint: %d of the given witnesses have cosigned it%s, and %d are needed", len(by), listed(by), quorum)
	}
	leaf := LeafHash(EntryHash([32]byte(salt), []byte(r.Record)))
	if err := CheckInclusion(inclusion, signed.Head, index, leaf); err != nil {
		return nil, fmt.Errorf("receipt: %w: record, salt or proof was changed", err)
	}
	return &Proven{Record: record, Index: index, Checkpoint: signed}, nil
}

func listed(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}
