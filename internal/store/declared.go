package store

import (
	"maps"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
)

// DerivedRow is a stored row that follows from a record: of an index, or of the
// directory of the parent.
type DerivedRow struct{ Kind, ID, Body string }

// DeclaredKind is what an audit knows of a kind of record.
type DeclaredKind interface {
	// KindName is its name in the database.
	KindName() string
	// IndexKinds are the kinds of its stored indexes.
	IndexKinds() []string
	// Entries are the rows of its stored indexes that a record must have.
	Entries(id string, body []byte) ([]DerivedRow, error)
	// DirectoryEntries are the rows that a record must have in the directory of
	// its organization's parent.
	DirectoryEntries(child, id string, body []byte) ([]DerivedRow, error)

	sum() string
}

// DeclaredKinds lists the kinds of record, of organizations and of the
// installation.
func DeclaredKinds() []DeclaredKind {
	return []DeclaredKind{
		&organizations, &users, &tags, &policies, &velocityControls, &contractInterfaces, &waiting, &otps, &wrongCodes,
		&wallets, &walletAccounts, &privateKeys, &secrets, &oauth2Credentials, &importTargets, &sessionProfiles, &invitations,
		&knownOrganizations, &installations, &messages, &mailEvents, &tokenUses,
		&webhookEndpoints, &webhookProgress, &webhookNotices, &webhookLeases, &nodes,
	}
}

// otherKinds are the kinds of rows that are no records, and the sums to which
// they belong; empty: to none.
var otherKinds = map[string]string{
	headKind: "", ciphertextKind: restSum, directoryKind: "",
	expiringKind: "", rewrappingKind: "", refusedKind: "", authProxyKind: "", probeKind: "", tallyKind: "",
	LogState: "", LogSequence: "", LogBlock: "", LogTile: "", LogCheckpoint: "",
	LogOwn: "", LogChildren: "",
}

// kindSums says to which sum of the head the rows of each kind belong; empty: to
// none.
var kindSums = sync.OnceValue(func() map[string]string {
	sums := maps.Clone(otherKinds)
	for _, kind := range DeclaredKinds() {
		sums[kind.KindName()] = kind.sum()
		for _, index := range kind.IndexKinds() {
			sums[index] = kind.sum()
		}
	}
	return sums
})

// KindName implements [DeclaredKind].
func (k *Kind[T]) KindName() string { return k.Name }

// IndexKinds implements [DeclaredKind].
func (k *Kind[T]) IndexKinds() (kinds []string) {
	if k.Resident {
		return nil // its indexes are built when it is loaded
	}
	for _, index := range append(k.Unique[:len(k.Unique):len(k.Unique)], k.Lists...) {
		kinds = append(kinds, k.Name+"."+index.Name)
	}
	return kinds
}

// Entries implements [DeclaredKind].
func (k *Kind[T]) Entries(id string, body []byte) (entries []DerivedRow, err error) {
	if k.Resident || len(k.Unique)+len(k.Lists) == 0 {
		return nil, nil
	}
	value := new(T)
	if err := json.Unmarshal(body, value); err != nil {
		return nil, err
	}
	for _, index := range k.Unique {
		for _, key := range index.keys(value) {
			entries = append(entries, DerivedRow{k.Name + "." + index.Name, key, id})
		}
	}
	for _, index := range k.Lists {
		for _, key := range index.keys(value) {
			entries = append(entries, DerivedRow{k.Name + "." + index.Name, listEntryID(key, id), id})
		}
	}
	return entries, nil
}

// DirectoryEntries implements [DeclaredKind].
func (k *Kind[T]) DirectoryEntries(child, id string, body []byte) (entries []DerivedRow, err error) {
	if k.Directory == nil {
		return nil, nil
	}
	value := new(T)
	if err := json.Unmarshal(body, value); err != nil {
		return nil, err
	}
	for _, key := range (Index[T]{Keys: k.Directory}).keys(value) {
		entries = append(entries, DerivedRow{directoryKind, directoryID(key, child, id), ""})
	}
	return entries, nil
}

// DirectoryKind is the kind of the rows of directories.
const DirectoryKind = directoryKind

// DirectoryOwner takes the id of a row of a directory apart: the child that owns
// it, and the child's record to which it belongs.
func DirectoryOwner(rowID string) (child, id string, ok bool) {
	parts := strings.Split(rowID, separator)
	if len(parts) < 3 {
		return "", "", false
	}
	return parts[len(parts)-2], parts[len(parts)-1], true
}
