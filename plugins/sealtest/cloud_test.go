package sealtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"latchkey/plugins/sealtest/cloud"
)

// clouds are keys of the services, and what is told apart in the tests of all three.
var clouds = map[string]struct {
	key, other string // as --kms names them
	service    string // as texts name it
	id         string // of the very key, which the seal keeps
	rotated    string // the same after a rotation
}{
	"aws":   {"aws:" + cloud.AWSKey, "aws:" + cloud.AWSOther, "AWS KMS", cloud.AWSKey, cloud.AWSKey},
	"gcp":   {"gcp:" + cloud.GCPKey, "gcp:" + cloud.GCPOther, "Google Cloud KMS", cloud.GCPKey + "/cryptoKeyVersions/1", cloud.GCPKey + "/cryptoKeyVersions/2"},
	"azure": {"azure:" + cloud.AzureKey, "azure:" + cloud.AzureOther, "Azure Key Vault", cloud.AzureKey + "/" + cloud.AzureVersion(1), cloud.AzureKey + "/" + cloud.AzureVersion(2)},
}

// newCloud is a site whose environment has credentials for the services.
func newCloud(t testing.TB) (*site, *cloud.Service) {
	t.Helper()
	s := newSite(t)
	service := cloud.New()
	t.Cleanup(service.Close)
	variables, files := service.Environment(s.dir)
	for name, text := range files {
		s.write(name, text)
	}
	// Nothing of the one who runs the test.
	s.env = append(append(s.env, "HOME="+s.dir), variables...)
	s.write("words", "correct horse\n")
	return s, service
}

// TestCloudOpens: a key of a cloud opens the seal at the start, without any secret in
// the config; away, people do it. All commands know it.
func TestCloudOpens(t *testing.T) {
	for name, c := range clouds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, service := newCloud(t)
			s.shares()
			s.must("seal", "init", "--seal", "seal.json", "--kms", "cloud="+c.key, "--people", "board=2/3", "--shares", "shares")
			if text := s.read("seal.json"); !strings.Contains(text, `"key": "`+c.key+`"`) || !strings.Contains(text, `"id": "`+c.id+`"`) {
				t.Errorf("the seal keeps %s", text)
			}
			if said := s.must("seal", "status", "--config", "latchkey.yaml", "--json"); !strings.Contains(said, `{"name":"cloud","kind":"kms"}`) {
				t.Errorf("status: %s", said)
			}
			organization := s.populate()
			server := s.serve("first.log")
			server.await(200, "")
			server.logged(`"recipient":"cloud"`)
			s.request(organization, "create_private_keys", newKey)
			before := s.request(organization, "list_private_keys")

			// A new version of the key encrypts what is added; the old one still opens.
			service.Rotate("latchkey")
			s.must("seal", "add", "--config", "latchkey.yaml", "--kms", "second="+c.key, "--passphrase", "desk", "--secret", "desk=file:words")
			if text := s.read("seal.json"); !strings.Contains(text, `"id": "`+c.rotated+`"`) {
				t.Errorf("the seal keeps %s", text)
			}
			if said := s.must("seal", "test", "--config", "latchkey.yaml", "cloud", "second", "--json"); strings.Count(said, `"ok":true`) != 2 {
				t.Errorf("test: %s", said)
			}
			s.must("seal", "remove", "--config", "latchkey.yaml", "second")
			s.must("vault", "rotate", "--config", "latchkey.yaml")
			s.must("seal", "test", "--config", "latchkey.yaml", "cloud")
			server.stop()

			// Away: the server stays sealed until people come.
			service.Close()
			s.refused(`recipient "cloud": `+c.service+" cannot be reached", "seal", "test", "--config", "latchkey.yaml", "cloud")
			server = s.serve("second.log")
			server.await(503, `"status":"sealed","recipient":"board","have":0,"need":2`)
			server.logged(c.service + " cannot be reached")
			s.unseal("board", 3, 1)
			server.await(200, "")
			if now := s.request(organization, "list_private_keys"); now != before {
				t.Errorf("%s, before %s", now, before)
			}
			server.stop()

			// Or another recipient opens it.
			s.configure("desk: file:words")
			server = s.serve("third.log")
			server.await(200, "")
			server.logged(c.service + " cannot be reached")
			server.logged(`"recipient":"desk"`)
			s.noSecret(cloud.Secret, "/robot.json")
		})
	}
}

