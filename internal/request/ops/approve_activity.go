package ops

import (
	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
)

// ApproveActivity votes for an activity that waits for votes, or gives a further
// factor to one that waits for that, which a token can do too.
var ApproveActivity = vote("approve_activity",
	"Approve an activity that waits for votes, or for further factors of the caller; when they suffice it is executed.",
	domain.VoteApproved, activity.Access{ByParent: true, ByAttestation: true})
