package policy

import (
	"slices"
	"strings"
)

// KnownActivity is an activity that there is to decide on, in one version.
type KnownActivity struct{ Type, Kind, Resource, Action string }

// known is what is known of the activity, as partialTruth takes it.
func (a *KnownActivity) known() map[string]string {
	return map[string]string{"activity.type": a.Type, "activity.kind": a.Kind, "activity.resource": a.Resource, "activity.action": a.Action}
}

// may is whether the policy may match the activity.
func (a *KnownActivity) may(p *Policy) bool {
	return p.Condition == nil || partialTruth(p.Condition.top, a.known()) != no
}

// siblings is whether the two do the same: they are versions of one kind, or one
// does to many what the other does to one.
func (a *KnownActivity) siblings(b *KnownActivity) bool { return singular(a.Kind) == singular(b.Kind) }

func singular(kind string) string {
	if stem, ok := strings.CutSuffix(kind, "IES"); ok {
		return stem + "Y"
	}
	return strings.TrimSuffix(kind, "S")
}

// everything finds an ALLOW that is true of every request and needs no vote.
func (l *linter) everything(p *Policy) {
	if p.Deny || p.Condition == nil || p.Consensus != nil {
		return
	}
	top := p.Condition.top
	always, _ := constantValue(top)
	if !always { // of a request without a wallet, say, no condition about it is true
		always = len(l.context.Activities) > 0 && !p.Condition.reads(func(n *node) bool {
			return n.op == opRoot && n.typ != activityType || n.op == opField && n.x.typ == activityType && n.name == "params"
		}) && !slices.ContainsFunc(l.context.Activities, func(a KnownActivity) bool { return partialTruth(top, a.known()) != yes })
	}
	if always {
		l.expr = p.Condition
		l.add(top, AllowsEverything, "%s is true of every request, so this policy allows everything to every user", l.source(top))
	}
}

// siblings finds a policy that is about one version of an activity, or one of
// two kinds that do the same, where its author probably means all of them.
func (l *linter) siblings(p *Policy) {
	if p.Condition == nil {
		return
	}
	l.policy, l.expr = p, p.Condition
	reported := map[string]bool{}
	p.Condition.top.visit(func(n *node) {
		literalPairs(n, func(subject, literal *node) {
			if subject.op != opField || subject.x.typ != activityType {
				return
			}
			for i := range l.context.Activities {
				named := &l.context.Activities[i]
				isNamed := subject.name == "type" && named.Type == literal.text || subject.name == "kind" && named.Kind == literal.text
				if isNamed && !reported[singular(named.Kind)] {
					reported[singular(named.Kind)] = l.reportSiblings(p, named, literal)
				}
			}
		})
	})
}

// reportSiblings says which siblings of the activity get past the policy.
func (l *linter) reportSiblings(p *Policy, named *KnownActivity, at *node) bool {
	var passing, kinds []string
	newest := named // of its kind
	for i := range l.context.Activities {
		a := &l.context.Activities[i]
		if !a.siblings(named) {
			continue
		}
		if a.Kind == named.Kind {
			newest = a
		}
		if !slices.Contains(kinds, a.Kind) {
			kinds = append(kinds, a.Kind)
		}
		// Past a DENY is what it does not match, nor another; past an ALLOW of
		// all others is what it matches nevertheless.
		if p.Deny != a.may(p) && !(p.Deny && l.named(a, true)) {
			passing = append(passing, a.Type)
		}
	}
	all := "activity.kind == '" + kinds[0] + "'"
	if len(kinds) > 1 {
		all = "activity.kind in ['" + strings.Join(kinds, "', '") + "']"
	}
	switch {
	case p.Deny == named.may(p) && len(passing) > 0:
		l.add(at, SingleVersion, "this policy stops %s, but not %s, with which the same can be done; it is all of them by %s", named.Type, strings.Join(passing, ", "), all)
	case !p.Deny && named.may(p) && newest != named && !l.named(newest, false):
		l.add(at, SingleVersion, "%s is a superseded version: clients send %s, which no policy allows; it is all versions by activity.kind == '%s'", named.Type, newest.Type, named.Kind)
	default:
		return false
	}
	return true
}

// named is whether a policy of this effect says which activities it is about,
// and may match this one.
func (l *linter) named(a *KnownActivity, deny bool) bool {
	return slices.ContainsFunc(l.policies, func(p Policy) bool {
		return p.Deny == deny && a.may(&p) && p.Condition.reads(func(n *node) bool {
			return n.op == opField && n.x.typ == activityType && n.name != "params"
		})
	})
}
