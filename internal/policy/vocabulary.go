package policy

// Word is one thing that expressions may read.
type Word struct {
	Path   string // such as eth.tx.to, or solana.tx.transfers[].amount inside a list
	Type   string
	Values []string // all that it can be, where they are few
}

// Vocabulary lists the roots of a place and all that can be reached from them.
func Vocabulary(p Place) []Word {
	var all []Word
	for _, r := range rootsOf(p) {
		all = describe(all, Word{Path: r.name}, r.typ)
	}
	return all
}

func describe(all []Word, w Word, t *typ) []Word {
	w.Type = t.name
	all = append(all, w)
	if t.kind == kindList {
		w.Path += "[]"
		t = t.elem
	}
	for _, f := range t.fields {
		all = describe(all, Word{Path: w.Path + "." + f.name, Values: f.values}, f.typ)
	}
	return all
}
