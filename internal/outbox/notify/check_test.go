package notify

import (
	"strings"
	"testing"
)

func TestCheckMagicLinkTemplate(t *testing.T) {
	for _, good := range []string{
		"https://app.example.com/%s",
		"https://app.example.com/?bundle=%s",
		"https://app.example.com/login#bundle=%s&x=1",
		"http://localhost:3000/email-auth?userEmail=a%40b.com&credentialBundle=%s",
		"https://[::1]:8443/%s",
		"HTTPS://app.example.com/%s",
		"myapp://auth?bundle=%s",
		"com.example.app://%s",
		"exp+my-app://auth/%s",
	} {
		if err := CheckMagicLinkTemplate(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, tt := range []struct{ name, text string }{
		{"empty", ""},
		{"no placeholder", "https://app.example.com/"},
		{"two placeholders", "https://app.example.com/%s/%s"},
		{"placeholder only", "%s"},
		{"other placeholder", "https://app.example.com/%d"},
		{"no scheme", "app.example.com/%s"},
		{"relative", "/login/%s"},
		{"no host", "https:///%s"},
		{"port only", "https://:443/%s"},
		{"secret as the host", "https://%s"},
		{"secret in the host", "https://%s.example.com/"},
		{"secret as the port", "https://example.com:%s/"},
		{"password", "https://a:b@example.com/%s"},
		{"user", "https://bank.example@evil.example/%s"},
		{"secret as the scheme", "%s://example.com"},
		{"host with quotes", "https://a'b/%s"},
		{"escape in the host", "myapp://a%27b/%s"},
		{"script", "javascript://%0aalert(1)//%s"},
		{"script in capitals", "JavaScript://%0aalert(1)//%s"},
		{"script without slashes", "javascript:alert('%s')"},
		{"data", "data:text/html,%s"},
		{"data with slashes", "data://text/html,%s"},
		{"file", "file:///etc/%s"},
		{"slashes later", "mailto:a?x=://%s"},
		{"space", "https://app.example.com/ %s"},
		{"line end", "https://app.example.com/%s\r\nBcc: x"},
		{"quote", `https://app.example.com/%s"onclick="x`},
		{"angle bracket", "https://app.example.com/%s<script>"},
		{"beyond ASCII", "https://app.example.com/é/%s"},
		{"not UTF-8", "https://app.example.com/\xff/%s"},
		{"bad escape", "https://app.example.com/%zz/%s"},
		{"bad escape in the query", "https://app.example.com/?a=%zz&b=%s"},
		{"escape at the end", "https://app.example.com/?b=%s&a=%4"},
		{"doubled percent", "https://app.example.com/?b=%%s"},
		{"secret within an escape", "https://app.example.com/?b=%4%s"},
		{"long", "https://app.example.com/" + strings.Repeat("a", 2000) + "%s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := CheckMagicLinkTemplate(tt.text)
			if err == nil || !strings.HasPrefix(err.Error(), "invalid magic link template: it must") &&
				!strings.HasPrefix(err.Error(), "invalid magic link template: %s must") &&
				!strings.HasPrefix(err.Error(), "invalid magic link template: the scheme") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestCheckTemplateVariables(t *testing.T) {
	for _, good := range []string{"{}", ` {"a":"b","c":""} `, `{"name with spaces":"é\n"}`} {
		if err := CheckTemplateVariables(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", "null", "[]", `"a"`, "{", `{"a":1}`, `{"a":true}`, `{"a":{"b":"c"}}`, `{"a":["b"]}`, `{"a":"b","a":"c"}`, `{"a":"b"} {}`,
		"{\"a\":\"\xff\"}", `{"a":"` + strings.Repeat("b", maxVariables) + `"}`,
	} {
		err := CheckTemplateVariables(bad)
		if err == nil || !strings.HasPrefix(err.Error(), "failed to unmarshal template variables: they must") || len(err.Error()) > 200 {
			t.Errorf("%.40s: %v", bad, err)
		}
	}
}

func TestCheckSMSTemplate(t *testing.T) {
	for _, good := range []string{"{{.OtpCode}}", "Your code is {{.OtpCode}}.\nOr {{.OtpCode}}", "Код: {{.OtpCode}} }}", "{ {.OtpCode} {{.OtpCode}}"} {
		if err := CheckSMSTemplate(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, tt := range []struct{ name, text string }{
		{"empty", ""},
		{"no placeholder", "Your code"},
		{"spaces", "{{ .OtpCode }}"},
		{"other case", "{{.otpCode}}"},
		{"other placeholder", "{{.OtpCode}} {{.AppName}}"},
		{"action", "{{.OtpCode}}{{range $i, $c := .OtpCode}}{{end}}"},
		{"placeholder within another", "{{{{.OtpCode}}.OtpCode}}"},
		{"control character", "{{.OtpCode}}\x1b[0m"},
		{"carriage return", "{{.OtpCode}}\r\n"},
		{"not UTF-8", "{{.OtpCode}}\xff"},
		{"long", "{{.OtpCode}}" + strings.Repeat("é", 470)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := CheckSMSTemplate(tt.text); err == nil || !strings.HasPrefix(err.Error(), "invalid SMS template: it") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestCheckLogoURL(t *testing.T) {
	for _, good := range []string{"https://example.com/a.png", "http://localhost:3000/a.png?b=%20"} {
		if err := CheckLogoURL(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"", "a.png", "//example.com/a.png", "https://", "javascript:alert(1)", "data:image/png;base64,AA==", "https://a@b.com/", "https://a.com/ b", "https://a.com/\"", "https://a.com/" + strings.Repeat("a", 2000)} {
		if err := CheckLogoURL(bad); err == nil || !strings.HasPrefix(err.Error(), "invalid logo URL: it must") {
			t.Errorf("%.40s: %v", bad, err)
		}
	}
}
