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

// runs are those of one request. What a run on the versions at hand finds out is in the
// log only if it counts, and a user is asked about once.
type runs struct {
	request Request
	found   Event // by a run on the versions at hand
	asked   Event // as it was when the request came
	atHand  bool  // whether the last run was one
}

func repeat(r Request) *runs {
	r.Admit = admitOnce(r.Admit)
	return &runs{request: r, asked: *r.Event}
}

// next begins a run; certain: one that counts, and is the last.
func (r *runs) next(certain bool) Request {
	r.atHand = !certain
	next := r.request
	if r.atHand {
		r.found = r.asked
		next.Event = &r.found
	}
	return next
}

// end ends the last one; not certain: it does not count, and of a commit that may have
// happened the log has what it may have recorded.
func (r *runs) end(certain bool) {
	switch {
	case !r.atHand:
	case certain:
		*r.request.Event = r.found
	default:
		r.request.Event.ActivityID = r.found.ActivityID
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
