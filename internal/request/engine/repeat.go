package engine

// An API key and a session are checked without effects and without asking anyone but
// the store, so that all of a request may run on the versions at hand and, if those
// are not the present ones, once more ([store.Store.Read], [store.Store.Write]).

// repeatable reports whether a proof can be checked several times.
func repeatable(p proof) bool {
	switch p.(type) {
	case *apiKeyProof, *sessionProof:
		return true
	}
	return false
}

// runs are those of one request. What a run finds out is in the log only if it
// counts, and a user is asked about once.
type runs struct {
	request Request
	found   Event
	event   *Event // as it was when the request came
}

func repeat(r Request) *runs {
	all := &runs{request: r, event: r.Event}
	all.request.Event, all.request.Admit = &all.found, admitOnce(r.Admit)
	return all
}

// next begins a run.
func (r *runs) next() Request {
	r.found = *r.event
	return r.request
}

// end ends the last one; not certain: it does not count.
func (r *runs) end(certain bool) {
	if certain {
		*r.event = r.found
	}
}

func admitOnce(admit func(userID string) error) func(userID string) error {
	if admit == nil {
		return nil
	}
	var admitted string
	return func(userID string) error {
		if userID == admitted {
			return nil
		}
		err := admit(userID)
		if err == nil {
			admitted = userID
		}
		return err
	}
}
