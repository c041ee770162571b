// Package authproxy lets pages without a back end sign users up and log them in.
// Its requests bear no stamp: they name a configuration, come from a page that
// the configuration allows, and prove what they are about by codes and tokens.
//
// The proxy decides nothing and writes nothing. Each request becomes activities
// or queries that the proxy signs with a key of its own, and that are
// authenticated, decided on, executed and recorded as all others are. What the
// key is good for is declared with the operations (activity.AuthProxyAccess).
//
// All who can open a page can call it. So how much one client does is bounded,
// and a sign-up puts nothing on record that was not proved: no contact without a
// code, no credential of another account.
package authproxy

import (
	"context"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/ids"
	"latchkey/internal/request/engine"
	"latchkey/internal/schema"
)

// HeaderConfigID names the configuration.
const HeaderConfigID = "X-Auth-Proxy-Config-ID"

// Proxy answers the requests. Make it with New.
type Proxy struct {
	engine  *engine.Engine
	signUps *limit
	codes   *limit
	logins  *limit
	lookUps *limit
}

// New makes the proxy.
func New(e *engine.Engine, l Limits, now func() time.Time) *Proxy {
	p := &Proxy{
		engine: e, signUps: newLimit("sign-ups", now), codes: newLimit("codes", now),
		logins: newLimit("logins and tries at codes", now), lookUps: newLimit("look-ups of accounts", now),
	}
	p.SetLimits(l)
	return p
}

// call is one request on its way.
type call struct {
	*Proxy
	ctx     context.Context
	request engine.Request
	org     *domain.Organization // whose proxy it is
	config  *domain.AuthProxy
}

// Handlers are the operations by path.
func (p *Proxy) Handlers() map[string]func(context.Context, engine.Request) (*engine.Reply, error) {
	return map[string]func(context.Context, engine.Request) (*engine.Reply, error){
		"/v1/account":                  handler(p, p.lookUps, (*call).account),
		"/v1/oauth2_authenticate":      handler(p, p.logins, (*call).oauth2Authenticate),
		"/v1/oauth_login":              handler(p, p.logins, (*call).oauthLogin),
		"/v1/otp_init":                 handler(p, p.codes, (*call).otpInit),
		"/v1/otp_init_v2":              handler(p, p.codes, (*call).otpInitV2),
		"/v1/otp_login":                handler(p, p.logins, (*call).otpLogin),
		"/v1/otp_login_v2":             handler(p, p.logins, (*call).otpLoginV2),
		"/v1/otp_verify":               handler(p, p.logins, (*call).otpVerify),
		"/v1/otp_verify_v2":            handler(p, p.logins, (*call).otpVerifyV2),
		"/v1/signup":                   handler(p, p.signUps, (*call).signUp),
		"/v1/signup_v2":                handler(p, p.signUps, (*call).signUp),
		"/v1/wallet_kit_client_params": handler(p, nil, (*call).clientParams),
		"/v1/wallet_kit_config":        handler(p, nil, (*call).kitConfig),
	}
}

// handler is what all operations have in common: who may call them, how often,
// and what a request is made of.
func handler[P, R any](p *Proxy, l *limit, answer func(*call, *P) (R, error)) func(context.Context, engine.Request) (*engine.Reply, error) {
	parameters := schema.Of[P]()
	return func(ctx context.Context, r engine.Request) (*engine.Reply, error) {
		c, err := p.admit(ctx, r)
		if err != nil {
			return nil, err
		}
		sent, body := new(P), r.Body
		if len(body) == 0 {
			body = []byte("{}") // the kit posts nothing where there is nothing to say
		}
		if problems := parameters.Decode(body, sent); len(problems) > 0 {
			return nil, fault.Fields("", problems)
		}
		if err := l.take(r); err != nil {
			return nil, err
		}
		reply, err := answer(c, sent)
		if err != nil {
			return nil, err
		}
		encoded, err := schema.Encode(reply)
		return &engine.Reply{Status: http.StatusOK, Body: encoded}, err
	}
}

// admit finds the configuration, and refuses pages that it does not allow.
func (p *Proxy) admit(ctx context.Context, r engine.Request) (*call, error) {
	sent := r.Header.Get(HeaderConfigID)
	if sent == "" {
		return nil, fault.Invalid("the header %s is missing; it is the id of the auth proxy's configuration: the value of %s "+
			"among the features of the organization", HeaderConfigID, domain.FeatureAuthProxy)
	}
	id, ok := ids.Normal(sent)
	if !ok {
		return nil, fault.Invalid("the header %s must be a UUID", HeaderConfigID)
	}
	org, err := p.engine.AuthProxy(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := checkOrigin(org.AuthProxy, r); err != nil {
		return nil, err
	}
	return &call{Proxy: p, ctx: ctx, request: r, org: org, config: org.AuthProxy}, nil
}

// checkOrigin refuses pages that the configuration does not list, and lets
// browsers hand the reply to those that it does.
func checkOrigin(p *domain.AuthProxy, r engine.Request) error {
	if p.AllowsAllOrigins() {
		return nil
	}
	origin := r.Header.Get("Origin")
	r.ReplyHeader.Add("Vary", "Origin")
	if p.AllowsOrigin(origin) {
		r.ReplyHeader.Set("Access-Control-Allow-Origin", origin)
		return nil
	}
	r.ReplyHeader.Del("Access-Control-Allow-Origin")
	return fault.New(fault.PermissionDenied, fault.ReasonForbidden,
		"the auth proxy does not take requests from this page: its Origin must be one of allowedOrigins, which update_auth_proxy_config sets")
}

// submit does an activity, and reads its result.
func submit[R any](c *call, activityType, org string, parameters any) (result R, err error) {
	op := c.engine.Catalog.Op(activityType)
	reply, err := c.engine.SubmitByAuthProxy(c.ctx, op, c.config, org, parameters, c.request)
	if err != nil {
		return result, err
	}
	if reply.Status != http.StatusOK {
		return result, failureOf(reply)
	}
	var done struct {
		Activity struct {
			Status      domain.ActivityStatus     `json:"status"`
			Fingerprint string                    `json:"fingerprint"`
			Result      map[string]jsontext.Value `json:"result"`
		} `json:"activity"`
	}
	if err := json.Unmarshal(reply.Body, &done); err != nil {
		return result, err
	}
	switch done.Activity.Status {
	case domain.StatusCompleted:
	case domain.StatusAuthenticatorsNeeded:
		return result, fault.New(fault.PermissionDenied, fault.ReasonForbidden,
			"a multi-factor policy of the user asks for further factors, after which this login is done: "+
				"the user gives them with approve_activity of %s in organization %s", done.Activity.Fingerprint, org)
	default:
		return result, fault.New(fault.PermissionDenied, fault.ReasonForbidden,
			"a policy of the organization leaves this to the approval of its users, and the auth proxy cannot wait for it")
	}
	return result, json.Unmarshal(done.Activity.Result[op.ResultKey], &result)
}

// failureOf is the refusal that a failed activity was answered with, without its
// details: what the policies are like is not for strangers.
func failureOf(reply *engine.Reply) error {
	var failure fault.Body
	if err := json.Unmarshal(reply.Body, &failure); err != nil {
		return err
	}
	return fault.New(failure.Code, failure.Reason, "%s", failure.Message)
}
