package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
)

// EnableAuthProxy lets pages without a back end sign users up and log them in.
var EnableAuthProxy = activity.Op[EnableAuthProxyParams, EnableAuthProxyResult]{
	Spec: activity.Spec{
		Name: "enable_auth_proxy", Version: 1,
		Summary: "Let pages sign users up and log them in through the auth proxy, without a back end. The feature FEATURE_NAME_AUTH_PROXY then has the id of its configuration.",
		Govern:  activity.Govern{Resource: activity.ResourceAuthProxy, Action: activity.ActionCreate},
	},
	Exec: enableAuthProxy,
}

// EnableAuthProxyParams are the parameters of enable_auth_proxy: none.
type EnableAuthProxyParams struct{}

// EnableAuthProxyResult is the result of enable_auth_proxy.
type EnableAuthProxyResult struct {
	UserID string `json:"userId" check:"required,uuid" doc:"Id by which the votes of the proxy are known. It is no user: no operation on users reaches it."`
}

func enableAuthProxy(_ context.Context, e activity.Env, _ *EnableAuthProxyParams) (EnableAuthProxyResult, error) {
	org, err := e.Tx.Organization()
	if err != nil {
		return EnableAuthProxyResult{}, err
	}
	if org.ParentID != "" {
		return EnableAuthProxyResult{}, fault.New(fault.InvalidArgument, fault.ReasonInvalidCaller,
			"sub-organizations have no auth proxy; only a parent organization has one, for the users of its sub-organizations")
	}
	proxy := org.AuthProxy
	if proxy == nil {
		if proxy, err = newAuthProxy(e); err != nil {
			return EnableAuthProxyResult{}, err
		}
	}
	_, err = editOrganization(e, func(o *domain.Organization) {
		if o.AuthProxy == nil {
			o.AuthProxy = proxy
		}
		o.AuthProxy.Enabled, o.AuthProxy.UpdatedAt = true, e.Now
		setFeature(o, domain.FeatureAuthProxy, proxy.ConfigID)
	})
	if err != nil {
		return EnableAuthProxyResult{}, err
	}
	e.Tx.EnterAuthProxy(proxy.ConfigID)
	return EnableAuthProxyResult{UserID: proxy.UserID}, nil
}

// newAuthProxy is a proxy with its first settings.
func newAuthProxy(e activity.Env) (*domain.AuthProxy, error) {
	p := &domain.AuthProxy{
		ConfigID: e.NewID(), UserID: e.NewID(), KeyID: e.NewID(), CreatedAt: e.Now,
		AllowedOrigins: []string{"*"},
		AllowedMethods: []domain.AuthMethod{domain.MethodEmail, domain.MethodPasskey, domain.MethodWallet},
	}
	var err error
	p.PublicKey, err = e.ServerKeys.AuthProxyPublicKey(p.UserID)
	return p, err
}
