package ops

import (
	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
)

// InitImportPrivateKey makes a one-time key to which a client encrypts a private
// key.
var InitImportPrivateKey = initImport("init_import_private_key", domain.ImportPrivateKey, activity.ResourcePrivateKey)
