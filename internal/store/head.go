package store

import (
	"encoding/binary"
	"encoding/hex"
	"maps"
	"math/bits"
	"strconv"

	"github.com/go-json-experiment/json"

	"latchkey/internal/keys/vault"
)

// The head of an organization says which rows it has, so that a row that is
// missing, was added or was put back is noticed. It holds sums over the rows: one
// for each kind that is kept in memory, which is checked whenever the kind is
// loaded, so before the next decision that rests on it; and one over all others,
// which only an audit checks. It is written in every commit that raises the
// version, and names that version.
//
// A sum adds up an element for each row, modulo 2^256 (a multiset hash, MSet-Add
// of Clarke et al., 2003), so that a change costs an addition. Elements follow
// from the rows by a key, and the head is encrypted: who can write to the
// database learns neither, and cannot look for other rows with the same sum.

// headKind is the kind of the one item in which the head is kept.
const (
	headKind = "head"
	headID   = "head"
)

// restSum is the sum over the rows of all kinds that are not kept in memory.
const restSum = "rest"

type head struct {
	Version int64          `json:"version"`
	Sums    map[string]sum `json:"sums"`

	digest string // what the log says of the state
}

// sum is a number of 256 bits, in four words, the lowest first.
type sum [4]uint64

func (s sum) plus(element [32]byte) sum {
	var carry uint64
	for i := range s {
		s[i], carry = bits.Add64(s[i], binary.LittleEndian.Uint64(element[8*i:]), carry)
	}
	return s
}

func (s sum) minus(element [32]byte) sum {
	var borrow uint64
	for i := range s {
		s[i], borrow = bits.Sub64(s[i], binary.LittleEndian.Uint64(element[8*i:]), borrow)
	}
	return s
}

// next is the head after a commit with these changes, which are of the
// organization itself.
func (h *head) next(key *vault.RowKey, changes []Change) *head {
	after := &head{Version: h.Version + 1, Sums: maps.Clone(h.Sums)}
	if after.Sums == nil {
		after.Sums = map[string]sum{}
	}
	for i := range changes {
		ch := &changes[i]
		if ch.sum == "" {
			continue
		}
		s := after.Sums[ch.sum]
		if ch.before != nil {
			s = s.minus(key.Element(*ch.before))
		}
		if ch.Body != nil {
			mark := itemMark(key, ch.Kind, ch.ID, ch.Body)
			ch.after = &mark
			s = s.plus(key.Element(mark))
		}
		after.Sums[ch.sum] = s
	}
	return after
}

// headContext is what a sealed head is bound to besides the key of its
// organization.
var headContext = []byte("latchkey head 1")

func (h *head) seal(key *vault.RowKey) (Change, error) {
	plain, err := json.Marshal(h, json.Deterministic(true))
	if err != nil {
		return Change{}, err
	}
	h.digest = stateDigest(key, h.Version, plain)
	sealed, err := key.SealHead(headContext, plain)
	return Change{Kind: headKind, ID: headID, Body: sealed}, err
}

// stateVersionDigits is how many hex digits of a state digest are the version.
const stateVersionDigits = 16

// stateDigest is what the log says of the state that a head stands for: the version
// of the organization, by which an older state is known (see [Tx.checkLogged]), and
// a mark of the head, which says nothing to those who have no key.
func stateDigest(key *vault.RowKey, version int64, plain []byte) string {
	mark := key.Mark(plain, "latchkey state 2")
	digest := binary.BigEndian.AppendUint64(nil, uint64(version))
	return hex.EncodeToString(append(digest, mark[:32-len(digest)]...))
}

// StateVersion is the version of an organization of which a record of the log
// speaks, 0 for none.
func StateVersion(stateDigest string) int64 {
	if len(stateDigest) < stateVersionDigits {
		return 0
	}
	version, err := strconv.ParseInt(stateDigest[:stateVersionDigits], 16, 64)
	if err != nil {
		return 0
	}
	return version
}

// headless organizations hold nothing but rows that no version guards.
func headless(org string) bool { return org == outboxOrg || org == logOrg || org == webhookOrg }

// head returns the head of the transaction's version.
func (tx *Tx) head() (*head, error) {
	if tx.version == 0 {
		return &head{}, nil
	}
	if known := tx.snapshot.head.Load(); known != nil {
		return known, nil
	}
	r, err := tx.rows()
	if err != nil {
		return nil, err
	}
	row, err := r.get(tx.ctx, headKind, headID)
	if err != nil {
		return nil, err
	}
	found := new(head)
	if row != nil {
		if found, err = openHead(r.key, row.Body); err != nil {
			return nil, tx.store.found(Finding{tx.org, headKind, headID, notOurs})
		}
	}
	if found.Version != tx.version {
		// It may have been changed since the transaction began.
		if err := tx.checkVersion(); err != nil {
			return nil, err
		}
		what := otherVersion
		if row == nil {
			what = isGone
		}
		return nil, tx.store.found(Finding{tx.org, headKind, headID, what})
	}
	if err := tx.checkLogged(found); err != nil {
		return nil, err
	}
	tx.snapshot.head.Store(found)
	return found, nil
}

// checkSum compares the rows of a kind that is kept in memory with the head. The
// caller has made certain that they are of the transaction's version.
func (tx *Tx) checkSum(kind string, marks map[string]vault.RowMark) error {
	if headless(tx.org) {
		return nil
	}
	h, err := tx.head()
	if err != nil {
		return err
	}
	r, err := tx.rows()
	if err != nil {
		return err
	}
	var s sum
	for _, mark := range marks {
		s = s.plus(r.key.Element(mark))
	}
	if s != h.Sums[kind] {
		return tx.store.found(Finding{tx.org, kind, "", incomplete})
	}
	return nil
}
