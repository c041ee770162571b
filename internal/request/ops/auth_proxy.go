package ops

import (
	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
	"latchkey/internal/store"
)

// This file holds what the operations on the auth proxy have in common.

// setFeature switches a feature on with a value.
func setFeature(o *domain.Organization, name domain.FeatureName, value string) {
	for i := range o.Features {
		if o.Features[i].Name == name {
			o.Features[i].Value = value
			return
		}
	}
	o.Features = append(o.Features, domain.Feature{Name: name, Value: value})
}

// authProxyOf is the organization's auth proxy, which must be enabled.
func authProxyOf(e activity.Env) (*domain.AuthProxy, error) {
	org, err := e.Tx.Organization()
	if err != nil {
		return nil, err
	}
	if org.AuthProxy == nil || !org.AuthProxy.Enabled {
		return nil, fault.Invalid("the auth proxy of this organization is not enabled: enable it with enable_auth_proxy")
	}
	return org.AuthProxy, nil
}

// isAuthProxy reports whether the auth proxy submitted the activity.
func isAuthProxy(e activity.Env) bool { return e.CredentialType == domain.CredentialAuthProxy }

// refuseKnownAccount refuses to sign a user up, for a page that no one vouches
// for, with a credential or a contact of another account: the account could no
// longer be told from the new one by it. Nor does it take a credential of the
// organization's own users.
func refuseKnownAccount(e, child activity.Env) error {
	users, err := child.Tx.Users().List("", 0)
	if err != nil {
		return err
	}
	for _, u := range users {
		var keys []string
		for _, key := range u.CredentialKeys() {
			keys = append(keys, domain.ChildByCredential(key))
			own, err := e.Tx.Users().Find(store.ByCredential, key)
			if err != nil {
				return err
			}
			if own != nil {
				return knownAccount()
			}
		}
		if u.Email != "" {
			keys = append(keys, domain.ChildByEmail(u.Email))
		}
		if u.PhoneNumber != "" {
			keys = append(keys, domain.ChildByPhone(u.PhoneNumber))
		}
		for _, key := range keys {
			known, err := e.Tx.Children(key, 1)
			if err != nil {
				return err
			}
			if len(known) > 0 {
				return knownAccount()
			}
		}
	}
	return nil
}

func knownAccount() error {
	return fault.New(fault.AlreadyExists, fault.ReasonCredentialConflict,
		"an account with this credential or contact exists already; log in with it")
}
