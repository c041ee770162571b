package ops

import (
	"net/url"
	"strings"
)

// originsProblem says what is wrong with a list of pages whose passkeys an
// organization accepts, "" if nothing is. Origins are compared as they are
// written, so that each must be written as browsers do.
func originsProblem(value string) string {
	list := strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
	if len(list) == 0 {
		return "must be one or more origins such as https://wallet.example.com, separated by commas; or * for all"
	}
	for _, origin := range list {
		if problem := originProblem(origin); problem != "" {
			return problem
		}
	}
	return ""
}

func originProblem(origin string) string {
	if key, ok := strings.CutPrefix(origin, "android:apk-key-hash:"); ok && len(key) == 43 || origin == "*" {
		return ""
	}
	scheme, host, _ := strings.Cut(origin, "://")
	at, err := url.Parse(origin)
	if err != nil || at.Hostname() == "" || strings.HasSuffix(host, ":") || strings.ContainsFunc(host, notInHost) {
		return "must hold origins as browsers write them: scheme, host and port only, in lower case, without a slash at the end, such as https://wallet.example.com"
	}
	local := at.Hostname() == "localhost" || at.Hostname() == "127.0.0.1" || at.Hostname() == "::1"
	switch {
	case scheme != "https" && (scheme != "http" || !local):
		return "must hold origins with https (http works for localhost only), or of Android apps: android:apk-key-hash: and the base64url of the hash"
	case scheme == "https" && at.Port() == "443" || scheme == "http" && at.Port() == "80":
		return "must hold origins as browsers write them: without the usual port of the scheme"
	default:
		return ""
	}
}

// notInHost holds for what no browser writes in the host or port of an origin.
func notInHost(r rune) bool {
	return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789.-:[]", r)
}