// TestCloudAlone: without another way in, a service that is away ends the server.
func TestCloudAlone(t *testing.T) {
	s, service := newCloud(t)
	s.must("seal", "init", "--seal", "seal.json", "--kms", "cloud=aws:"+cloud.AWSAlias)
	if text := s.read("seal.json"); !strings.Contains(text, `"key": "aws:`+cloud.AWSAlias+`"`) || !strings.Contains(text, `"id": "`+cloud.AWSKey+`"`) {
		t.Errorf("the seal keeps %s", text)
	}
	s.must("seal", "test", "--config", "latchkey.yaml")
	service.Close()
	server := s.serve("log")
	server.ended()
	server.logged("no recipient opens it: cloud: ")
	server.logged("AWS KMS cannot be reached")
}

// TestCloudTrouble: what a service refuses is said with what to do, whether the seal is
// made or opened, and nothing is written.
func TestCloudTrouble(t *testing.T) {
	for name, c := range clouds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, service := newCloud(t)
			key := strings.TrimPrefix(c.key, name+":")
			s.must("seal", "init", "--seal", "seal.json", "--kms", "cloud="+c.key, "--passphrase", "desk", "--secret", "desk=file:words")
			before := s.read("seal.json")
			troubles := map[cloud.Trouble]string{
				cloud.Denied:   c.service + " refuses the use of " + key + ": grant these credentials ",
				cloud.Expired:  c.service + " does not take the credentials, which are wrong or have ended: ",
				cloud.Disabled: c.service + " does not use " + key + ": it is disabled",
				cloud.Busy:     c.service + " cannot answer now",
				cloud.OtherKey: c.service + " answered with the key ",
				cloud.Slow:     c.service + " did not answer within 15s",
			}
			if name == "gcp" {
				troubles[cloud.Damaged] = "what was sent to Google Cloud KMS, or what it answered, was damaged on the way (CRC32C)"
			}
			for trouble, why := range troubles {
				service.Make(trouble)
				if trouble != cloud.OtherKey || name != "gcp" { // whose answer does not name what decrypted
					s.refused(`recipient "cloud": `+why, "seal", "test", "--config", "latchkey.yaml", "cloud")
				}
				if trouble != cloud.Slow {
					s.refused(`recipient "new": `+why, "seal", "init", "--seal", "new.json", "--kms", "new="+c.key)
				}
			}
			service.Make(cloud.Denied)
			s.refused(`recipient "new": `+troubles[cloud.Denied], "seal", "add", "--seal", "seal.json", "--secret", "desk=file:words", "--kms", "new="+c.key)
			service.Make(cloud.None)
			if now := s.read("seal.json"); now != before {
				t.Error("the seal was changed")
			}
			if _, err := os.Stat(filepath.Join(s.dir, "new.json")); err == nil {
				t.Error("a seal was made")
			}
			s.must("seal", "test", "--config", "latchkey.yaml", "cloud")
			s.noSecret(cloud.Secret, "/robot.json")
		})
	}
}

// TestCloudSwapped: what one recipient keeps does not open as another one's, by another
// key, or by another version of it.
func TestCloudSwapped(t *testing.T) {
	for name, c := range clouds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := newCloud(t)
			s.must("seal", "init", "--seal", "seal.json", "--kms", "one="+c.key, "--kms", "two="+c.key)
			whole := s.read("seal.json")
			try := func(why, text string) {
				t.Helper()
				s.write("seal.json", text)
				s.refused(`recipient "one": `+why, "seal", "test", "--config", "latchkey.yaml", "one")
			}
			kept := strings.Split(whole, `"ct": "`)
			one, _, _ := strings.Cut(kept[1], `"`)
			two, _, _ := strings.Cut(kept[2], `"`)
			swapped := strings.NewReplacer(one, two, two, one).Replace(whole)
			if name == "azure" { // RSA binds nothing: latchkey compares
				try("it answered with something else than the key of this recipient", swapped)
			} else {
				try(c.service+" does not open what the seal keeps with ", swapped)
			}
			key, other := strings.TrimPrefix(c.key, name+":"), strings.TrimPrefix(c.other, name+":")
			try(c.service+" does not open what the seal keeps with "+other, strings.ReplaceAll(whole, key, other))
			try("id, which the seal keeps, is ", strings.Replace(whole, `"id": "`+key, `"id": "`+other, 1))
			try(c.service+" knows no "+key+"-gone", strings.ReplaceAll(whole, key, key+"-gone"))
			try(`"else:`+key+`": a key begins with its cloud`, strings.Replace(whole, c.key, "else:"+key, 1))
			s.write("seal.json", strings.Replace(whole, `"ct": "`, `"ct": "*`, 1))
			s.refused("kept: key, id and ct must be there, ct in base64", "seal", "test", "--config", "latchkey.yaml", "one")
			s.write("seal.json", whole)
			s.must("seal", "test", "--config", "latchkey.yaml")
		})
	}
}

