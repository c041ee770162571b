package authproxy

import (
	"cmp"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/domain"
	"latchkey/internal/request/ops"
	"latchkey/internal/schema"
)

// SignUpRequest opens an account: a sub-organization with one root user.
type SignUpRequest struct {
	UserEmail         string                      `json:"userEmail,omitzero" check:"email" doc:"E-mail address, which verificationToken must prove."`
	UserPhoneNumber   string                      `json:"userPhoneNumber,omitzero" check:"e164" doc:"Phone number, which verificationToken must prove."`
	UserTag           string                      `json:"userTag,omitzero" check:"max=256" doc:"Not served: a new organization has no tags."`
	UserName          string                      `json:"userName,omitzero" check:"label" doc:"Name of the user."`
	OrganizationName  string                      `json:"organizationName,omitzero" check:"label" doc:"Name of the sub-organization."`
	VerificationToken string                      `json:"verificationToken,omitzero" check:"max=4096" doc:"Token of otp_verify."`
	APIKeys           []ops.APIKeyParamsV2        `json:"apiKeys" check:"required,max=10" doc:"API keys; may be empty."`
	Authenticators    []ops.AuthenticatorParamsV2 `json:"authenticators" check:"required,max=10" doc:"Passkeys; may be empty."`
	OauthProviders    []ops.OauthProviderParamsV2 `json:"oauthProviders" check:"required,max=10" doc:"Identities at OpenID providers; may be empty."`
	Wallet            *ops.CreateWalletParams     `json:"wallet,omitzero" doc:"A first wallet."`
	ClientSignature   *ops.ClientSignature        `json:"clientSignature,omitzero" doc:"Proof that the client holds the key that the token is bound to."`
}

// Check refuses a contact that is not proved: a stranger could open an account on
// another person's address, into which that person would log in later.
func (r *SignUpRequest) Check(problems *schema.Problems) {
	for path, contact := range map[string]string{"userEmail": r.UserEmail, "userPhoneNumber": r.UserPhoneNumber} {
		if contact != "" && r.VerificationToken == "" {
			problems.Add(path, "must be proved by a verificationToken, of otp_init and otp_verify; or leave it out, and add it after the login")
		}
	}
	if r.UserEmail != "" && r.UserPhoneNumber != "" {
		problems.Add("userPhoneNumber", "excludes userEmail: a verificationToken proves one of them; add the other after the login")
	}
	if r.VerificationToken != "" && r.UserEmail == "" && r.UserPhoneNumber == "" {
		problems.Add("verificationToken", "proves a contact: give it, as userEmail or userPhoneNumber")
	}
	if r.ClientSignature != nil && r.VerificationToken == "" {
		problems.Add("clientSignature", "is for a verificationToken; send both or neither")
	}
	if r.UserTag != "" {
		problems.Add("userTag", "is not served: a new organization has no tags; leave it out")
	}
}

// SignUpReply is the reply of signup.
type SignUpReply struct {
	OrganizationID string                  `json:"organizationId" doc:"The new sub-organization."`
	UserID         string                  `json:"userId" doc:"Its root user."`
	Wallet         *ops.CreateWalletResult `json:"wallet,omitzero" doc:"Its first wallet."`
	AppProofs      []jsontext.Value        `json:"appProofs" doc:"Always empty: there is no enclave to prove anything."`
}

func (c *call) signUp(r *SignUpRequest) (SignUpReply, error) {
	if err := c.checkMethods(r); err != nil {
		return SignUpReply{}, err
	}
	now := c.engine.Now().UnixMilli()
	created, err := submit[ops.SubOrganizationResult](c, "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8", c.org.ID, &ops.SubOrganizationParamsV8{
		SubOrganizationName: cmp.Or(r.OrganizationName, fmt.Sprintf("sub-org-%d", now)), RootQuorumThreshold: 1,
		RootUsers: []ops.RootUserParamsV5{{
			UserName: cmp.Or(r.UserName, fmt.Sprintf("user-%d", now)), UserEmail: r.UserEmail, UserPhoneNumber: r.UserPhoneNumber,
			APIKeys: r.APIKeys, Authenticators: r.Authenticators, OauthProviders: r.OauthProviders,
		}},
		Wallet: r.Wallet, VerificationToken: r.VerificationToken, ClientSignature: r.ClientSignature,
	})
	if err != nil {
		return SignUpReply{}, err
	}
	return SignUpReply{
		OrganizationID: created.SubOrganizationID, UserID: created.RootUserIDs[0], Wallet: created.Wallet, AppProofs: []jsontext.Value{},
	}, nil
}

// checkMethods refuses credentials that the configuration does not allow. A key
// that lasts is that of a wallet; one that expires is the session of a user who
// has something else.
func (c *call) checkMethods(r *SignUpRequest) error {
	need := [][]domain.AuthMethod{}
	if r.UserEmail != "" {
		need = append(need, []domain.AuthMethod{domain.MethodEmail})
	}
	if r.UserPhoneNumber != "" {
		need = append(need, []domain.AuthMethod{domain.MethodSMS})
	}
	if len(r.Authenticators) > 0 {
		need = append(need, []domain.AuthMethod{domain.MethodPasskey})
	}
	if len(r.OauthProviders) > 0 {
		need = append(need, domain.SocialMethods())
	}
	for _, k := range r.APIKeys {
		if k.ExpirationSeconds == 0 {
			need = append(need, []domain.AuthMethod{domain.MethodWallet})
		}
	}
	for _, accepted := range need {
		if err := c.requireMethod(accepted...); err != nil {
			return err
		}
	}
	return nil
}
