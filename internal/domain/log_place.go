package domain

// LogPlace is a place in the log: before the entry at an index of the tree, in an
// epoch of the log. The zero place is before everything.
type LogPlace struct {
	Epoch int64 `json:"epoch,omitzero"`
	Index int64 `json:"index,omitzero"`
}

// Before reports whether p comes before q.
func (p LogPlace) Before(q LogPlace) bool {
	return p.Epoch < q.Epoch || p.Epoch == q.Epoch && p.Index < q.Index
}

// Next is the place after the entry at p.
func (p LogPlace) Next() LogPlace { return LogPlace{p.Epoch, p.Index + 1} }