// TestCloudCredentials: without credentials, with wrong ones, and with addresses that
// are not safe, it is said what is missing; no secret is shown.
func TestCloudCredentials(t *testing.T) {
	for name, c := range clouds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := newCloud(t)
			whole := s.env
			try := func(why string, variables ...string) {
				t.Helper()
				s.env = append(append([]string{}, whole...), variables...)
				s.refused(`recipient "cloud": `+why, "seal", "init", "--seal", "seal.json", "--kms", "cloud="+c.key)
				if said, _ := s.try("seal", "init", "--seal", "seal.json", "--kms", "cloud="+c.key); strings.Contains(said, cloud.Secret) {
					t.Errorf("it says %s", said)
				}
			}
			none := "there are no credentials for " + c.service + ": set "
			switch name {
			case "aws":
				try(none, "AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY=", "AWS_EC2_METADATA_DISABLED=true")
				try("AWS KMS does not take the credentials", "AWS_ACCESS_KEY_ID=AKIAOTHER")
				try("AWS_ENDPOINT_URL_KMS must begin with https", "AWS_ENDPOINT_URL_KMS=http://kms.example.com")
			case "gcp":
				try(none, "GOOGLE_APPLICATION_CREDENTIALS="+filepath.Join(s.dir, "none.json"))
				try(none, "GOOGLE_APPLICATION_CREDENTIALS="+filepath.Join(s.dir, "words"))
				try("CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDKMS must begin with https", "CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDKMS=http://10.0.0.1")
				try("CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDKMS must be the address", "CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDKMS=here")
			case "azure":
				try(none, "AZURE_TOKEN_CREDENTIALS=EnvironmentCredential")
				try(none, "AZURE_TOKEN_CREDENTIALS=ManagedIdentityCredential", "IDENTITY_HEADER=wrong")
			}
			try(c.service+" cannot be reached", "SSL_CERT_FILE="+filepath.Join(s.dir, "words"), "SSL_CERT_DIR="+filepath.Join(s.dir, "none"), "AWS_CA_BUNDLE=")
			if _, err := os.Stat(filepath.Join(s.dir, "seal.json")); err == nil {
				t.Error("a seal was made")
			}
		})
	}
}

// TestCloudRefused: what cannot name a key is refused with what would be right, and
// nothing is written.
func TestCloudRefused(t *testing.T) {
	s, _ := newCloud(t)
	for text, why := range map[string]string{
		"":                                 "a key begins with its cloud: aws:ARN, gcp:NAME or azure:URL",
		"alias/latchkey":                   "a key begins with its cloud",
		"ibm:crn:v1":                       "a key begins with its cloud",
		"aws:":                             "a key of AWS is named by its whole ARN",
		"aws:alias/latchkey":               "a key of AWS is named by its whole ARN",
		"aws:" + cloud.AWSKey + " x":       "a key of AWS is named by its whole ARN",
		"gcp:latchkey":                     "a key of Google Cloud is named by gcp:projects/",
		"gcp:" + cloud.GCPKey + "/x":       "a key of Google Cloud is named by gcp:projects/",
		"azure:latchkey":                   "a key of Azure is named by its address",
		"azure:http" + cloud.AzureKey[5:]:  "a key of Azure is named by its address",
		"azure:" + cloud.AzureKey + "?a=b": "a key of Azure is named by its address",
	} {
		s.refused(`recipient "cloud": `, "seal", "init", "--seal", "seal.json", "--kms", "cloud="+text, "--passphrase", "desk", "--secret", "desk=file:words")
		s.refused(why, "seal", "init", "--seal", "seal.json", "--kms", "cloud="+text, "--passphrase", "desk", "--secret", "desk=file:words")
	}
	if _, err := os.Stat(filepath.Join(s.dir, "seal.json")); err == nil {
		t.Error("a seal was made")
	}
	s.must("seal", "init", "--seal", "seal.json", "--kms", "cloud=azure:"+cloud.AzureKey+"/"+cloud.AzureVersion(1))
	s.must("seal", "test", "--config", "latchkey.yaml")
}
