package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestStatuses checks the table against the numbers that clients know.
func TestStatuses(t *testing.T) {
	for code, status := range map[Code]int{
		InvalidArgument: 400, DeadlineExceeded: 504, NotFound: 404, AlreadyExists: 409, PermissionDenied: 403,
		ResourceExhausted: 429, Internal: 500, Unavailable: 503, Unauthenticated: 401,
	} {
		if got := New(code, ReasonUnspecified, "x").Status(); got != status {
			t.Errorf("code %d has status %d, want %d", code, got, status)
		}
		if got := (Body{Code: code}).Status(); got != status {
			t.Errorf("a stored body with code %d has status %d, want %d", code, got, status)
		}
	}
	if got := Invalid("x").WithStatus(413).Status(); got != 413 {
		t.Errorf("overridden status is %d", got)
	}
}

func TestBody(t *testing.T) {
	cause := errors.New("secret cause")
	err := Fields("parameters", []Field{{"users.0.userName", "is required"}, {"users.1", "is odd"}}).
		Because(cause).With(map[string]string{"@type": "more"})
	if !strings.Contains(err.Error(), "secret cause") || !errors.Is(err, cause) {
		t.Errorf("the log does not get the cause: %v", err)
	}
	wrapped := fmt.Errorf("step: %w", err)
	found, ok := As(wrapped)
	if !ok || found != err {
		t.Errorf("As(%v) = %v", wrapped, found)
	}
	body, encodeErr := json.Marshal(err.Body())
	if encodeErr != nil {
		t.Fatal(encodeErr)
	}
	want := `{"code":3,"message":"bad request body: parameters users.0.userName: is required (and 1 more; see details)",` +
		`"details":[{"@type":"type.googleapis.com/errors.v1.TurnkeyErrorDetail","turnkeyErrorCode":"REQUEST_INVALID"},` +
		`{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"users.0.userName","description":"is required"},` +
		`{"field":"users.1","description":"is odd"}]},{"@type":"more"}],"turnkeyErrorCode":"REQUEST_INVALID"}`
	if string(body) != want {
		t.Errorf("got  %s\nwant %s", body, want)
	}
	if _, ok := As(errors.New("other")); ok {
		t.Error("an error of another type passed for a fault")
	}
}
