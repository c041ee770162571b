// Package fault holds the one error type that may reach a client, and the one
// table that turns its code into an HTTP status.
//
// An error of any other type is a bug or a failure of the system. It reaches
// the client as INTERNAL with a reference and no text, so that nothing that a
// lower layer happened to say (a path, a query, a secret) can leak.
package fault

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Code is a gRPC status code: the number that clients see and branch on.
type Code int

// The codes in use. [Error.Status] maps each to its HTTP status.
const (
	DeadlineExceeded  Code = 4
	InvalidArgument   Code = 3
	NotFound          Code = 5
	AlreadyExists     Code = 6
	PermissionDenied  Code = 7
	ResourceExhausted Code = 8
	// FailedPrecondition is a refusal that another change would lift.
	FailedPrecondition Code = 9
	Aborted            Code = 10
	Internal           Code = 13
	Unavailable        Code = 14
	DataLoss           Code = 15
	Unauthenticated    Code = 16
)

var statuses = map[Code]int{
	DeadlineExceeded:   http.StatusGatewayTimeout,
	InvalidArgument:    http.StatusBadRequest,
	NotFound:           http.StatusNotFound,
	AlreadyExists:      http.StatusConflict,
	PermissionDenied:   http.StatusForbidden,
	ResourceExhausted:  http.StatusTooManyRequests,
	FailedPrecondition: http.StatusBadRequest,
	Aborted:            http.StatusConflict,
	Internal:           http.StatusInternalServerError,
	Unavailable:        http.StatusServiceUnavailable,
	DataLoss:           http.StatusInternalServerError,
	Unauthenticated:    http.StatusUnauthorized,
}

// Reason is the finer code that clients read beside the number. The values are
// a closed set of the interface.
type Reason string

// The reasons in use.
const (
	ReasonInternal            Reason = "INTERNAL"
	ReasonRequestInvalid      Reason = "REQUEST_INVALID"
	ReasonInvalidOrganization Reason = "INVALID_ORGANIZATION_ID"
	ReasonInvalidTime         Reason = "INVALID_TIME"
	ReasonSignatureMissing    Reason = "SIGNATURE_MISSING"
	ReasonSignatureInvalid    Reason = "SIGNATURE_INVALID"
	ReasonPublicKeyNotFound   Reason = "PUBLIC_KEY_NOT_FOUND"
	ReasonCredentialNotFound  Reason = "CREDENTIAL_NOT_FOUND"
	ReasonCredentialConflict  Reason = "CREDENTIAL_CONFLICT"
	ReasonAPIKeyExpired       Reason = "API_KEY_EXPIRED"
	ReasonInvalidOIDCToken    Reason = "INVALID_OIDC_TOKEN"
	ReasonForbidden           Reason = "FORBIDDEN"
	ReasonUnauthenticated     Reason = "UNAUTHENTICATED"
	ReasonMismatch            Reason = "ORGANIZATION_MISMATCH"
	ReasonInvalidCaller       Reason = "INVALID_ACTIVITY_CALLER"
	ReasonSendingDisabled     Reason = "EMAIL_SENDING_DISABLED"
	ReasonSMSDisabled         Reason = "SMS_SENDING_DISABLED"
	ReasonProviderExists      Reason = "OAUTH_PROVIDER_ALREADY_EXISTS"
	ReasonOAuth2Credential    Reason = "OAUTH2_CREDENTIAL_NOT_FOUND"
	ReasonOAuth2Provider      Reason = "INVALID_OAUTH2_PROVIDER"        // what the provider answers is of no use
	ReasonOAuth2Unconfigured  Reason = "OAUTH2_PROVIDER_NOT_CONFIGURED" // here, or in the organization
	ReasonTooManyOTPs         Reason = "MAX_OTP_INITIATED"
	ReasonRateLimitExceeded   Reason = "RATE_LIMIT_EXCEEDED" // of a resource: there is too much of it already
	ReasonRateLimited         Reason = "RATE_LIMITED"        // too many requests a second: the same one later may pass
	ReasonIntegrity           Reason = "INTEGRITY"           // what is stored is not what was written
	ReasonUnspecified         Reason = "UNSPECIFIED"
)

