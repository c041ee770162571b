package workload

import (
	"fmt"
	"slices"
)

// Workloads that are measured against another one: what they add is what they cost.
// They run only when they are named, in organizations of their own.
const (
	SignUnderPolicy = "sign_under_policy" // a transaction, by a user under one policy
	SignUnderLimit  = "sign_under_limit"  // and a velocity control is in the policy
	SignWatched     = "sign_watched"      // sign_raw_payload, with webhook endpoints
)

func paired() []string { return []string{SignUnderPolicy, SignUnderLimit, SignWatched} }

// Plain is the workload that another one is measured against, if any.
func Plain(name string) string {
	switch name {
	case SignUnderLimit:
		return SignUnderPolicy
	case SignWatched:
		return SignRawPayload
	}
	return ""
}

// endpoints is how many webhook endpoints watch [SignWatched].
const endpoints = 10

// SetUpPairs creates what the named workloads need beside [Setup]. Webhooks go to
// receiver, a URL.
func (d *Dataset) SetUpPairs(host string, names []string, receiver string) error {
	for _, name := range names {
		if !slices.Contains(paired(), name) {
			continue
		}
		o, create := d.Parent.createSubOrganization(d.sequence.Add(1), true)
		if err := perform(host, 1, create); err != nil {
			return fmt.Errorf("an organization for %s: %w", name, err)
		}
		if err := o.setUpPair(host, name, receiver); err != nil {
			return fmt.Errorf("setting %s up: %w", name, err)
		}
		if d.paired == nil {
			d.paired = map[string]*Organization{}
		}
		d.paired[name] = o
		if err := perform(host, 1, d.draft(name, false, 0)); err != nil {
			return fmt.Errorf("trying %s: %w", name, err)
		}
	}
	return nil
}

func (o *Organization) setUpPair(host, name, receiver string) error {
	if name == SignWatched {
		var drafts []*draft
		for i := range endpoints {
			drafts = append(drafts, o.submit("create_webhook_endpoint", "", fmt.Appendf(nil,
				`{"name":"Receiver %d","url":"%s/%d","subscriptions":[{"eventType":"ACTIVITY_UPDATES"}]}`, i, receiver, i), nothing))
		}
		return perform(host, 1, drafts...)
	}
	var user string
	if err := perform(host, 1, o.createMember(func(userID string) { user = userID })); err != nil {
		return err
	}
	condition := fmt.Sprintf("activity.type == 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2' && eth.tx.value <= %d", 10*amount)
	if name == SignUnderLimit {
		condition += " && controls.day"
		if err := perform(host, 1, o.submit("create_velocity_control", "", fmt.Appendf(nil, `{"name":"A day","identifier":"day",
			"dataSource":{"chainAssetTransfer":{"definition":[{"caip19":"eip155:%d/slip44:60","decimals":"18"}]}},
			"aggregation":{"method":"VELOCITY_CONTROL_AGGREGATION_METHOD_SUM","operator":"VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL",
				"threshold":"1000000000","window":{"rolling":{"duration":"86400"}},"groupBy":{"organization":{}}}}`, chainID), nothing)); err != nil {
			return err
		}
	}
	return perform(host, 1, o.submit("create_policy", "_V3", fmt.Appendf(nil,
		`{"policyName":"Transfers","effect":"EFFECT_ALLOW","consensus":"approvers.any(user, user.id == '%s')","condition":"%s","notes":""}`, user, condition), nothing))
}

// nothing of the result is needed.
func nothing(*result) error { return nil }
