package ops

import (
	"context"
	"crypto/ecdh"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/outbox/notify"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/schema"
)

// CreateInvitations creates users who register their first credential by a link
// that is mailed to them.
var CreateInvitations = activity.Op[CreateInvitationsParams, CreateInvitationsResult]{
	Spec: activity.Spec{
		Name: "create_invitations", Version: 1,
		Summary: "Create users, and mail each a link, good for a week and for one use, with which they register a passkey.",
		Govern:  activity.Govern{Resource: activity.ResourceInvitation, Action: activity.ActionCreate},
	},
	Facts: func(f activity.Facts, p *CreateInvitationsParams) error {
		var given []string
		for _, i := range p.Invitations {
			given = append(given, i.ReceiverUserTags...)
		}
		return tagFacts(f, given, nil)
	},
	Adds: func(*CreateInvitationsParams) decide.Added { return lastingAccess }, // each link registers a passkey
	Exec: createInvitations,
}

// CreateInvitationsParams are the parameters of create_invitations.
type CreateInvitationsParams struct {
	Invitations []InvitationParams `json:"invitations" check:"required,min=1,max=100" doc:"Whom to invite."`
}

// InvitationParams describes one invitation.
type InvitationParams struct {
	ReceiverUserName  string     `json:"receiverUserName" check:"required,label" doc:"Name of the new user, unique in the organization."`
	ReceiverUserEmail string     `json:"receiverUserEmail" check:"required,email" doc:"E-mail address of the new user, to which the link is mailed."`
	ReceiverUserTags  []string   `json:"receiverUserTags" check:"required,max=100,unique,each=uuid" doc:"Tags of the new user; may be empty."`
	AccessType        AccessType `json:"accessType" check:"required" doc:"Kept for older callers; every user may use all of their credentials."`
	SenderUserID      string     `json:"senderUserId" check:"required,uuid" doc:"User of the organization who invites."`
}

// Check refuses a name that is given twice.
func (p *CreateInvitationsParams) Check(problems *schema.Problems) {
	seen := map[string]bool{}
	for i, one := range p.Invitations {
		if seen[one.ReceiverUserName] {
			problems.Add(fmt.Sprintf("invitations.%d.receiverUserName", i), "is given twice in this request")
		}
		seen[one.ReceiverUserName] = true
	}
}

// CreateInvitationsResult is the result of create_invitations.
type CreateInvitationsResult struct {
	InvitationIDs []string `json:"invitationIds" check:"required,each=uuid" doc:"Ids of the invitations, in the order of the request."`
}

const (
	invitationLasts = 7 * 24 * time.Hour
	// maxInvitations is how many an organization has at most that nobody has deleted.
	maxInvitations = 100
)

func createInvitations(_ context.Context, e activity.Env, p *CreateInvitationsParams) (CreateInvitationsResult, error) {
	var result CreateInvitationsResult
	if err := requireSending(e, notify.Invitation); err != nil {
		return result, err
	}
	if e.ConsoleURL == "" {
		return result, fault.New(fault.FailedPrecondition, fault.ReasonUnspecified,
			"invitations lead to the console, whose address is not known: the operator sets console.enabled and console.origin in the config")
	}
	if err := checkLimit(maxInvitations, "invitations", func(n int) (int, error) {
		list, err := e.Tx.Invitations().List("", n)
		return len(list) + len(p.Invitations) - 1, err
	}); err != nil {
		return result, err
	}
	users, err := e.Tx.Users().List("", 0)
	if err != nil {
		return result, err
	}
	if e.Limits.Users > 0 && len(users)+len(p.Invitations) > e.Limits.Users {
		return result, fault.Exhausted("the organization has %d users and may have at most %d", len(users), e.Limits.Users)
	}
	org, err := e.Tx.Organization()
	if err != nil {
		return result, err
	}
	for _, one := range p.Invitations {
		id, err := invite(e, org, one)
		if err != nil {
			return CreateInvitationsResult{}, err
		}
		result.InvitationIDs = append(result.InvitationIDs, id)
	}
	return result, nil
}

// invite creates the user with a key that serves for recover_user alone, and mails
// the link that holds the key.
func invite(e activity.Env, org *domain.Organization, p InvitationParams) (string, error) {
	sender, err := e.Tx.Users().Get(p.SenderUserID)
	if err != nil {
		return "", err
	}
	for _, tag := range p.ReceiverUserTags {
		if err := requireTag(e.Tx, tag, domain.TagUser); err != nil {
			return "", err
		}
	}
	private, public, err := linkKey()
	if err != nil {
		return "", err
	}
	key := domain.APIKey{
		ID: e.NewID(), Name: "Invitation", PublicKey: public, Type: domain.CredentialRecovery,
		ExpirationSeconds: uint64(invitationLasts / time.Second), CreatedAt: e.Now, UpdatedAt: e.Now,
	}
	user := &domain.User{
		ID: e.NewID(), Name: p.ReceiverUserName, Email: p.ReceiverUserEmail, TagIDs: slices.Clone(p.ReceiverUserTags),
		APIKeys: []domain.APIKey{key}, CreatedAt: e.Now, UpdatedAt: e.Now,
	}
	if err := e.Tx.Users().Insert(user); err != nil {
		return "", err
	}
	invitation := &domain.Invitation{
		ID: e.NewID(), UserID: user.ID, KeyID: key.ID, SenderID: sender.ID, AccessType: string(p.AccessType), CreatedAt: e.Now,
	}
	if err := e.Tx.Invitations().Insert(invitation); err != nil {
		return "", err
	}
	// The organization is in the link: a user who was just created knows no other place.
	return invitation.ID, post(e, notify.Message{
		Kind: notify.Invitation, To: user.Email, UserID: user.ID, AppName: org.Name,
		Bundle: org.ID + "." + private, ExpiresAt: e.Now.Add(invitationLasts),
	}, Sender{}, EmailLook{MagicLinkTemplate: e.ConsoleURL + "#invite=%s"})
}

// linkKey makes a P-256 key that is in a link and nowhere else: its private half, 64
// hex digits, and its public half, compressed.
func linkKey() (private, public string, err error) {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return "", "", err
	}
	point := key.PublicKey().Bytes()
	x, y := new(big.Int).SetBytes(point[1:33]), new(big.Int).SetBytes(point[33:])
	return hex.EncodeToString(key.Bytes()), hex.EncodeToString(elliptic.MarshalCompressed(elliptic.P256(), x, y)), nil
}
