package authproxy

import (
	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/proof/token"
	"latchkey/internal/request/ops"
)

const (
	filterEmail = "EMAIL"
	filterPhone = "PHONE_NUMBER"
	filterToken = "OIDC_TOKEN"
)

// AccountRequest asks whether there is an account.
type AccountRequest struct {
	FilterType        string `json:"filterType" check:"required,enum=NAME|USERNAME|EMAIL|PHONE_NUMBER|CREDENTIAL_ID|PUBLIC_KEY|OIDC_TOKEN|OIDC_CLAIMS|WALLET_ACCOUNT_ADDRESS" doc:"What to look for."`
	FilterValue       string `json:"filterValue" check:"required,max=16384" doc:"What it must be, exactly."`
	VerificationToken string `json:"verificationToken,omitzero" check:"max=4096" doc:"Proof of the contact, where the configuration wants one."`
	OidcToken         string `json:"oidcToken,omitzero" check:"max=16384" doc:"Token of an issuer; it proves no contact here."`
}

// AccountReply is the reply of account.
type AccountReply struct {
	OrganizationID string `json:"organizationId,omitzero" doc:"Sub-organization of the account; absent: there is none."`
}

func (c *call) account(r *AccountRequest) (AccountReply, error) {
	filter := ops.SuborgFilter{FilterType: r.FilterType, FilterValue: r.FilterValue}
	switch r.FilterType {
	case filterEmail, filterPhone:
		if !c.mayFind(r) {
			return AccountReply{}, fault.New(fault.PermissionDenied, fault.ReasonForbidden,
				"an account is found by an e-mail address or a phone number only with a verificationToken of otp_verify for that very contact")
		}
	case filterToken:
		claims, err := c.claimsFilter(r.FilterValue)
		if err != nil {
			return AccountReply{}, err
		}
		if found, err := c.find(claims); err != nil || found == "" {
			return AccountReply{}, err
		}
	}
	found, err := c.find(filter)
	return AccountReply{OrganizationID: found}, err
}

// mayFind reports whether an account may be found by its contact. That is
// settled before anything is looked up, so that neither the answer nor the time
// that it takes tells whether there is one.
func (c *call) mayFind(r *AccountRequest) bool {
	if !c.config.ContactsNeedToken {
		return true
	}
	v, err := token.ReadVerification(c.engine.ServerKeys.SignerPublicKey(), r.VerificationToken, c.engine.Now())
	if err != nil || v.OrganizationID != c.org.ID {
		return false
	}
	t := domain.OTPEmail
	if r.FilterType == filterPhone {
		t = domain.OTPSMS
	}
	asked := domain.User{Email: r.FilterValue, PhoneNumber: r.FilterValue}
	return v.Type == t && asked.HasContact(t, v.Contact)
}

// find finds the oldest account; of a contact, one that has proved it before
// those that only have it on record.
func (c *call) find(filter ops.SuborgFilter) (string, error) {
	filter.OrganizationID = c.org.ID
	queries := []string{"list_suborgs"}
	if filter.FilterType == filterEmail || filter.FilterType == filterPhone {
		queries = []string{"list_verified_suborgs", "list_suborgs"}
	}
	for _, name := range queries {
		reply, err := c.engine.QueryByAuthProxy(c.ctx, c.engine.Catalog.Query(name), c.config, &filter, c.request)
		if err != nil {
			return "", err
		}
		var found ops.ListSuborgsReply
		if err := json.Unmarshal(reply.Body, &found); err != nil {
			return "", err
		}
		if len(found.OrganizationIDs) > 0 {
			return found.OrganizationIDs[0], nil
		}
	}
	return "", nil
}
