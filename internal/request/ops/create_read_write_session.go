package ops

import (
	"cmp"
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/schema"
	"latchkey/internal/store"
)

// The versions of create_read_write_session: the first names the user by e-mail
// address.
var (
	CreateReadWriteSession   = createReadWriteSessionV1()
	CreateReadWriteSessionV2 = activity.Op[CreateReadWriteSessionParamsV2, ReadWriteSessionResult]{
		Spec: activity.Spec{
			Name: "create_read_write_session", Version: 2,
			Summary: "Open a session: make an API key that expires, sealed to a key of the client.",
			Govern:  activity.Govern{Resource: activity.ResourceAuth, Action: activity.ActionCreate},
			Access:  activity.Access{FindsChild: true},
		},
		OwnUser: func(p *CreateReadWriteSessionParamsV2) string { return cmp.Or(p.UserID, activity.Submitter) },
		Adds:    func(p *CreateReadWriteSessionParamsV2) decide.Added { return addedLogin(p.ExpirationSeconds) },
		Exec:    createReadWriteSession,
	}
)

func createReadWriteSessionV1() activity.Op[CreateReadWriteSessionParams, ReadWriteSessionResult] {
	return activity.Op[CreateReadWriteSessionParams, ReadWriteSessionResult]{
		Spec: activity.Spec{
			Name: "create_read_write_session", Version: 1,
			Summary: CreateReadWriteSessionV2.Summary, Govern: CreateReadWriteSessionV2.Govern, Access: CreateReadWriteSessionV2.Access,
		},
		FindOwnUser: func(tx *store.Tx, p *CreateReadWriteSessionParams) (string, error) {
			user, err := userWithContact(tx, domain.OTPEmail, p.Email)
			if refusal, ok := fault.As(err); ok && refusal.Code != fault.Unavailable {
				return "", nil // no user's own; the executor says why
			}
			if err != nil {
				return "", err
			}
			return user.ID, nil
		},
		Adds: func(p *CreateReadWriteSessionParams) decide.Added { return addedLogin(p.ExpirationSeconds) },
		Exec: func(ctx context.Context, e activity.Env, p *CreateReadWriteSessionParams) (ReadWriteSessionResult, error) {
			user, err := userWithContact(e.Tx, domain.OTPEmail, p.Email)
			if err != nil {
				return ReadWriteSessionResult{}, err
			}
			return createReadWriteSession(ctx, e, &CreateReadWriteSessionParamsV2{
				TargetPublicKey: p.TargetPublicKey, UserID: user.ID, APIKeyName: p.APIKeyName, ExpirationSeconds: p.ExpirationSeconds,
			})
		},
	}
}

// CreateReadWriteSessionParamsV2 are the parameters of create_read_write_session.
type CreateReadWriteSessionParamsV2 struct {
	TargetPublicKey    string        `json:"targetPublicKey" check:"required,hex" doc:"P-256 public key of the client, to which the session's key is sealed." example:"0464fb511728122da3b7b8a449c79d7a9e3fb847f4cbf0efbc6c82f68ada0ae5ebd1f9b6a45f5e4b61852c8e293a7b79022422ffff9ea8fba7297271b589cc9ed2"`
	UserID             string        `json:"userId,omitzero" check:"uuid" doc:"User who gets the session; the caller when absent."`
	APIKeyName         string        `json:"apiKeyName,omitzero" check:"label" doc:"Name of the key; Read Write Session - and the time when absent."`
	ExpirationSeconds  schema.Uint64 `json:"expirationSeconds,omitzero" check:"min=1" doc:"How long the session lasts; 900 when absent."`
	InvalidateExisting bool          `json:"invalidateExisting,omitzero" doc:"End the user's other sessions of this kind."`
}

// CreateReadWriteSessionParams are the parameters of version 1.
type CreateReadWriteSessionParams struct {
	TargetPublicKey   string        `json:"targetPublicKey" check:"required,hex" doc:"P-256 public key of the client, to which the session's key is sealed." example:"0464fb511728122da3b7b8a449c79d7a9e3fb847f4cbf0efbc6c82f68ada0ae5ebd1f9b6a45f5e4b61852c8e293a7b79022422ffff9ea8fba7297271b589cc9ed2"`
	Email             string        `json:"email" check:"required,email" doc:"E-mail address of the user who gets the session."`
	APIKeyName        string        `json:"apiKeyName,omitzero" check:"label" doc:"Name of the key; Read Write Session - and the time when absent."`
	ExpirationSeconds schema.Uint64 `json:"expirationSeconds,omitzero" check:"min=1" doc:"How long the session lasts; 900 when absent."`
}

// ReadWriteSessionResult is the result of create_read_write_session.
type ReadWriteSessionResult struct {
	OrganizationID   string `json:"organizationId" check:"required,uuid" doc:"Organization of the user."`
	OrganizationName string `json:"organizationName" check:"required" doc:"Name of the organization."`
	UserID           string `json:"userId" check:"required,uuid" doc:"The user."`
	Username         string `json:"username" check:"required" doc:"Name of the user."`
	APIKeyID         string `json:"apiKeyId" check:"required,uuid" doc:"Id of the key."`
	CredentialBundle string `json:"credentialBundle" check:"required,secret" doc:"The private key, sealed to targetPublicKey."`
}

func createReadWriteSession(_ context.Context, e activity.Env, p *CreateReadWriteSessionParamsV2) (ReadWriteSessionResult, error) {
	org, err := e.Tx.Organization()
	if err != nil {
		return ReadWriteSessionResult{}, err
	}
	user, err := e.Tx.Users().Get(cmp.Or(p.UserID, e.UserID))
	if err != nil {
		return ReadWriteSessionResult{}, err
	}
	id, bundle, _, err := sealedLogIn(e, user.ID, p.TargetPublicKey, newKey{
		kind: domain.CredentialReadWrite, name: cmp.Or(p.APIKeyName, defaultName("Read Write Session", e)),
		seconds: p.ExpirationSeconds, invalidate: p.InvalidateExisting,
	})
	return ReadWriteSessionResult{
		OrganizationID: org.ID, OrganizationName: org.Name, UserID: user.ID, Username: user.Name,
		APIKeyID: id, CredentialBundle: bundle,
	}, err
}
