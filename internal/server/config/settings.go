package config

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// A setting is either a section with settings below it or a value that set
// checks and stores; one that has both may be written either way. after runs once the whole section was read without a
// problem; its node is the section's key.
type setting struct {
	set   func(path string, n *yaml.Node)
	below map[string]setting
	after func(n *yaml.Node)
}

const replicaNeedsPostgres = "store.durability is replica, which SQLite cannot do: set store.url to postgres://…, or durability to local"

// settings is the one list of everything that a file can hold.
func settings(p *parser, c *Config) map[string]setting {
	return map[string]setting{
		"listen": {set: p.address(&c.Listen, false)},
		"store": {set: p.store(&c.Store), below: map[string]setting{
			"url":        {set: p.store(&c.Store)},
			"durability": {set: p.oneOfOrEmpty(&c.Durability, "local", "replica")},
		}, after: func(n *yaml.Node) {
			if c.Durability == "replica" && strings.HasPrefix(c.Store, "sqlite:") {
				p.Problemf(n, "%s", replicaNeedsPostgres)
			}
		}},
		"masterKey":         {set: p.keySource(&c.MasterKey)},
		"previousMasterKey": {set: p.keySource(&c.PreviousMasterKey)},
		"seal": {below: map[string]setting{
			"secrets": {set: p.sealSecrets(&c.Seal.Secrets)},
			"http":    {set: p.yesNo(&c.Seal.HTTP)},
		}},
		"operator": {below: map[string]setting{
			"socket": {set: p.path(&c.Operator.Socket, "a socket")},
		}},
		"allowSwap": {set: p.yesNo(&c.AllowSwap)},
		"tls": {below: map[string]setting{
			"certificate": {set: p.path(&c.TLS.Certificate, "a file")},
			"key":         {set: p.path(&c.TLS.Key, "a file")},
		}, after: func(n *yaml.Node) {
			switch {
			case c.TLS.Certificate == "" && c.TLS.Key != "":
				p.Problemf(n, "tls.key is set without tls.certificate: set both or neither")
			case c.TLS.Certificate != "" && c.TLS.Key == "":
				p.Problemf(n, "tls.certificate is set without tls.key: set both or neither")
			}
		}},
		"trustedProxies": {set: p.networks(&c.TrustedProxies)},
		"log": {below: map[string]setting{
			"format": {set: p.oneOf(&c.Log.Format, "json", "text")},
			"level":  {set: p.oneOf(&c.Log.Level, "debug", "info", "warn", "error")},
			"state":  {set: p.path(&c.Log.State, "a file")},

			"requestIds": {set: p.yesNo(&c.Log.RequestIDs)},

			"origin":    {set: p.logName(&c.Log.Origin)},
			"quorum":    {set: p.witnessCount(&c.Log.Quorum)},
			"witnesses": {set: p.witnesses(&c.Log.Witnesses)},
		}, after: func(n *yaml.Node) {
			if c.Log.Quorum > len(c.Log.Witnesses) {
				p.Problemf(n, "log.quorum is %d, and log.witnesses names %d: no checkpoint would ever be published", c.Log.Quorum, len(c.Log.Witnesses))
			}
		}},
		"timeouts": {below: map[string]setting{
			"header":   {set: p.duration(&c.Timeouts.Header)},
			"body":     {set: p.duration(&c.Timeouts.Body)},
			"request":  {set: p.duration(&c.Timeouts.Request)},
			"idle":     {set: p.duration(&c.Timeouts.Idle)},
			"drain":    {set: p.duration(&c.Timeouts.Drain)},
			"lameDuck": {set: p.durationOrZero(&c.Timeouts.LameDuck)},
		}},
		"limits": {below: map[string]setting{
			"body":                {set: p.size(&c.Limits.Body, 1<<10, 64<<20)},
			"header":              {set: p.size(&c.Limits.Header, 1<<10, 1<<20)},
			"users":               {set: p.count(&c.Limits.Users)},
			"tags":                {set: p.count(&c.Limits.Tags)},
			"subOrganizationTags": {set: p.count(&c.Limits.ChildTags)},
			"longLivedApiKeys":    {set: p.count(&c.Limits.LongLivedAPIKeys)},
			"expiringApiKeys":     {set: p.count(&c.Limits.ExpiringAPIKeys)},
			"wallets":             {set: p.count(&c.Limits.Wallets)},
			"privateKeys":         {set: p.count(&c.Limits.PrivateKeys)},
			"secrets":             {set: p.count(&c.Limits.Secrets)},
			"policies":            {set: p.count(&c.Limits.Policies)},
			"velocityControls":    {set: p.count(&c.Limits.VelocityControls)},
			"authenticators":      {set: p.count(&c.Limits.Authenticators)},
			"oauthProviders":      {set: p.count(&c.Limits.OAuthProviders)},
			"webhookEndpoints":    {set: p.count(&c.Limits.WebhookEndpoints)},
			"rate": {below: map[string]setting{
				"address": {set: p.count(&c.Limits.Rate.Address)},
				"user":    {set: p.count(&c.Limits.Rate.User)},
			}},
		}},
		"metrics": {below: map[string]setting{
			"listen": {set: func(path string, n *yaml.Node) {
				p.metrics = n
				p.address(&c.Metrics.Listen, true)(path, n)
			}},
		}},
		"console": {below: map[string]setting{
			"enabled": {set: p.yesNo(&c.Console.Enabled)},
			"listen":  {set: p.address(&c.Console.Listen, true)},
			"rpId":    {set: p.host(&c.Console.RelyingParty)},
			"origin":  {set: p.origin(&c.Console.Origin)},
			"idle":    {set: p.duration(&c.Console.Idle)},
		}},
		"authProxy": {below: map[string]setting{
			"listen": {set: p.address(&c.AuthProxy.Listen, true)},
			"limits": {below: map[string]setting{
				"signUps": {set: p.count(&c.AuthProxy.Limits.SignUps)},
				"codes":   {set: p.count(&c.AuthProxy.Limits.Codes)},
				"logins":  {set: p.count(&c.AuthProxy.Limits.Logins)},
				"lookUps": {set: p.count(&c.AuthProxy.Limits.LookUps)},
			}},
		}},
		"frames": {below: map[string]setting{
			"listen": {set: p.address(&c.Frames.Listen, true)},
		}},
		"mail": {below: map[string]setting{
			"host":      {set: p.host(&c.Mail.Host)},
			"port":      {set: p.port(&c.Mail.Port)},
			"tls":       {set: p.oneOf(&c.Mail.TLS, "starttls", "tls", "plain")},
			"ca":        {set: p.path(&c.Mail.CA, "a file")},
			"username":  {set: p.line(&c.Mail.Username)},
			"password":  {set: p.secret(&c.Mail.Password)},
			"from":      {set: p.email(&c.Mail.From)},
			"fromName":  {set: p.line(&c.Mail.FromName)},
			"allowFrom": {set: p.senders(&c.Mail.AllowFrom)},
			"hello":     {set: p.host(&c.Mail.Hello)},
			"timeout":   {set: p.duration(&c.Mail.Timeout)},
		}, after: func(n *yaml.Node) { p.wholeMail(n, &c.Mail) }},
		"sms": {below: map[string]setting{
			"url":         {set: p.webAddress(&c.SMS.URL)},
			"headers":     {set: p.headers(&c.SMS.Headers)},
			"contentType": {set: p.line(&c.SMS.ContentType)},
			"body":        {set: p.template(&c.SMS.Body)},
			"ca":          {set: p.path(&c.SMS.CA, "a file")},
			"timeout":     {set: p.duration(&c.SMS.Timeout)},
		}, after: func(n *yaml.Node) { p.wholeSMS(n, &c.SMS) }},
		"templates": {set: p.path(&c.Templates, "a folder")},
		"oidc": {below: map[string]setting{
			"timeout": {set: p.duration(&c.OIDC.Timeout)},
			"maxAge":  {set: p.duration(&c.OIDC.MaxAge)},
		}},
		"oauth2": {below: map[string]setting{
			"issuer":  {set: p.issuer(&c.OAuth2.Issuer)},
			"allow":   {set: p.networks(&c.OAuth2.Allow)},
			"ca":      {set: p.path(&c.OAuth2.CA, "a file")},
			"timeout": {set: p.duration(&c.OAuth2.Timeout)},
			"providers": {below: map[string]setting{
				"x":       p.oauth2Provider(&c.OAuth2.Providers.X),
				"discord": p.oauth2Provider(&c.OAuth2.Providers.Discord),
			}},
		}},
		"webhooks": {below: map[string]setting{
			"allow":      {set: p.networks(&c.Webhooks.Allow)},
			"ca":         {set: p.path(&c.Webhooks.CA, "a file")},
			"timeout":    {set: p.duration(&c.Webhooks.Timeout)},
			"signingKey": {set: p.number(&c.Webhooks.SigningKey, 1, 1000)},
		}},
		"traces": {below: map[string]setting{
			"endpoint": {set: p.collector(&c.Traces.Endpoint)},
			"headers":  {set: p.headers(&c.Traces.Headers)},
			"ca":       {set: p.path(&c.Traces.CA, "a file")},
			"sample":   {set: p.share(&c.Traces.Sample)},
		}, after: func(n *yaml.Node) { p.wholeTraces(n, &c.Traces) }},
	}
}
