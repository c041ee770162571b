package ops

import (
	"fmt"
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
	"latchkey/internal/store"
)

// This file holds what several operations say about identities at OpenID
// providers.

// OauthProviderParams names an identity at an OpenID provider, in version 1.
type OauthProviderParams struct {
	ProviderName string `json:"providerName" check:"required,label" doc:"Human-readable name."`
	OidcToken    string `json:"oidcToken" check:"required,max=16384,secret" doc:"Token of the provider."`
}

// OauthProviderParamsV2 names an identity at an OpenID provider.
type OauthProviderParamsV2 struct {
	ProviderName string      `json:"providerName" check:"required,label" doc:"Human-readable name."`
	OidcToken    string      `json:"oidcToken,omitzero" check:"max=16384,sampled,secret" doc:"Token of the provider."`
	OidcClaims   *OidcClaims `json:"oidcClaims,omitzero" check:"unsampled" doc:"Instead of a token: a further audience of an identity for which another entry of the request has a token."`
}

// OidcClaims identify a user at an OpenID provider.
type OidcClaims struct {
	Issuer   string `json:"iss" check:"required,max=1024" doc:"Issuer."`
	Subject  string `json:"sub" check:"required,max=1024" doc:"Subject."`
	Audience string `json:"aud" check:"required,max=1024" doc:"Audience."`
}

// Check wants a token or claims.
func (p *OauthProviderParamsV2) Check(problems *schema.Problems) {
	switch {
	case p.OidcToken == "" && p.OidcClaims == nil:
		problems.Add("oidcToken", "is required, unless oidcClaims names a further audience of the identity of another entry")
	case p.OidcToken != "" && p.OidcClaims != nil:
		problems.Add("oidcClaims", "excludes oidcToken: give one of them")
	}
}

// checkClaims refuses claims for which there can be no proof.
func checkClaims(problems *schema.Problems, list []OauthProviderParamsV2) {
	if len(tokens(list)) > 0 {
		return
	}
	for i, p := range list {
		if p.OidcClaims != nil {
			problems.Add(fmt.Sprintf("oauthProviders.%d.oidcClaims", i), unproven)
		}
	}
}

const unproven = "needs an oidcToken of the same iss and sub in another entry, which proves the identity"

// tokens lists the tokens that prove the identities.
func tokens(list []OauthProviderParamsV2) []string {
	var all []string
	for _, p := range list {
		if p.OidcToken != "" {
			all = append(all, p.OidcToken)
		}
	}
	return all
}

// withTokens renders a list of version 1 in version 2.
func withTokens(list []OauthProviderParams) []OauthProviderParamsV2 {
	newest := make([]OauthProviderParamsV2, len(list))
	for i, p := range list {
		newest[i] = OauthProviderParamsV2{ProviderName: p.ProviderName, OidcToken: p.OidcToken}
	}
	return newest
}

// addOauthProviders gives the user identities and returns their ids. Each is
// proven: by its own token, or by that of another entry with the same subject
// and issuer.
func addOauthProviders(e activity.Env, u *domain.User, list []OauthProviderParamsV2) ([]string, error) {
	var proven []domain.OIDCSubject
	for _, token := range tokens(list) {
		claims, err := verifiedClaims(e, token)
		if err != nil {
			return nil, err
		}
		proven = append(proven, claims.OIDCSubject)
	}
	var ids []string
	for i, p := range list {
		identity := e.Claims[p.OidcToken].OIDCSubject
		if c := p.OidcClaims; c != nil {
			identity = domain.OIDCSubject{Issuer: c.Issuer, Audience: c.Audience, Subject: c.Subject}
			if !slices.ContainsFunc(proven, func(i domain.OIDCSubject) bool { return i.Issuer == c.Issuer && i.Subject == c.Subject }) {
				return nil, fault.New(fault.InvalidArgument, fault.ReasonInvalidOIDCToken, "invalid OIDC token: oauthProviders.%d.oidcClaims %s", i, unproven)
			}
		}
		id, err := addOauthProvider(e, u, p.ProviderName, identity)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func addOauthProvider(e activity.Env, u *domain.User, name string, identity domain.OIDCSubject) (string, error) {
	if limit := e.Limits.OAuthProviders; limit > 0 && len(u.OAuthProviders) >= limit {
		return "", fault.Exhausted("user has exceeded maximum oauth providers (%d); delete one first", limit)
	}
	owner, err := e.Tx.Users().Find(store.ByCredential, domain.OAuthCredential(identity))
	if err != nil {
		return "", err
	}
	mine := slices.ContainsFunc(u.OAuthProviders, func(p domain.OAuthProvider) bool { return p.Identity == identity })
	if owner != nil || mine {
		return "", fault.New(fault.AlreadyExists, fault.ReasonProviderExists,
			"an OAuth provider with this issuer, audience and subject already exists in the organization; each belongs to one user")
	}
	provider := domain.OAuthProvider{ID: e.NewID(), Name: name, Identity: identity, CreatedAt: e.Now, UpdatedAt: e.Now}
	u.OAuthProviders = append(u.OAuthProviders, provider)
	u.UpdatedAt = e.Now
	return provider.ID, nil
}

// verifiedClaims are what a token says that was verified before the decision.
func verifiedClaims(e activity.Env, token string) (domain.Claims, error) {
	claims, ok := e.Claims[token]
	if !ok {
		return claims, fault.New(fault.InvalidArgument, fault.ReasonInvalidOIDCToken, "invalid OIDC token: it was not verified")
	}
	return claims, nil
}

// userOfToken finds the user whom a verified token names, and checks that the
// token was issued for the key.
func userOfToken(e activity.Env, token, publicKey string) (*domain.User, error) {
	claims, err := verifiedClaims(e, token)
	if err != nil {
		return nil, err
	}
	if !claims.BoundTo(publicKey) {
		return nil, fault.New(fault.InvalidArgument, fault.ReasonInvalidOIDCToken,
			"invalid OIDC token: its nonce is not the hex SHA-256 of the public key's text; ask the issuer for a token with that nonce")
	}
	user, err := e.Tx.Users().Find(store.ByCredential, domain.OAuthCredential(claims.OIDCSubject))
	if err == nil && user == nil {
		err = fault.New(fault.NotFound, fault.ReasonInvalidOIDCToken,
			"no user of the organization has an OAuth provider with the token's issuer, audience and subject")
	}
	return user, err
}
