package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/security/keyvault/azkeys"
)

// azureKey is an RSA key of Azure Key Vault, or of a managed HSM.
type azureKey struct {
	place
	client *azkeys.Client
}

// connectAzure takes what the SDK finds: environment, workload, managed identity. The
// SDK asks a vault for nothing before its name has proven to be of its cloud.
func connectAzure(at place) (*azureKey, error) {
	found, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, at.explain(noCredentials, err.Error(), err)
	}
	options := azcore.ClientOptions{Retry: policy.RetryOptions{MaxRetries: 2, RetryDelay: 300 * time.Millisecond}}
	client, err := azkeys.NewClient(at.vault(), credential{found}, &azkeys.ClientOptions{ClientOptions: options})
	if err != nil {
		return nil, at.explain(unknown, "", err)
	}
	return &azureKey{at, client}, nil
}

// credential tells its own errors from those of the vault.
type credential struct{ azcore.TokenCredential }

type credentialError struct{ error }

func (e credentialError) Unwrap() error { return e.error }

// NonRetriable ends the request: https://pkg.go.dev/github.com/Azure/azure-sdk-for-go/sdk/internal/errorinfo
func (credentialError) NonRetriable() {}

// GetToken gets a token.
func (c credential) GetToken(ctx context.Context, options policy.TokenRequestOptions) (azcore.AccessToken, error) {
	token, err := c.TokenCredential.GetToken(ctx, options)
	if err != nil {
		err = credentialError{err}
	}
	return token, err
}

// What RSA encrypts cannot be bound to more than the key. The recipient is compared by
// latchkey, as for all guards.
func operation(value []byte) azkeys.KeyOperationParameters {
	algorithm := azkeys.EncryptionAlgorithmRSAOAEP256
	return azkeys.KeyOperationParameters{Algorithm: &algorithm, Value: value}
}

func (k *azureKey) encrypt(ctx context.Context, secret []byte) (id string, text []byte, err error) {
	reply, err := k.client.WrapKey(ctx, k.keyName(), k.version(), operation(secret), nil)
	if err != nil {
		return "", nil, k.refused(err, unknown)
	}
	return value(reply.KID), reply.Result, nil
}

// decrypt asks for the version that encrypted: the newest may be another one by now.
func (k *azureKey) decrypt(ctx context.Context, id string, text []byte) ([]byte, error) {
	_, version, _ := strings.Cut(strings.TrimPrefix(id, k.vault()+"/keys/"), "/")
	reply, err := k.client.UnwrapKey(ctx, k.keyName(), version, operation(text), nil)
	if err != nil {
		return nil, k.refused(err, wrongKey)
	}
	if value(reply.KID) != id {
		return nil, k.otherKey(value(reply.KID), id)
	}
	return reply.Result, nil
}

// refused reads an error; invalid is what a request that cannot be fulfilled means.
func (k *azureKey) refused(err error, invalid trouble) error {
	var login credentialError
	if errors.As(err, &login) {
		return k.explain(noCredentials, login.Error(), err)
	}
	var told *azcore.ResponseError
	if !errors.As(err, &told) {
		return k.explain(unknown, "", err)
	}
	// The text of the error itself is the whole answer.
	var body struct {
		Error struct {
			Message string `json:"message"`
			Inner   struct {
				Code string `json:"code"`
			} `json:"innererror"`
		} `json:"error"`
	}
	text, _ := runtime.Payload(told.RawResponse)
	_ = json.Unmarshal(text, &body) // a proxy may have answered
	var what trouble
	switch {
	case strings.HasPrefix(body.Error.Inner.Code, "Key"): // KeyDisabled, KeyExpired, KeyNotYetValid
		what = unusable
	case told.StatusCode == http.StatusBadRequest:
		what = invalid
	default:
		what = statusTrouble(told.StatusCode)
	}
	return k.explain(what, told.ErrorCode+": "+body.Error.Message, err)
}
