package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/ids"
	"latchkey/internal/outbox/notify"
	"latchkey/internal/proof/oidc"
	"latchkey/internal/store"
)

// outsideWait bounds how long anything outside is waited for.
const outsideWait = 10 * time.Second

// listen looks whether the address is free, or our own server has it.
func (d *doctor) listen(ctx context.Context) {
	const name = "listen"
	address := d.config.Listen
	listener, err := net.Listen("tcp", address)
	switch {
	case err == nil:
		_ = listener.Close()
		d.ok(name, "%s is free: no server runs there", address)
		return
	case !errors.Is(err, syscall.EADDRINUSE):
		d.fail(name, err.Error(), "name an address of this machine, and a port that its user may take")
		return
	}
	server, err := d.askServer(ctx, "/.well-known/latchkey.json")
	var known struct {
		Version string `json:"version"`
		Origin  string `json:"logOrigin"`
	}
	if err == nil {
		err = json.Unmarshal(server.body, &known)
	}
	if err != nil || !d.ours(known.Origin) {
		if sealed, err := d.askServer(ctx, "/readyz"); err == nil && strings.Contains(string(sealed.body), `"status":"sealed"`) {
			d.warn(name, "a server runs at "+address+", and is sealed", "latchkey unseal --config "+d.file+", once for each share")
			return
		}
		d.fail(name, "another program uses "+address, "stop it, or name another address as listen")
		return
	}
	ready, err := d.askServer(ctx, "/readyz")
	switch {
	case err != nil:
		d.fail(name, fmt.Sprintf("our server (version %s) runs at %s and does not answer: %v", known.Version, address, err), "look at its log")
	case ready.status != http.StatusOK:
		d.fail(name, fmt.Sprintf("our server (version %s) runs at %s and is not ready: %s", known.Version, address, message(ready.body)), "look at its log")
	default:
		d.ok(name, "our server (version %s) runs at %s and is ready", known.Version, address)
	}
}

// message is that of a refusal, or the whole body.
func message(body []byte) string {
	var refusal struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &refusal) == nil && refusal.Message != "" {
		return refusal.Message
	}
	return strings.TrimSpace(string(body))
}

// ours reports whether a log is one of the installation.
func (d *doctor) ours(origin string) bool {
	if d.installation == nil {
		return false
	}
	for _, epoch := range d.installation.Epochs {
		if epoch.Origin == origin {
			return true
		}
	}
	return false
}

type answer struct {
	status int
	body   []byte
}

// askServer asks the server at the interface's own address.
func (d *doctor) askServer(ctx context.Context, path string) (answer, error) {
	host, port, err := net.SplitHostPort(d.config.Listen)
	if err != nil {
		return answer{}, err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	scheme, transport := "http", &http.Transport{}
	if d.config.TLS.Enabled() {
		scheme = "https"
		// Whose the certificate is does not matter: the server is known by its log.
		transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // as above
	}
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, outsideWait)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+net.JoinHostPort(host, port)+path, nil)
	if err != nil {
		return answer{}, err
	}
	reply, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return answer{}, err
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(io.LimitReader(reply.Body, 64<<10))
	return answer{reply.StatusCode, body}, err
}

// soonOver is how long before its end a certificate should be renewed.
const soonOver = 14 * 24 * time.Hour

