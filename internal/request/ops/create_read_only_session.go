package ops

import (
	"context"
	"strconv"
	"time"

	"latchkey/internal/fault"
	"latchkey/internal/proof/token"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
)

// CreateReadOnlySession lets a client read for a while without signing.
var CreateReadOnlySession = activity.Op[CreateReadOnlySessionParams, ReadOnlySessionResult]{
	Spec: activity.Spec{
		Name: "create_read_only_session", Version: 1,
		Summary: "Open a session that can read for an hour, without signing: its text goes into the header X-Session.",
		Govern:  activity.Govern{By: decide.Self},
		Access:  activity.Access{FindsChild: true},
	},
	OwnUser: func(*CreateReadOnlySessionParams) string { return activity.Submitter },
	Exec:    createReadOnlySession,
}

// CreateReadOnlySessionParams are the parameters of create_read_only_session.
type CreateReadOnlySessionParams struct{}

// ReadOnlySessionResult is the result of create_read_only_session.
type ReadOnlySessionResult struct {
	OrganizationID   string `json:"organizationId" check:"required,uuid" doc:"Organization of the user."`
	OrganizationName string `json:"organizationName" check:"required" doc:"Name of the organization."`
	UserID           string `json:"userId" check:"required,uuid" doc:"The user."`
	Username         string `json:"username" check:"required" doc:"Name of the user."`
	Session          string `json:"session" check:"required,secret" doc:"The session, for the header X-Session of queries."`
	SessionExpiry    string `json:"sessionExpiry" check:"required" doc:"When it ends, in seconds since the Unix epoch."`
}

// readOnlyLifetime is fixed by the interface.
const readOnlyLifetime = time.Hour

func createReadOnlySession(_ context.Context, e activity.Env, _ *CreateReadOnlySessionParams) (ReadOnlySessionResult, error) {
	org, err := e.Tx.Organization()
	if err != nil {
		return ReadOnlySessionResult{}, err
	}
	user, err := e.Tx.Users().Get(e.UserID)
	if err != nil {
		return ReadOnlySessionResult{}, err
	}
	if e.Credential == "" {
		return ReadOnlySessionResult{}, fault.Invalid("a session belongs to a credential; stamp the request with an API key or a passkey")
	}
	ends := e.Now.Add(readOnlyLifetime).Unix()
	text, err := token.WriteSession(e.ServerKeys, token.Session{
		OrganizationID: org.ID, UserID: user.ID, Credential: e.Credential, ExpiresAt: ends,
	})
	return ReadOnlySessionResult{
		OrganizationID: org.ID, OrganizationName: org.Name, UserID: user.ID, Username: user.Name,
		Session: text, SessionExpiry: strconv.FormatInt(ends, 10),
	}, err
}
