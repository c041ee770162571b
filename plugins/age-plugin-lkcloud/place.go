package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
)

// The clouds, as they are named before a key.
const (
	aws   = "aws"
	gcp   = "gcp"
	azure = "azure"
)

// place is a key of a cloud, and whose secret it is to guard.
type place struct {
	name      string // of the recipient of the seal
	recipient string // age1…
	cloud     string
	key       string // as the cloud names it
}

var forms = map[string]struct {
	key  *regexp.Regexp
	want string
}{
	aws: {
		regexp.MustCompile(`^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:(key/[A-Za-z0-9-]+|alias/[A-Za-z0-9/_-]+)$`),
		"a key of AWS is named by its whole ARN, aws:arn:aws:kms:REGION:ACCOUNT:key/ID or …:alias/NAME",
	},
	gcp: {
		regexp.MustCompile(`^projects/[a-z0-9.:-]+/locations/[a-z0-9-]+/keyRings/[A-Za-z0-9_-]+/cryptoKeys/[A-Za-z0-9_-]+$`),
		"a key of Google Cloud is named by gcp:projects/PROJECT/locations/LOCATION/keyRings/RING/cryptoKeys/KEY, without a version",
	},
	azure: {
		regexp.MustCompile(`^https://[a-z0-9-]+(\.[a-z0-9-]+)+(:[0-9]+)?/keys/[A-Za-z0-9-]{1,127}(/[A-Za-z0-9]{1,64})?$`),
		"a key of Azure is named by its address, azure:https://VAULT.vault.azure.net/keys/NAME, after which /VERSION may come",
	},
}

// parsePlace reads NAME age1… KEY, as latchkey writes it.
func parsePlace(text string) (place, error) {
	parts := strings.SplitN(text, " ", 3)
	if len(parts) != 3 || parts[0] == "" || !strings.HasPrefix(parts[1], "age1") {
		return place{}, errors.New("this program is of another version than latchkey: it was not told whose key it is to guard")
	}
	cloud, key, _ := strings.Cut(parts[2], ":")
	form, known := forms[cloud]
	if !known {
		return place{}, fmt.Errorf("%.120q: a key begins with its cloud: aws:ARN, gcp:NAME or azure:URL", parts[2])
	}
	if !form.key.MatchString(key) {
		return place{}, fmt.Errorf("%.120q: %s", parts[2], form.want)
	}
	return place{parts[0], parts[1], cloud, key}, nil
}

var versions = map[string]*regexp.Regexp{
	gcp:   regexp.MustCompile(`^/cryptoKeyVersions/[0-9]+$`),
	azure: regexp.MustCompile(`^/[A-Za-z0-9]{1,64}$`),
}

// has is true if an id, which a service has answered with, is this key, a version of
// it, or may be what its alias stands for: a key of the same account and region.
func (p place) has(id string) bool {
	if p.cloud == aws {
		account, _, alias := strings.Cut(p.key, ":alias/")
		if !alias {
			return id == p.key
		}
		return strings.HasPrefix(id, account+":key/") && forms[aws].key.MatchString(id)
	}
	if p.cloud == azure && p.version() != "" {
		return id == p.key
	}
	version, ok := strings.CutPrefix(id, p.key)
	return ok && versions[p.cloud].MatchString(version)
}

// region is that of a key of AWS.
func (p place) region() string { return strings.Split(p.key, ":")[3] }

// vault, keyName and version are those of a key of Azure; the last may be empty.
func (p place) vault() string {
	vault, _, _ := strings.Cut(p.key, "/keys/")
	return vault
}

func (p place) keyName() string {
	_, path, _ := strings.Cut(p.key, "/keys/")
	name, _, _ := strings.Cut(path, "/")
	return name
}

func (p place) version() string {
	_, path, _ := strings.Cut(p.key, "/keys/")
	_, version, _ := strings.Cut(path, "/")
	return version
}

// checkEndpoint refuses an address, set in place of the service's own, on the way to
// which others can read the secret.
func checkEndpoint(setting, text string) error {
	at, err := url.Parse(text)
	if err != nil || at.Host == "" {
		return fmt.Errorf("%s must be the address of a service, such as https://kms.example.com", setting)
	}
	if at.Scheme == "https" || at.Scheme == "http" && (at.Hostname() == "localhost" || net.ParseIP(at.Hostname()).IsLoopback()) {
		return nil
	}
	return fmt.Errorf("%s must begin with https: the key of the recipient travels there (http is for this machine alone)", setting)
}
