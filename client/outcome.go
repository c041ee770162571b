package client

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// PendingError is an activity that is not done yet: it waits for the votes of
// others. They approve it by its fingerprint ([Client.ApproveActivity]); then
// the same request sent again, or [Client.GetActivity], shows the result.
type PendingError struct{ Activity *Activity }

func (e *PendingError) Error() string {
	return fmt.Sprintf("activity %s is not done: its status is %s", e.Activity.ID, e.Activity.Status)
}

// RejectedError is an activity that a user rejected, for good.
type RejectedError struct{ Activity *Activity }

func (e *RejectedError) Error() string {
	return fmt.Sprintf("activity %s was rejected", e.Activity.ID)
}

// FailedError is an activity that was allowed and could not be done, after the
// last approval say. A request that is refused at once is an [*Error] instead.
type FailedError struct {
	Activity *Activity
	Code     int    // of gRPC
	Message  string // the server's
}

func (e *FailedError) Error() string {
	return fmt.Sprintf("activity %s failed: %s", e.Activity.ID, e.Message)
}

// Err is nil for an activity that is completed. Otherwise it is a
// [*PendingError], [*RejectedError] or [*FailedError].
func (a *Activity) Err() error {
	switch a.Status {
	case ActivityStatusCompleted:
		return nil
	case ActivityStatusRejected:
		return &RejectedError{a}
	case ActivityStatusFailed:
		failed := &FailedError{Activity: a, Message: "the server gave no reason"}
		var why struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		}
		if err := json.Unmarshal(a.Failure, &why); err == nil && why.Message != "" {
			failed.Code, failed.Message = why.Code, why.Message
		}
		return failed
	}
	return &PendingError{a}
}

// DecodeResult reads the result of a completed activity, such as one that
// [Client.GetActivity] or [Client.ApproveActivity] returned, into a
// [*CreateWalletResult], say.
func (a *Activity) DecodeResult(into any) error {
	if err := a.Err(); err != nil {
		return err
	}
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(a.Result, &members); err != nil {
		return fmt.Errorf("reading the result: %w", err)
	}
	delete(members, "activity") // the same once more
	if len(members) != 1 {
		return errors.New("reading the result: the activity shows none; some are shown to their submitter alone")
	}
	for _, text := range members {
		if err := json.Unmarshal(text, into); err != nil {
			return fmt.Errorf("reading the result: %w", err)
		}
	}
	return nil
}

// Time is the point in time; the zero time when the server sent none.
func (t Timestamp) Time() time.Time {
	seconds, err := strconv.ParseInt(t.Seconds, 10, 64)
	if err != nil {
		return time.Time{}
	}
	nanos, _ := strconv.ParseInt(t.Nanos, 10, 64) // absent is none
	return time.Unix(seconds, nanos).UTC()
}
