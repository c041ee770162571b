package ops

import "latchkey/internal/domain"

// ApproveActivity votes for an activity that waits for votes.
var ApproveActivity = vote("approve_activity", "Approve an activity that waits for votes; when they suffice it is executed.", domain.VoteApproved)
