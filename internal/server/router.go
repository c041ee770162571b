package server

import (
	"fmt"
	"time"

	"latchkey/internal/outbox/notify"
	"latchkey/internal/server/config"
)

// newRouter makes the senders of mail and SMS that the config names. It opens no
// connection.
func newRouter(c *config.Config) (*notify.Router, error) {
	templates, err := notify.LoadTemplates(c.Templates)
	if err != nil {
		return nil, err
	}
	r := &notify.Router{Now: time.Now}
	if c.Dev.Outbox != "" {
		folder, err := notify.NewFolder(c.Dev.Outbox, templates)
		if err != nil {
			return nil, err
		}
		r.Mail, r.SMS = folder, folder
		return r, nil
	}
	if c.Mail.Host != "" {
		if r.Mail, err = newMail(&c.Mail, templates); err != nil {
			return nil, fmt.Errorf("the config's mail: %w", err)
		}
	}
	if c.SMS.URL != "" {
		if r.SMS, err = newSMS(&c.SMS, templates); err != nil {
			return nil, fmt.Errorf("the config's sms: %w", err)
		}
	}
	return r, nil
}

// poll is how often the outbox looks for messages. The user of a development
// server waits for the file.
func poll(c *config.Config) time.Duration {
	if c.Dev.Outbox != "" {
		return 200 * time.Millisecond
	}
	return time.Second
}

func newMail(c *config.Mail, t *notify.Templates) (*notify.SMTP, error) {
	password, err := c.Password.Reveal()
	if err != nil {
		return nil, fmt.Errorf("password: %w", err)
	}
	return notify.NewSMTP(notify.SMTPConfig{
		Host: c.Host, Port: c.Port, TLS: notify.TLSMode(c.TLS), CAFile: c.CA,
		Username: c.Username, Password: notify.Secret(password),
		From: c.From, FromName: c.FromName, AllowFrom: c.AllowFrom,
		Hello: c.Hello, Timeout: c.Timeout,
	}, t)
}

func newSMS(c *config.SMS, t *notify.Templates) (*notify.Gateway, error) {
	url, err := c.URL.Reveal()
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	headers := map[string]notify.Secret{}
	for name, source := range c.Headers {
		value, err := source.Reveal()
		if err != nil {
			return nil, fmt.Errorf("headers.%s: %w", name, err)
		}
		headers[name] = notify.Secret(value)
	}
	return notify.NewGateway(notify.SMSConfig{
		URL: notify.Secret(url), Headers: headers, ContentType: c.ContentType, Body: c.Body,
		CAFile: c.CA, Timeout: c.Timeout,
	}, t)
}
