package server

import (
	"maps"
	"sync"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/api"
	"latchkey/internal/request/openapi"
	"latchkey/internal/request/ops"
)

// catalog is the same for all servers of a process.
var catalog = sync.OnceValue(ops.Catalog)

// description is the OpenAPI document. It takes longer to make than all else at a start,
// and few ask for it.
func description(catalog *activity.Catalog, version string) func() ([]byte, error) {
	return sync.OnceValues(func() ([]byte, error) { return openapi.Document(catalog, version) })
}

func documents(keys KeyServices, i issuer, version string) (map[string][]byte, error) {
	clientSecretKey, err := keys.ServerKeys.ClientSecretPublicKey()
	if err != nil {
		return nil, err
	}
	known, err := json.Marshal(wellKnown{
		OAuth2ClientSecretPublicKey: clientSecretKey,

		Version: version, SignerPublicKey: keys.ServerKeys.SignerPublicKey(), SessionPublicKey: keys.ServerKeys.SessionPublicKey(),
		LogOrigin: keys.LogKeys.VerifierKeys().Names()[0], LogVerifierKeys: keys.LogKeys.VerifierKeys().Texts(),
		LogEpochs: earlierEpochs(keys.Epochs),
	})
	if err != nil {
		return nil, err
	}
	webhookKeys, err := keySet(keys.WebhookKeys)
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{"/.well-known/latchkey.json": known, api.WebhookKeysPath: webhookKeys}
	own, err := i.documents()
	maps.Copy(all, own)
	return all, err
}

// wellKnown is what clients need to know to trust this server's signatures.
type wellKnown struct {
	Version          string `json:"version"`
	SignerPublicKey  string `json:"signerPublicKey"`
	SessionPublicKey string `json:"sessionPublicKey"`
	// The key to which client secrets of OAuth 2.0 are encrypted.
	OAuth2ClientSecretPublicKey string `json:"oauth2ClientSecretPublicKey"`
	// The log's name and the keys that sign its checkpoints, as verifiers of C2SP
	// signed notes read them.
	LogOrigin       string   `json:"logOrigin"`
	LogVerifierKeys []string `json:"logVerifierKeys"`
	// The logs before, the oldest first; receipts of theirs stay valid.
	LogEpochs []wellKnownEpoch `json:"logEarlierEpochs,omitempty"`
}

type wellKnownEpoch struct {
	Origin       string   `json:"logOrigin"`
	VerifierKeys []string `json:"logVerifierKeys"`
	// LastCheckpoint is the last that was known when the next log began.
	LastCheckpoint string `json:"lastCheckpoint"`
}

func earlierEpochs(all []domain.LogEpoch) (earlier []wellKnownEpoch) {
	for i, e := range all[:len(all)-1] {
		earlier = append(earlier, wellKnownEpoch{e.Origin, e.VerifierKeys, all[i+1].Previous})
	}
	return earlier
}
