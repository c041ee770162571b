package ops

import (
	"context"

	"latchkey/internal/request/activity"
)

// The versions of sign_raw_payload. Both answer with the first one's result.
var (
	SignRawPayload = activity.Older(signRawPayloadSpec(1), SignRawPayloadV2,
		func(p *SignRawPayloadParams) *SignRawPayloadParamsV2 {
			return &SignRawPayloadParamsV2{SignWith: p.PrivateKeyID, Payload: p.Payload, Encoding: p.Encoding, HashFunction: p.HashFunction}
		})
	SignRawPayloadV2 = activity.Op[SignRawPayloadParamsV2, SignatureResult]{
		Spec:  signRawPayloadSpec(2),
		Facts: rawPayloadFacts,
		Exec:  signRawPayload,
	}
)

func signRawPayloadSpec(version int) activity.Spec {
	return activity.Spec{
		Name: "sign_raw_payload", Version: version, ResultKey: "signRawPayloadResult",
		Summary: "Sign a payload.",
		Govern:  activity.Govern{Resource: activity.ResourcePrivateKey, Action: activity.ActionSign},
	}
}

// SignRawPayloadParamsV2 are the parameters of sign_raw_payload.
type SignRawPayloadParamsV2 struct {
	SignWith     string       `json:"signWith" check:"required,max=200" doc:"Address, private key id or public key to sign with." example:"0x95222290DD7278Aa3Ddd389Cc1E1d165CC4BAfe5"`
	Payload      string       `json:"payload" check:"required" doc:"What to sign."`
	Encoding     Encoding     `json:"encoding" check:"required" doc:"How the payload is written."`
	HashFunction HashFunction `json:"hashFunction" check:"required" doc:"What is done to the payload before it is signed."`
}

// SignRawPayloadParams are the parameters of version 1.
type SignRawPayloadParams struct {
	PrivateKeyID string       `json:"privateKeyId" check:"required,max=200" doc:"Private key to sign with." example:"0192f3c4-5b6a-7c8d-9e0f-1a2b3c4d5e6f"`
	Payload      string       `json:"payload" check:"required" doc:"What to sign."`
	Encoding     Encoding     `json:"encoding" check:"required" doc:"How the payload is written."`
	HashFunction HashFunction `json:"hashFunction" check:"required" doc:"What is done to the payload before it is signed."`
}

func signRawPayload(_ context.Context, e activity.Env, p *SignRawPayloadParamsV2) (SignatureResult, error) {
	key, err := findSigner(e.Tx, p.SignWith)
	if err != nil {
		return SignatureResult{}, err
	}
	return signPayload(e, key, p.Payload, p.Encoding, p.HashFunction)
}
