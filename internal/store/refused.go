package store

import (
	"strconv"
	"strings"
)

// Bodies of refused requests are counted for each user and day, because users
// without any right can make the server keep them. There is an entry for each
// body, written in the commit that keeps it: entries of requests that are refused
// at the same time do not overwrite each other, and no version guards them.

// refusedKind is the kind of the entries, among what belongs to the whole
// installation. An id is made of user, day and activity.
const refusedKind = "refused"

// KeepRefused reports whether the body of a refused activity may be kept: whether
// it and those that were kept for the user on the same day have at most most
// bytes together. Then it is counted when the transaction commits.
func (tx *Tx) KeepRefused(userID, day, activityID string, size, most int) (bool, error) {
	rows, err := tx.store.rowsOf(instanceOrg)
	if err != nil {
		return false, err
	}
	entries, err := rows.scan(tx.ctx, refusedKind, Range{From: userID + separator, To: userID + "\x20"})
	if err != nil {
		return false, err
	}
	today := userID + separator + day + separator
	total := size
	for _, e := range entries {
		if !strings.HasPrefix(e.ID, today) {
			tx.outside = append(tx.outside, Change{Org: instanceOrg, Kind: refusedKind, ID: e.ID}) // of a day that is over
			continue
		}
		if e.Body == nil {
			continue // not ours
		}
		kept, err := strconv.Atoi(string(e.Body))
		if err != nil {
			return false, damaged(instanceOrg, refusedKind, e.ID, err)
		}
		total += kept
	}
	if total > most {
		return false, nil
	}
	tx.outside = append(tx.outside, Change{Org: instanceOrg, Kind: refusedKind, ID: today + activityID, Body: []byte(strconv.Itoa(size))})
	return true, nil
}
