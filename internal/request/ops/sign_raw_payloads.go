package ops

import (
	"context"
	"fmt"

	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// SignRawPayloads signs several payloads with one key.
var SignRawPayloads = activity.Op[SignRawPayloadsParams, SignRawPayloadsResult]{
	Spec: activity.Spec{
		Name: "sign_raw_payloads", Version: 1,
		Summary: "Sign several payloads with one key, all or none.",
		Govern:  activity.Govern{Resource: activity.ResourcePrivateKey, Action: activity.ActionSign},
	},
	Facts: rawPayloadsFacts,
	Exec:  signRawPayloads,
}

// SignRawPayloadsParams are the parameters of sign_raw_payloads.
type SignRawPayloadsParams struct {
	SignWith     string       `json:"signWith" check:"required,max=200" doc:"Address, private key id or public key to sign with." example:"0x95222290DD7278Aa3Ddd389Cc1E1d165CC4BAfe5"`
	Payloads     []string     `json:"payloads" check:"required,min=1,max=100,each=min=1" doc:"What to sign."`
	Encoding     Encoding     `json:"encoding" check:"required" doc:"How the payloads are written."`
	HashFunction HashFunction `json:"hashFunction" check:"required" doc:"What is done to a payload before it is signed."`
}

// Check refuses what policies read one at a time: in a list, a policy that
// denies some typed data would not see it.
func (p *SignRawPayloadsParams) Check(problems *schema.Problems) {
	if p.Encoding == encodingEIP712 || p.Encoding == encodingEIP7702 {
		problems.Add("encoding", "%s is signed one payload at a time; use sign_raw_payload", p.Encoding)
	}
}

// SignRawPayloadsResult is the result of sign_raw_payloads.
type SignRawPayloadsResult struct {
	Signatures []SignatureResult `json:"signatures" check:"required" doc:"Signatures, in the order of the request."`
}

func signRawPayloads(_ context.Context, e activity.Env, p *SignRawPayloadsParams) (SignRawPayloadsResult, error) {
	key, err := findSigner(e.Tx, p.SignWith)
	if err != nil {
		return SignRawPayloadsResult{}, err
	}
	var result SignRawPayloadsResult
	for i, payload := range p.Payloads {
		signature, err := signPayload(e, key, payload, p.Encoding, p.HashFunction)
		if refusal, ok := fault.As(err); ok {
			refusal.Message = fmt.Sprintf("payloads.%d: %s", i, refusal.Message)
		}
		if err != nil {
			return SignRawPayloadsResult{}, err
		}
		result.Signatures = append(result.Signatures, signature)
	}
	return result, nil
}