// certificate reads the TLS files.
func (d *doctor) certificate(context.Context) {
	const name = "certificate"
	if !d.config.TLS.Enabled() {
		d.skip(name, "the interface has no TLS of its own")
		return
	}
	pair, err := loadCertificate(d.config.TLS)
	if err != nil {
		d.fail(name, err.Error(), "put certificate and key in place, which belong together")
		return
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	now := d.Now()
	switch {
	case err != nil:
		d.fail(name, err.Error(), "put a certificate in place that can be read: PEM, the server's own first")
	case now.After(leaf.NotAfter) || now.Before(leaf.NotBefore):
		d.fail(name, fmt.Sprintf("it is good from %s to %s only", leaf.NotBefore.Format(time.DateOnly), leaf.NotAfter.Format(time.DateOnly)), "renew it; the server takes it within seconds")
	case now.Add(soonOver).After(leaf.NotAfter):
		d.warn(name, "it ends on "+leaf.NotAfter.Format(time.DateOnly), "renew it; the server takes it within seconds")
	default:
		d.ok(name, "it is good until %s", leaf.NotAfter.Format(time.DateOnly))
	}
}

// mail logs in to the mail server, and sends a message if one is asked for.
func (d *doctor) mail(ctx context.Context) {
	const name = "mail"
	if d.config.Mail.Host == "" {
		d.skip(name, "no mail is configured")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, outsideWait)
	defer cancel()
	router, err := newRouter(d.config)
	if err == nil {
		err = router.Mail.(*notify.SMTP).Try(ctx)
	}
	if err == nil && d.MailTo != "" {
		err = router.Mail.Send(ctx, d.testMessage(notify.OTPEmail, d.MailTo))
	}
	switch {
	case err != nil:
		d.fail(name, err.Error(), "correct mail in the config, or let this machine reach the mail server")
	case d.MailTo != "":
		d.ok(name, "%s took a message to %s", d.config.Mail.Host, d.MailTo)
	default:
		d.ok(name, "%s lets us in; --mail-to ADDRESS sends a message", d.config.Mail.Host)
	}
}

// testMessage is one whose code is none.
func (d *doctor) testMessage(kind notify.Kind, to string) *notify.Message {
	return &notify.Message{ID: ids.New(), Kind: kind, To: to, Code: "000000", CreatedAt: d.Now(), AppName: "latchkey doctor"}
}

// sms sends a message if one is asked for: nothing else can be known of a gateway.
func (d *doctor) sms(ctx context.Context) {
	const name = "sms"
	switch {
	case d.config.SMS.URL == "":
		d.skip(name, "no SMS are configured")
		return
	case d.SMSTo == "":
		d.skip(name, "a gateway tells nothing without a message; --sms-to NUMBER sends one")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, outsideWait)
	defer cancel()
	router, err := newRouter(d.config)
	if err == nil {
		err = router.SMS.Send(ctx, d.testMessage(notify.OTPSMS, d.SMSTo))
	}
	if err != nil {
		d.fail(name, err.Error(), "correct sms in the config, or let this machine reach the gateway")
		return
	}
	d.ok(name, "the gateway took a message to %s", d.SMSTo)
}

// issuersOf bounds in how many organizations issuers are looked for.
const issuersOf = 1000

// issuers asks those by whose tokens users log in for their keys.
func (d *doctor) issuers(ctx context.Context) {
	const name = "issuers"
	if d.image == nil {
		d.skip(name, "there is no database that names any")
		return
	}
	known, all, err := store.NewInspector(nil).Issuers(ctx, d.image, issuersOf)
	if err != nil {
		d.fail(name, err.Error(), "latchkey audit verify --config "+d.file)
		return
	}
	of := ""
	if !all {
		of = fmt.Sprintf(" of the first %d organizations", issuersOf)
	}
	if len(known) == 0 {
		d.skip(name, "no user"+of+" logs in by OpenID Connect")
		return
	}
	verifier := oidc.New(oidc.Options{Timeout: d.config.OIDC.Timeout})
	var failed []string
	for _, issuer := range known {
		if err := verifier.Reach(ctx, issuer); err != nil {
			failed = append(failed, err.Error())
		}
	}
	if len(failed) > 0 {
		d.warn(name, fmt.Sprintf("%d of %d issuers%s do not give their keys: %s", len(failed), len(known), of, strings.Join(failed, "; ")), "allow outgoing https to them")
		return
	}
	d.ok(name, "%d issuers%s give their keys", len(known), of)
}

// witnesses asks each for the newest checkpoint that it knows.
func (d *doctor) witnesses(ctx context.Context) {
	const name = "witnesses"
	if len(d.config.Log.Witnesses) == 0 {
		d.skip(name, "the log has none")
		return
	}
	if d.installation == nil || len(d.installation.Epochs) == 0 {
		d.skip(name, "there is no log yet")
		return
	}
	all, err := newWitnesses(&d.config.Log)
	if err != nil {
		d.fail(name, err.Error(), "correct log.witnesses: its keys are those that latchkey witness prints")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, outsideWait)
	defer cancel()
	var failed []string
	for _, w := range all {
		if _, err := w.Knows(ctx, presentOrigin(d.installation)); err != nil {
			failed = append(failed, w.Name()+": "+err.Error())
		}
	}
	switch {
	case len(all)-len(failed) < d.config.Log.Quorum:
		d.fail(name, "too few answer for log.quorum, so that no checkpoint is published: "+strings.Join(failed, "; "), "let this machine reach them")
	case len(failed) > 0:
		d.warn(name, strings.Join(failed, "; "), "let this machine reach them")
	default:
		d.ok(name, "%d answer", len(all))
	}
}

func presentOrigin(i *domain.Installation) string { return i.Epochs[len(i.Epochs)-1].Origin }
