// Package ops holds the operations of the interface, one file each: its
// declaration and its executor. Catalog lists them all.
package ops

import "latchkey/internal/activity"

// Catalog is the whole interface. Adding an operation is its file, its test
// and one line here.
func Catalog() *activity.Catalog {
	return activity.NewCatalog(
		[]*activity.Activity{
			CreateAPIKeys.Compile(),
			CreateAPIKeysV2.Compile(),
			CreatePrivateKeyTag.Compile(),
			CreatePrivateKeys.Compile(),
			CreatePrivateKeysV2.Compile(),
			CreateUserTag.Compile(),
			CreateUsers.Compile(),
			CreateUsersV2.Compile(),
			CreateUsersV3.Compile(),
			CreateUsersV4.Compile(),
			CreateWallet.Compile(),
			CreateWalletAccounts.Compile(),
			DeleteAPIKeys.Compile(),
			DeletePrivateKeyTags.Compile(),
			DeletePrivateKeys.Compile(),
			DeleteWalletAccounts.Compile(),
			DeleteWallets.Compile(),
			ExportPrivateKey.Compile(),
			ExportWallet.Compile(),
			ExportWalletAccount.Compile(),
			ImportPrivateKey.Compile(),
			ImportWallet.Compile(),
			InitImportPrivateKey.Compile(),
			InitImportWallet.Compile(),
			SignRawPayload.Compile(),
			SignRawPayloadV2.Compile(),
			SignRawPayloads.Compile(),
			SignTransaction.Compile(),
			SignTransactionV2.Compile(),
			UpdatePrivateKeyTag.Compile(),
			UpdateUserTag.Compile(),
			UpdateWallet.Compile(),
		},
		[]*activity.CompiledQuery{
			GetAPIKeys.Compile(),
			GetActivity.Compile(),
			GetOrganizationConfigs.Compile(),
			GetPrivateKey.Compile(),
			GetUser.Compile(),
			GetWallet.Compile(),
			GetWalletAccount.Compile(),
			ListActivities.Compile(),
			ListPrivateKeyTags.Compile(),
			ListPrivateKeys.Compile(),
			ListUserTags.Compile(),
			ListUsers.Compile(),
			ListWalletAccounts.Compile(),
			ListWallets.Compile(),
			Whoami.Compile(),
		},
	)
}