// Field says what is wrong with one field of a request.
type Field struct {
	Path        string `json:"field"` // dotted, arrays by index: users.0.userName
	Description string `json:"description"`
}

// Error is a refusal that the client may read in full.
type Error struct {
	Code    Code
	Reason  Reason
	Message string
	Fields  []Field
	Details []any // further details; each marshals to an object with "@type"
	status  int
	cause   error
}

// New makes an error. The message is what the client reads: it says what was
// wrong and what would be right, and holds no secret.
func New(code Code, reason Reason, format string, args ...any) *Error {
	return &Error{Code: code, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Invalid refuses a request that can never succeed as it is.
func Invalid(format string, args ...any) *Error {
	return New(InvalidArgument, ReasonRequestInvalid, format, args...)
}

// Missing refuses a request that names something that is not there.
func Missing(format string, args ...any) *Error {
	return New(NotFound, ReasonRequestInvalid, format, args...)
}

// Taken refuses a request for a name or credential that is in use.
func Taken(format string, args ...any) *Error {
	return New(AlreadyExists, ReasonRequestInvalid, format, args...)
}

// Exhausted refuses a request that would exceed a limit.
func Exhausted(format string, args ...any) *Error {
	return New(ResourceExhausted, ReasonRateLimitExceeded, format, args...)
}

// Fields refuses a request for all its wrong fields at once. where names the
// part of the request that was looked at; fields must not be empty.
func Fields(where string, fields []Field) *Error {
	var more string
	if n := len(fields) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more; see details)", n)
	}
	subject := strings.TrimSpace(where + " " + fields[0].Path)
	err := Invalid("bad request body: %s: %s%s", subject, fields[0].Description, more)
	err.Fields = fields
	return err
}

// WithStatus overrides the HTTP status that follows from the code, for the few
// refusals of HTTP itself (405, 408, 413, 431).
func (e *Error) WithStatus(status int) *Error {
	e.status = status
	return e
}

// Because keeps the cause for the log. The client never sees it.
func (e *Error) Because(cause error) *Error {
	e.cause = cause
	return e
}

// With adds a detail.
func (e *Error) With(detail any) *Error {
	e.Details = append(e.Details, detail)
	return e
}

func (e *Error) Error() string {
	if e.cause != nil {
		return e.Message + ": " + e.cause.Error()
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.cause }

// Status is the HTTP status of the reply.
func (e *Error) Status() int {
	if e.status != 0 {
		return e.status
	}
	return statuses[e.Code]
}

// As finds the fault in err.
func As(err error) (*Error, bool) {
	return errors.AsType[*Error](err)
}

// Body is the JSON that a client gets for an error; an activity that failed
// stores the same, so that it can be answered again word by word.
type Body struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Details []any  `json:"details"`
	Reason  Reason `json:"turnkeyErrorCode,omitempty"`
}

// Body renders the error for the wire.
func (e *Error) Body() Body {
	details := []any{reasonDetail{Type: "type.googleapis.com/errors.v1.TurnkeyErrorDetail", Reason: e.Reason}}
	if len(e.Fields) > 0 {
		details = append(details, badRequest{Type: "type.googleapis.com/google.rpc.BadRequest", Violations: e.Fields})
	}
	return Body{Code: e.Code, Message: e.Message, Details: append(details, e.Details...), Reason: e.Reason}
}

// Status is the HTTP status that goes with a stored body.
func (b Body) Status() int { return statuses[b.Code] }

type reasonDetail struct {
	Type   string `json:"@type"`
	Reason Reason `json:"turnkeyErrorCode"`
}

type badRequest struct {
	Type       string  `json:"@type"`
	Violations []Field `json:"fieldViolations"`
}
