package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
)

// trouble is what went wrong with a service.
type trouble int

const (
	unknown       trouble = iota
	noCredentials         // none were found, or they could not be had
	badCredentials
	denied
	unusable
	missing
	wrongKey
	busy
)

// words are what operators of a cloud know.
var words = map[string]struct{ service, grant, credentials string }{
	aws: {
		"AWS KMS", "kms:Encrypt and kms:Decrypt",
		"set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give this machine a role",
	},
	gcp: {
		"Google Cloud KMS", "the role cloudkms.cryptoKeyEncrypterDecrypter",
		"set GOOGLE_APPLICATION_CREDENTIALS, or give this machine a service account",
	},
	azure: {
		"Azure Key Vault", "wrapKey and unwrapKey (Key Vault Crypto Service Encryption User)",
		"set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, or give this machine a managed identity",
	},
}

// explain says what an error means and what to do. What is told is what the service
// says about it.
func (p place) explain(what trouble, told string, err error) error {
	w := words[p.cloud]
	if told != "" {
		told = fmt.Sprintf(" (%.200q)", told)
	}
	switch what {
	case noCredentials:
		return fmt.Errorf("there are no credentials for %s: %s%s", w.service, w.credentials, told)
	case badCredentials:
		return fmt.Errorf("%s does not take the credentials, which are wrong or have ended: %s%s", w.service, w.credentials, told)
	case denied:
		return fmt.Errorf("%s refuses the use of %s: grant these credentials %s on it%s", w.service, p.key, w.grant, told)
	case unusable:
		return fmt.Errorf("%s does not use %s: it is disabled, about to be deleted, or of another kind; enable it there%s", w.service, p.key, told)
	case missing:
		return fmt.Errorf("%s knows no %s: compare the name, and see whether it was deleted%s", w.service, p.key, told)
	case wrongKey:
		return fmt.Errorf("%s does not open what the seal keeps with %s: the key is another one, or the seal was damaged%s", w.service, p.key, told)
	case busy:
		return fmt.Errorf("%s cannot answer now; try again later%s", w.service, told)
	case unknown:
	}
	var wire *url.Error
	switch {
	case told != "":
		return fmt.Errorf("%s refuses%s", w.service, told)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s did not answer within %v: look at the network, the proxy and the address of the service", w.service, patience)
	case errors.As(err, &wire):
		return fmt.Errorf("%s cannot be reached: %w; look at the network, the proxy and the address of the service", w.service, wire)
	}
	return fmt.Errorf("%s: %.300q", w.service, err.Error())
}

// otherKey is about a service that has answered with a key that was not asked.
func (p place) otherKey(answered, asked string) error {
	return fmt.Errorf("%s answered with the key %.200q, and not with %s, which was asked: its answer is not used", words[p.cloud].service, answered, asked)
}

// damaged is about an answer that does not fit its checksum, or none.
func (p place) damaged() error {
	return fmt.Errorf("what was sent to %s, or what it answered, was damaged on the way (CRC32C): try again", words[p.cloud].service)
}
