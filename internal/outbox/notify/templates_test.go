package notify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folder makes a folder of templates.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestOverride(t *testing.T) {
	dir := folder(t, map[string]string{
		"otp_email.subject.txt": "{{.Vars.greeting}}:\n  {{.AppName}}\n",
		"otp_email.html":        `<p title="{{.Vars.greeting}}">{{.Code}} <a href="{{.Link}}">{{.AppName}}</a> {{.Vars.absent}}</p>`,
		"otp_sms.txt":           "Code {{.Code}} for {{.To}}\n",
		".DS_Store":             "not a template",
	})
	// A mounted folder of a cluster holds its files behind symbolic links.
	if err := os.Mkdir(filepath.Join(dir, "..data"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "..data", "email_auth.txt"), []byte("mine: {{.Bundle}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("..data", "email_auth.txt"), filepath.Join(dir, "email_auth.txt")); err != nil {
		t.Fatal(err)
	}
	templates, err := LoadTemplates(dir)
	if err != nil {
		t.Fatal(err)
	}

	m := fullMessage(OTPEmail)
	m.MagicLinkTemplate = "myapp://login?x=1&code=%s"
	c, err := templates.render(m)
	if err != nil {
		t.Fatal(err)
	}
	if want := `Hello <i>there</i>: Zoë & <b>"Söhne"</b>`; c.subject != want {
		t.Errorf("subject %q, want %q", c.subject, want)
	}
	if want := `<p title="Hello &lt;i&gt;there&lt;/i&gt;">` + testCode + ` <a href="myapp://login?x=1&amp;code=` + testCode +
		`">Zoë &amp; &lt;b&gt;&#34;Söhne&#34;&lt;/b&gt;</a> </p>`; c.html != want {
		t.Errorf("html %s\nwant %s", c.html, want)
	}
	if !strings.Contains(c.text, "If you did not ask") {
		t.Errorf("the built-in text is gone: %s", c.text)
	}
	if c, err = templates.render(message(OTPSMS)); err != nil || c.text != "Code "+testCode+" for +15550100" {
		t.Errorf("sms %+v, %v", c, err)
	}
	if c, err = templates.render(message(EmailAuth)); err != nil || c.text != "mine: "+testBundle {
		t.Errorf("text %+v, %v", c, err)
	}
	// The client's template for an SMS wins over the operator's.
	m = message(OTPSMS)
	m.SMSTemplate = "{{.OtpCode}}: {{.OtpCode}}"
	if c, err = templates.render(m); err != nil || c.text != testCode+": "+testCode {
		t.Errorf("sms %+v, %v", c, err)
	}
}

func TestOverrideMistakes(t *testing.T) {
	for _, tt := range []struct{ name, file, text, want string }{
		{"misspelt name", "otp_emial.txt", "{{.Code}}", "is otp_email.txt meant?"},
		{"unknown name", "README.md", "", "the names are otp_email.subject.txt, otp_email.txt,"},
		{"does not parse", "otp_email.txt", "{{.Code", "unclosed action"},
		{"html does not parse", "otp_email.html", "{{if .Code}}", "unexpected EOF"},
		{"unknown function", "otp_email.txt", "{{.Code | shout}}", `function "shout" not defined`},
		{"unknown variable", "otp_email.txt", "{{.Code}} {{.OtpCode}}", "the variables are .AppName,"},
		{"unknown variable where there is a link", "email_auth.txt", "{{.Bundle}}{{if .Link}}{{.Typo}}{{end}}", "Typo"},
		{"unknown variable where there is no logo", "email_auth.html", "{{.Bundle}}{{if .LogoURL}}{{else}}{{.Typo}}{{end}}", "Typo"},
		{"unknown variable where two are absent", "otp_sms.txt", "{{.Code}}{{if not (or .AppName .UserID)}}{{.Typo}}{{end}}", "Typo"},
		{"unknown template", "otp_email.txt", `{{.Code}}{{template "footer"}}`, "footer"},
		{"html that cannot be escaped", "otp_email.html", `{{.Code}}<a href={{if .Link}}"{{else}}'{{end}}>`, "{{if}} branches end in different contexts"},
		{"no code", "otp_email.txt", "Hello {{.AppName}}", "it must show {{.Code}}"},
		{"no code in html", "otp_email.html", "<p>Hello</p>", "it must show {{.Code}}"},
		{"no code in an SMS", "otp_sms.txt", "Hello", "it must show {{.Code}}"},
		{"no code without a link", "otp_email.txt", "{{with .Link}}{{.}}{{end}}", "also where .Link is empty"},
		{"no bundle", "email_auth.txt", "{{.Code}}", "it must show {{.Bundle}}"},
		{"no bundle for recovery", "email_recovery.html", "{{.Link}}", "it must show {{.Bundle}}"},
		{"empty subject", "otp_email.subject.txt", " \n", "the subject must not be empty"},
		{"subject of an absent name", "email_auth.subject.txt", "{{.AppName}}", "the subject must not be empty"},
		{"large", "otp_email.txt", strings.Repeat(" ", maxTemplate) + "{{.Code}}", "at most 256 KiB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t, map[string]string{tt.file: tt.text, "email_recovery.subject.txt": "good"})
			_, err := LoadTemplates(dir)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), filepath.Join(dir, tt.file)) {
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
		})
	}
	t.Run("all at once", func(t *testing.T) {
		_, err := LoadTemplates(folder(t, map[string]string{"otp_sms.txt": "", "x": "", "email_auth.txt": "{{"}))
		for _, name := range []string{"otp_sms.txt", "/x:", "email_auth.txt"} {
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("got %v, want %s", err, name)
			}
		}
	})
	t.Run("a folder", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "otp_sms.txt"), 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadTemplates(dir); err == nil || !strings.Contains(err.Error(), "it must be a file") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a link to nothing", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Symlink("nowhere", filepath.Join(dir, "otp_sms.txt")); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadTemplates(dir); err == nil || !strings.Contains(err.Error(), "otp_sms.txt") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no folder", func(t *testing.T) {
		if _, err := LoadTemplates(filepath.Join(t.TempDir(), "none")); err == nil {
			t.Error("there is no error")
		}
	})
}

// A template that fails on one message only keeps its reason, which may quote
// the message, and can be corrected: the message is tried again.
func TestTemplateFailsLater(t *testing.T) {
	templates, err := LoadTemplates(folder(t, map[string]string{
		"otp_email.txt": `{{.Code}}{{with .Vars.n}}{{index $.Code (len .)}}{{slice $.Code 0 (len .)}}{{end}}`,
	}))
	if err != nil {
		t.Fatal(err)
	}
	m := message(OTPEmail)
	m.TemplateVariables = `{"n":"` + strings.Repeat("x", 100) + `"}`
	_, err = templates.render(m)
	wantPermanent(t, err, false)
	if !strings.Contains(err.Error(), "otp_email.txt") {
		t.Errorf("got %v", err)
	}
}

func TestTemplateFiles(t *testing.T) {
	entries, err := defaults.ReadDir("templates")
	if err != nil {
		t.Fatal(err)
	}
	if got := len(entries); got != len(TemplateFiles()) {
		t.Errorf("%d files are built in, %d are known", got, len(TemplateFiles()))
	}
}
