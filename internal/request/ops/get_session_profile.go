package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
	"latchkey/internal/schema"
)

// GetSessionProfile reads one session profile.
var GetSessionProfile = activity.Query[GetSessionProfileParams, GetSessionProfileReply]{
	Name:    "get_session_profile",
	Summary: "Read a session profile of the organization or of its parent.",
	Read:    getSessionProfile,
}

// GetSessionProfileParams are the parameters of get_session_profile.
type GetSessionProfileParams struct {
	OrganizationID   string `json:"organizationId" check:"required" doc:"Organization to read."`
	SessionProfileID string `json:"sessionProfileId" check:"required,uuid" doc:"Profile to read."`
}

// GetSessionProfileReply is the reply of get_session_profile.
type GetSessionProfileReply struct {
	SessionProfile SessionProfileRecord `json:"sessionProfile" check:"required" doc:"The profile."`
}

// SessionProfileRecord is a session profile as clients read it.
type SessionProfileRecord struct {
	SessionProfileID   string           `json:"sessionProfileId" check:"required,uuid" doc:"Id of the profile."`
	SessionProfileName string           `json:"sessionProfileName" check:"required" doc:"Its name."`
	Scope              string           `json:"scope" check:"required" doc:"Condition that every activity of its sessions must fulfil."`
	ExpirationSeconds  schema.Uint64    `json:"expirationSeconds,omitzero" doc:"How long its sessions last at most; absent: as the login says."`
	Notes              string           `json:"notes,omitzero" doc:"Human-readable notes."`
	CreatedAt          record.Timestamp `json:"createdAt" check:"required" doc:"When it was created."`
	UpdatedAt          record.Timestamp `json:"updatedAt" check:"required" doc:"The same: it never changes."`
}

func sessionProfileRecord(p *domain.SessionProfile) SessionProfileRecord {
	return SessionProfileRecord{
		SessionProfileID: p.ID, SessionProfileName: p.Name, Scope: p.Scope, Notes: p.Notes,
		ExpirationSeconds: schema.Uint64(p.ExpirationSeconds), CreatedAt: record.Time(p.CreatedAt), UpdatedAt: record.Time(p.CreatedAt),
	}
}

func getSessionProfile(_ context.Context, r activity.Reader, p *GetSessionProfileParams) (GetSessionProfileReply, error) {
	profile, err := r.Tx.SessionProfile(p.SessionProfileID)
	if err != nil {
		return GetSessionProfileReply{}, err
	}
	return GetSessionProfileReply{SessionProfile: sessionProfileRecord(profile)}, nil
}
