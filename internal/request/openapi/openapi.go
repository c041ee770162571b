// Package openapi describes the interface to other programs. Everything in the
// document follows from the catalog.
package openapi

import (
	"maps"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/request/activity"
	"latchkey/internal/request/engine"
	"latchkey/internal/schema"
)

type object = map[string]any

// Document renders the catalog as OpenAPI 3.1.
func Document(c *activity.Catalog, version string) ([]byte, error) {
	components := object{"Error": errorSchema()}
	paths := object{}
	for _, p := range c.Endpoints {
		paths["/public/v1/submit/"+p.Name] = object{"post": submit(p, components)}
	}
	for _, q := range c.Queries {
		paths["/public/v1/query/"+q.Name] = object{"post": query(q, components)}
	}
	for _, o := range engine.OwnOperations() {
		paths[o.Path()] = object{"post": own(&o, components)}
	}
	return json.Marshal(object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Latchkey", "version": version,
			"description": "Self-hosted wallet and access control. Every request is signed by a stamp over its body.",
			"license":     object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"paths": paths,
		"components": object{
			"schemas": components,
			"securitySchemes": object{
				"ApiKey": object{
					"type": "apiKey", "in": "header", "name": "X-Stamp",
					"description": "base64url of {publicKey, scheme, signature} over the body.",
				},
				"Passkey": object{
					"type": "apiKey", "in": "header", "name": "X-Stamp-Webauthn",
					"description": "JSON of {credentialId, clientDataJson, authenticatorData, signature}; the challenge is the hex SHA-256 of the body.",
				},
				"Attested": object{
					"type": "apiKey", "in": "header", "name": "X-Stamp-Attested",
					"description": "base64url of {publicKeyAttestation, scheme, publicKey, signature} over the body, with a token that names the key; for stamp_login.",
				},
				"Session": object{
					"type": "apiKey", "in": "header", "name": "X-Session",
					"description": "The session of create_read_only_session; for queries.",
				},
			},
		},
		"security": []object{{"ApiKey": []string{}}, {"Passkey": []string{}}, {"Attested": []string{}}, {"Session": []string{}}},
	}, json.Deterministic(true), jsontext.WithIndent("  "))
}

func submit(p *activity.Endpoint, components object) object {
	var versions []any
	for _, a := range p.Versions {
		versions = append(versions, envelope(a, components))
	}
	return object{
		"operationId": p.Name,
		"summary":     p.Newest().Summary,
		"tags":        []string{"activities"},
		"requestBody": body(object{"oneOf": versions}),
		"responses":   responses(activity.ReplySchema().OpenAPI(components)),
	}
}

// envelope describes a request for one version, and, under x-latchkey, what
// the generic schema of the reply cannot say about it.
func envelope(a *activity.CompiledOp, components object) object {
	e := schema.Of[engine.Envelope]().OpenAPI(components).(object)
	properties := maps.Clone(e["properties"].(object))
	properties["type"] = object{"type": "string", "const": a.Type, "description": "Activity type."}
	properties["parameters"] = a.Params.OpenAPI(components)
	e["properties"] = properties
	e["title"] = a.Type
	e["x-latchkey"] = object{
		"intentKey": a.IntentKey, "resultKey": a.ResultKey, "result": a.Result.OpenAPI(components),
		"resource": a.Govern.Resource, "action": a.Govern.Action,
	}
	return e
}

func query(q *activity.CompiledQuery, components object) object {
	return object{
		"operationId": q.Name,
		"summary":     q.Summary,
		"tags":        []string{"queries"},
		"requestBody": body(q.Params.OpenAPI(components)),
		"responses":   responses(q.Reply.OpenAPI(components)),
	}
}

func own(o *engine.OwnOperation, components object) object {
	return object{
		"operationId": o.Name,
		"summary":     o.Summary,
		"tags":        []string{o.Tag},
		"requestBody": body(o.Request.OpenAPI(components)),
		"responses":   ownResponses(o, components),
	}
}

// ownResponses say of a stream what each of its events has as data.
func ownResponses(o *engine.OwnOperation, components object) object {
	all := responses(o.Reply.OpenAPI(components))
	if o.Streams {
		success := all["200"].(object)
		success["content"] = object{"text/event-stream": object{"schema": o.Reply.OpenAPI(components)}}
		success["description"] = "Server-sent events; each has its cursor as id, and as data what is described here."
	}
	return all
}

func body(s any) object {
	return object{"required": true, "content": object{"application/json": object{"schema": s}}}
}

func responses(reply any) object {
	failure := object{
		"description": "The request was refused and changed nothing. A refused activity is recorded as failed if it was well-formed, signed and in time.",
		"content":     object{"application/json": object{"schema": object{"$ref": "#/components/schemas/Error"}}},
	}
	return object{
		"200":     object{"description": "Success.", "content": object{"application/json": object{"schema": reply}}},
		"default": failure,
	}
}

func errorSchema() object {
	return object{
		"type":     "object",
		"required": []string{"code", "message", "details"},
		"properties": object{
			"code":             object{"type": "integer", "description": "gRPC status code."},
			"message":          object{"type": "string", "description": "What was wrong and what would be right."},
			"details":          object{"type": "array", "items": object{"type": "object"}, "description": "Objects with @type; google.rpc.BadRequest lists every wrong field."},
			"turnkeyErrorCode": object{"type": "string", "description": "Finer code that clients of this interface read."},
		},
	}
}
