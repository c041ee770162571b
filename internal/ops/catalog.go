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
			CreateUserTag.Compile(),
			CreateUsers.Compile(),
			CreateUsersV2.Compile(),
			CreateUsersV3.Compile(),
			CreateUsersV4.Compile(),
			DeleteAPIKeys.Compile(),
			UpdateUserTag.Compile(),
		},
		[]*activity.CompiledQuery{
			GetActivity.Compile(),
			GetAPIKeys.Compile(),
			GetOrganizationConfigs.Compile(),
			GetUser.Compile(),
			ListActivities.Compile(),
			ListUserTags.Compile(),
			ListUsers.Compile(),
			Whoami.Compile(),
		},
	)
}
