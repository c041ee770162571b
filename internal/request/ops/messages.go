package ops

import (
	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/outbox/notify"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// This file holds what the operations that send a message have in common.

// EmailCustomization says how a mail looks, in older versions.
type EmailCustomization struct {
	AppName string `json:"appName,omitzero" check:"label" doc:"Name of the app, as the mail shows it."`
	EmailLook
}

// EmailAuthCustomization says how a mail looks, and for which app it is.
type EmailAuthCustomization struct {
	AppName string `json:"appName" check:"required,label" doc:"Name of the app, as the mail shows it."`
	EmailLook
}

// Check refuses what cannot be shown.
func (c *EmailCustomization) Check(problems *schema.Problems) { c.EmailLook.check(problems) }

// Check refuses what cannot be shown.
func (c *EmailAuthCustomization) Check(problems *schema.Problems) { c.EmailLook.check(problems) }

// Check refuses what cannot be shown.
func (c *EmailCustomizationV2) Check(problems *schema.Problems) { c.EmailLook.check(problems) }

// EmailCustomizationV2 says how a mail looks.
type EmailCustomizationV2 struct{ EmailLook }

// EmailLook is what the customizations of mails have in common.
type EmailLook struct {
	LogoURL           string `json:"logoUrl,omitzero" check:"max=2000" doc:"Picture to show; an https URL." example:"https://app.example.com/logo.png"`
	MagicLinkTemplate string `json:"magicLinkTemplate,omitzero" check:"max=2000" doc:"Link to show; %s stands for the secret." example:"https://app.example.com/login?bundle=%s"`
	TemplateVariables string `json:"templateVariables,omitzero" check:"max=16384" doc:"JSON object of texts for the operator's own templates." example:"{\"greeting\":\"Hello\"}"`
	TemplateID        string `json:"templateId,omitzero" check:"max=256,unsampled" doc:"Name of a template of the hosted service. Templates are the operator's files here: leave it out."`
}

// check refuses what cannot be shown.
func (c *EmailLook) check(problems *schema.Problems) {
	for _, p := range []struct {
		path, text string
		check      func(string) error
	}{
		{"logoUrl", c.LogoURL, notify.CheckLogoURL},
		{"magicLinkTemplate", c.MagicLinkTemplate, notify.CheckMagicLinkTemplate},
		{"templateVariables", c.TemplateVariables, notify.CheckTemplateVariables},
	} {
		if p.text == "" {
			continue
		}
		if err := p.check(p.text); err != nil {
			problems.Add(p.path, "%v", err)
		}
	}
	if c.TemplateID != "" {
		problems.Add("templateId", "templates are files of the operator here; leave it out")
	}
}

// SMSCustomization says what a short message says.
type SMSCustomization struct {
	Template string `json:"template,omitzero" check:"max=480" doc:"Text of the message; {{.OtpCode}} stands for the code." example:"Your code is {{.OtpCode}}"`
}

// Check refuses a text without a place for the code.
func (c *SMSCustomization) Check(problems *schema.Problems) {
	if c.Template == "" {
		return
	}
	if err := notify.CheckSMSTemplate(c.Template); err != nil {
		problems.Add("template", "%v", err)
	}
}

// Sender says who a mail is from.
type Sender struct {
	SendFromEmailAddress    string `json:"sendFromEmailAddress,omitzero" check:"email" doc:"Address that the mail is from, if the operator's mail server lets it."`
	SendFromEmailSenderName string `json:"sendFromEmailSenderName,omitzero" check:"label" doc:"Name that the mail is from."`
	ReplyToEmailAddress     string `json:"replyToEmailAddress,omitzero" check:"email" doc:"Address that answers go to."`
}

// requireSending refuses a message that the server has no means to send.
func requireSending(e activity.Env, k notify.Kind) error {
	if e.Outbox.Enabled(k) {
		return nil
	}
	if !k.IsMail() {
		return fault.New(fault.InvalidArgument, fault.ReasonSMSDisabled, "sending SMS is disabled: the operator has configured no gateway")
	}
	return fault.New(fault.InvalidArgument, fault.ReasonSendingDisabled, "email sending is disabled: the operator has configured no mail server")
}

// post puts a message into the outbox. It is committed with the activity.
func post(e activity.Env, m notify.Message, s Sender, c EmailLook) error {
	m.ID, m.OrganizationID, m.CreatedAt = e.NewID(), e.Tx.Org(), e.Now
	m.FromAddress, m.FromName, m.ReplyTo = s.SendFromEmailAddress, s.SendFromEmailSenderName, s.ReplyToEmailAddress
	m.LogoURL, m.MagicLinkTemplate, m.TemplateVariables = c.LogoURL, c.MagicLinkTemplate, c.TemplateVariables
	if err := e.Outbox.Check(&m); err != nil {
		return fault.Invalid("%v", err)
	}
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	sealed, err := e.ServerKeys.SealMessage(domain.OutboxPurpose, body)
	if err != nil {
		return err
	}
	message := &domain.Message{
		ID: m.ID, OrganizationID: m.OrganizationID, From: e.Outbox.From(&m), Sealed: sealed, CreatedAt: e.Now, ExpiresAt: m.ExpiresAt,
	}
	if m.Kind.IsMail() {
		message.Recipient = domain.MailRecipient(m.To)
	}
	return e.Tx.Post(message)
}

// parts are the name of the app and the look, of a customization that may be
// absent.
func (c *EmailCustomization) parts() (app string, look EmailLook) {
	if c == nil {
		return "", EmailLook{}
	}
	return c.AppName, c.EmailLook
}
