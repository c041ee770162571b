package engine

import (
	"context"
	"encoding/hex"
	"strconv"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/proof/stamp"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
	"latchkey/internal/store"
)

// This file is how an auth proxy acts: it signs requests with a key of its own,
// and they go the way of all requests. No request from outside comes here with
// that key: a stamp by it is one of an unknown key.

// AuthProxy finds the organization whose auth proxy has the configuration, as it
// is now.
func (e *Engine) AuthProxy(ctx context.Context, configID string) (*domain.Organization, error) {
	org, err := e.configured(ctx, configID)
	switch {
	case err != nil:
		return nil, err
	case org == nil:
		return nil, fault.Missing("X-Auth-Proxy-Config-ID names no configuration of an auth proxy; "+
			"it is the value of %s among the features of the organization", domain.FeatureAuthProxy)
	case !org.AuthProxy.Enabled:
		return nil, fault.New(fault.PermissionDenied, fault.ReasonForbidden,
			"the auth proxy of this organization is disabled; its root quorum can turn it on with enable_auth_proxy")
	}
	return org, nil
}

// FrameOrigins are the pages that may have frames of the configuration: those that
// may call its auth proxy, also while that is disabled. Frames do not need it.
func (e *Engine) FrameOrigins(ctx context.Context, configID string) ([]string, error) {
	org, err := e.configured(ctx, configID)
	if err != nil {
		return nil, err
	}
	if org == nil {
		return nil, fault.Missing("this is not the id of an auth proxy's configuration; "+
			"it is the value of %s among the features of the organization", domain.FeatureAuthProxy)
	}
	return org.AuthProxy.AllowedOrigins, nil
}

// configured finds the organization whose auth proxy has the configuration, enabled
// or not; nil: there is none.
func (e *Engine) configured(ctx context.Context, configID string) (org *domain.Organization, err error) {
	id, err := e.Store.AuthProxyOrganization(ctx, configID)
	if err != nil || id == "" {
		return nil, err
	}
	err = e.Store.View(ctx, id, func(tx *store.Tx) (err error) {
		org, err = tx.Organization()
		return err
	})
	if err != nil || org.AuthProxy == nil || org.AuthProxy.ConfigID != configID {
		return nil, err
	}
	return org, nil
}

// SubmitByAuthProxy is [Engine.Submit] for an activity that the auth proxy does
// itself. Of the request, only where it came from and its event count.
func (e *Engine) SubmitByAuthProxy(ctx context.Context, op *activity.CompiledOp, p *domain.AuthProxy, org string, parameters any, r Request) (*Reply, error) {
	encoded, err := schema.Encode(parameters)
	if err != nil {
		return nil, err
	}
	envelope := &Envelope{
		Type: op.Type, TimestampMs: strconv.FormatInt(e.Now().UnixMilli(), 10), OrganizationID: org, Parameters: encoded,
	}
	if r.Body, err = json.Marshal(envelope); err != nil {
		return nil, err
	}
	proof, err := e.signAsAuthProxy(p, r.Body)
	if err != nil {
		return nil, err
	}
	r.Event.OrganizationID = org
	return e.submit(ctx, e.Catalog.Endpoint(op.Name), op, envelope, proof, r)
}

// QueryByAuthProxy is [Engine.Query] for what the auth proxy asks itself.
func (e *Engine) QueryByAuthProxy(ctx context.Context, q *activity.CompiledQuery, p *domain.AuthProxy, parameters any, r Request) (*Reply, error) {
	var err error
	if r.Body, err = schema.Encode(parameters); err != nil {
		return nil, err
	}
	proof, err := e.signAsAuthProxy(p, r.Body)
	if err != nil {
		return nil, err
	}
	question, org, err := openQuestion(q, r)
	if err != nil {
		return nil, err
	}
	return e.query(ctx, q, question, org, proof, r)
}

// authProxyProof is a signature with the key of an organization's auth proxy.
type authProxyProof struct {
	engine    *Engine
	publicKey string
	text      string // the signature in hex
}

func (e *Engine) signAsAuthProxy(p *domain.AuthProxy, body []byte) (proof, error) {
	der, err := e.ServerKeys.SignForAuthProxy(p.UserID, body)
	if err != nil {
		return nil, err
	}
	return &authProxyProof{engine: e, publicKey: p.PublicKey, text: hex.EncodeToString(der)}, nil
}

func (p *authProxyProof) identify(tx *store.Tx) (*principal, error) {
	org, err := tx.Organization()
	if err != nil {
		return nil, err
	}
	proxy := org.AuthProxy
	if proxy == nil || !proxy.Enabled || proxy.PublicKey != p.publicKey {
		return nil, p.unknown()
	}
	return &principal{
		user: proxy.User(), credentialID: proxy.KeyID, credentialType: domain.CredentialAuthProxy,
		credentialKey: domain.APIKeyCredential(proxy.PublicKey),
	}, nil
}

func (p *authProxyProof) verify(_ context.Context, _ *caller, r Request) error {
	return p.engine.verifier.VerifyRecorded(stamp.P256, p.publicKey, p.text, r.Body)
}

func (p *authProxyProof) directoryKeys() []string { return nil }

// unknown also hides whether an organization exists that is not the proxy's.
func (p *authProxyProof) unknown() error {
	return fault.New(fault.NotFound, fault.ReasonPublicKeyNotFound,
		"organizationId names no sub-organization of the organization whose auth proxy this is")
}

func (p *authProxyProof) credentialNoun() string { return "the auth proxy" }

func (p *authProxyProof) signature() signature { return signature{p.publicKey, p.text, stamp.P256} }

func (c *caller) isAuthProxy() bool { return c.found.credentialType == domain.CredentialAuthProxy }

// authorizeAuthProxy refuses everything that the proxy is not for.
func (c *caller) authorizeAuthProxy(a activity.Access) error {
	switch a.AuthProxy {
	case activity.AuthProxyAtHome:
		if c.home == c.target {
			return nil
		}
	case activity.AuthProxyInChild:
		if c.home != c.target {
			return nil
		}
	case activity.NotByAuthProxy:
	}
	return c.unknown()
}
