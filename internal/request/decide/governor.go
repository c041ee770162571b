package decide

// Governor says who decides on an activity.
type Governor uint8

const (
	// Policies: the root quorum, or a policy that allows it.
	Policies Governor = iota
	// RootQuorum: the root quorum alone; policies do not see it.
	RootQuorum
	// Self: the user whose credentials the activity manages, alone; neither
	// policies nor the quorum are asked.
	Self
	// Vote: it is a vote on another activity, and is decided with that one. By
	// itself it is never allowed.
	Vote
)
