package main

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/smithy-go"
)

// awsKey is a symmetric key of AWS KMS.
type awsKey struct {
	place
	client *kms.Client
}

// connectAWS takes what the SDK finds: environment, files, roles. AWS_ENDPOINT_URL_KMS
// sets another address.
func connectAWS(ctx context.Context, at place) (*awsKey, error) {
	found, err := config.LoadDefaultConfig(ctx, config.WithRegion(at.region()))
	if err != nil {
		return nil, at.explain(unknown, "", err)
	}
	if _, err := found.Credentials.Retrieve(ctx); err != nil {
		return nil, at.explain(noCredentials, err.Error(), err)
	}
	client := kms.NewFromConfig(found)
	if set := client.Options().BaseEndpoint; set != nil {
		if err := checkEndpoint("AWS_ENDPOINT_URL_KMS", *set); err != nil {
			return nil, err
		}
	}
	return &awsKey{at, client}, nil
}

// bound is the encryption context: without it, nothing decrypts. CloudTrail shows it,
// and policies of keys can ask for it.
func (k *awsKey) bound() map[string]string {
	return map[string]string{"latchkey:recipient": k.name, "latchkey:age": k.recipient}
}

func (k *awsKey) encrypt(ctx context.Context, secret []byte) (id string, text []byte, err error) {
	reply, err := k.client.Encrypt(ctx, &kms.EncryptInput{KeyId: &k.key, Plaintext: secret, EncryptionContext: k.bound()})
	if err != nil {
		return "", nil, k.refused(err)
	}
	return value(reply.KeyId), reply.CiphertextBlob, nil
}

func (k *awsKey) decrypt(ctx context.Context, id string, text []byte) ([]byte, error) {
	reply, err := k.client.Decrypt(ctx, &kms.DecryptInput{KeyId: &id, CiphertextBlob: text, EncryptionContext: k.bound()})
	if err != nil {
		return nil, k.refused(err)
	}
	if value(reply.KeyId) != id {
		return nil, k.otherKey(value(reply.KeyId), id)
	}
	return reply.Plaintext, nil
}

// value is what a member of an answer is, which may be missing.
func value[T ~string](member *T) string {
	if member == nil {
		return ""
	}
	return string(*member)
}

// https://docs.aws.amazon.com/kms/latest/APIReference/API_Decrypt.html#API_Decrypt_Errors
var awsTroubles = map[string]trouble{
	"AccessDeniedException":       denied,
	"DisabledException":           unusable,
	"KMSInvalidStateException":    unusable,
	"InvalidKeyUsageException":    unusable,
	"NotFoundException":           missing,
	"InvalidCiphertextException":  wrongKey,
	"IncorrectKeyException":       wrongKey,
	"UnrecognizedClientException": badCredentials,
	"InvalidClientTokenId":        badCredentials,
	"InvalidSignatureException":   badCredentials,
	"ExpiredTokenException":       badCredentials,
	"ThrottlingException":         busy,
	"KeyUnavailableException":     busy,
	"DependencyTimeoutException":  busy,
	"KMSInternalException":        busy,
	"InternalFailure":             busy,
	"ServiceUnavailable":          busy,
}

func (k *awsKey) refused(err error) error {
	var told smithy.APIError
	if !errors.As(err, &told) {
		return k.explain(unknown, "", err)
	}
	return k.explain(awsTroubles[told.ErrorCode()], told.ErrorCode()+": "+told.ErrorMessage(), err)
}
