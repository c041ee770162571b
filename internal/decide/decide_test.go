package decide

import (
	"testing"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
)

func TestDecide(t *testing.T) {
	org := func(threshold int32, members ...string) *domain.Organization {
		return &domain.Organization{RootQuorum: domain.Quorum{Threshold: threshold, UserIDs: members}}
	}
	for _, c := range []struct {
		name    string
		given   Case
		allowed bool
	}{
		{"the only root user", Case{org(1, "root"), "root", ""}, true},
		{"one of several root users", Case{org(1, "root", "other"), "other", ""}, true},
		{"root user below the threshold", Case{org(2, "root", "other"), "root", ""}, false},
		{"threshold zero", Case{org(0, "root"), "root", ""}, false},
		{"ordinary user", Case{org(1, "root"), "ada", ""}, false},
		{"ordinary user on himself", Case{org(1, "root"), "ada", "ada"}, true},
		{"ordinary user on another", Case{org(1, "root"), "ada", "bob"}, false},
		{"root user below the threshold on himself", Case{org(2, "root", "other"), "root", "root"}, true},
		{"nobody on nobody", Case{org(1, "root"), "", ""}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			refusal := Decide(c.given)
			if (refusal == nil) != c.allowed {
				t.Fatalf("refusal = %v, want allowed %v", refusal, c.allowed)
			}
			if refusal != nil && refusal.Code != fault.PermissionDenied {
				t.Errorf("code %d", refusal.Code)
			}
		})
	}
}
