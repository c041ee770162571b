package main

import (
	"context"
	"encoding/json"
	"errors"
	"hash/crc32"
	"log/slog"
	"net/http"
	"os"

	"cloud.google.com/go/auth/credentials"
	kms "cloud.google.com/go/kms/apiv1"
	"cloud.google.com/go/kms/apiv1/kmspb"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// gcpEndpoint names another address, as it does for gcloud; the library has no
// variable of its own.
const gcpEndpoint = "CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDKMS"

// gcpKey is a symmetric key of Google Cloud KMS.
type gcpKey struct {
	place
	client *kms.KeyManagementClient
}

// connectGCP takes what the library finds: GOOGLE_APPLICATION_CREDENTIALS, the file of
// gcloud, the account of the machine.
func connectGCP(ctx context.Context, at place) (*gcpKey, error) {
	// Without this, a variable would make the library log what it sends.
	silent := slog.New(slog.DiscardHandler)
	found, err := credentials.DetectDefault(&credentials.DetectOptions{Scopes: kms.DefaultAuthScopes(), UseSelfSignedJWT: true, Logger: silent})
	if err == nil {
		_, err = found.Token(ctx)
	}
	if err != nil {
		return nil, at.explain(noCredentials, err.Error(), err)
	}
	options := []option.ClientOption{option.WithAuthCredentials(found), option.WithLogger(silent)}
	if set := os.Getenv(gcpEndpoint); set != "" {
		if err := checkEndpoint(gcpEndpoint, set); err != nil {
			return nil, err
		}
		options = append(options, option.WithEndpoint(set))
	}
	// By HTTP and JSON: proxies and authorities are then set as for the other clouds.
	client, err := kms.NewKeyManagementRESTClient(ctx, options...)
	if err != nil {
		return nil, at.explain(unknown, "", err)
	}
	return &gcpKey{at, client}, nil
}

// bound is additional data, without which nothing decrypts.
func (k *gcpKey) bound() []byte {
	return []byte("latchkey:recipient=" + k.name + " latchkey:age=" + k.recipient)
}

func (k *gcpKey) encrypt(ctx context.Context, secret []byte) (id string, text []byte, err error) {
	reply, err := k.client.Encrypt(ctx, &kmspb.EncryptRequest{
		Name: k.key, Plaintext: secret, PlaintextCrc32C: sum(secret),
		AdditionalAuthenticatedData: k.bound(), AdditionalAuthenticatedDataCrc32C: sum(k.bound()),
	})
	if err != nil {
		return "", nil, k.refused(err, unknown)
	}
	if !reply.VerifiedPlaintextCrc32C || !reply.VerifiedAdditionalAuthenticatedDataCrc32C || !fits(reply.Ciphertext, reply.CiphertextCrc32C) {
		return "", nil, k.damaged()
	}
	return reply.Name, reply.Ciphertext, nil
}

// decrypt asks for the key: the text says which version it is of, and the answer names
// none.
func (k *gcpKey) decrypt(ctx context.Context, _ string, text []byte) ([]byte, error) {
	reply, err := k.client.Decrypt(ctx, &kmspb.DecryptRequest{
		Name: k.key, Ciphertext: text, CiphertextCrc32C: sum(text),
		AdditionalAuthenticatedData: k.bound(), AdditionalAuthenticatedDataCrc32C: sum(k.bound()),
	})
	if err != nil {
		return nil, k.refused(err, wrongKey)
	}
	if !fits(reply.Plaintext, reply.PlaintextCrc32C) {
		return nil, k.damaged()
	}
	return reply.Plaintext, nil
}

// https://docs.cloud.google.com/kms/docs/data-integrity-guidelines
func sum(data []byte) *wrapperspb.Int64Value {
	return wrapperspb.Int64(int64(crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))))
}

func fits(data []byte, told *wrapperspb.Int64Value) bool {
	return told != nil && told.Value == sum(data).Value
}

// refused reads an error; invalid is what a request that cannot be fulfilled means.
func (k *gcpKey) refused(err error, invalid trouble) error {
	var told *googleapi.Error
	if !errors.As(err, &told) {
		return k.explain(unknown, "", err)
	}
	var body struct {
		Error struct {
			Status string `json:"status"`
		} `json:"error"`
	}
	_ = json.Unmarshal([]byte(told.Body), &body) // a proxy may have answered
	var what trouble
	switch {
	case body.Error.Status == "FAILED_PRECONDITION":
		what = unusable
	case told.Code == http.StatusBadRequest:
		what = invalid
	default:
		what = statusTrouble(told.Code)
	}
	return k.explain(what, told.Message, err)
}

// statusTrouble is what a status of HTTP means.
func statusTrouble(status int) trouble {
	switch {
	case status == http.StatusUnauthorized:
		return badCredentials
	case status == http.StatusForbidden:
		return denied
	case status == http.StatusNotFound:
		return missing
	case status == http.StatusTooManyRequests, status >= http.StatusInternalServerError:
		return busy
	}
	return unknown
}
