package authproxy

import (
	"net/http"
	"testing"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/keys/vault"
	"latchkey/internal/request/engine"
)

// TestNothingIsLookedUpUnproved: where contacts need a token, the refusal comes
// before anything is looked up, so that its time cannot tell whether there is an
// account. The engine here has nothing to look into: looking would panic.
func TestNothingIsLookedUpUnproved(t *testing.T) {
	blind := &call{
		Proxy:  &Proxy{engine: engine.New(engine.Config{ServerKeys: new(vault.ServerKeys), Now: time.Now})},
		ctx:    t.Context(),
		org:    &domain.Organization{ID: "f9a31c64-d604-42e4-9bef-a773096afad7"},
		config: &domain.AuthProxy{ContactsNeedToken: true},
	}
	for _, r := range []AccountRequest{
		{FilterType: filterEmail, FilterValue: "known@example.com"},
		{FilterType: filterEmail, FilterValue: "known@example.com", VerificationToken: "nonsense"},
		{FilterType: filterPhone, FilterValue: "+14155550100"},
		{FilterType: filterPhone, FilterValue: "+14155550100", OidcToken: "nonsense"},
	} {
		_, err := blind.account(&r)
		if refused, ok := fault.As(err); !ok || refused.Status() != http.StatusForbidden {
			t.Errorf("%+v: %v", r, err)
		}
	}
}
