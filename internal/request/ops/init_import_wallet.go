package ops

import (
	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
)

// InitImportWallet makes a one-time key to which a client encrypts a seed phrase.
var InitImportWallet = initImport("init_import_wallet", domain.ImportWallet, activity.ResourceWallet)
