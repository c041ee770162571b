package ops

import (
	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
)

// RejectActivity votes against an activity that waits for votes.
var RejectActivity = vote("reject_activity", "Reject an activity that waits for votes, for good.", domain.VoteRejected, activity.Access{ByParent: true})
