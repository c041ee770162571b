package main

import (
	"strings"
	"testing"
)

const (
	owner = "cloud age1qqq "

	awsSample   = "arn:aws:kms:eu-central-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
	awsAlias    = "arn:aws-us-gov:kms:us-gov-west-1:123456789012:alias/team/latchkey"
	gcpSample   = "projects/acme-1/locations/europe-west3/keyRings/vault/cryptoKeys/latchkey"
	azureSample = "https://acme.vault.azure.net/keys/latchkey"
)

func TestParsePlace(t *testing.T) {
	for _, text := range []string{
		"aws:" + awsSample, "aws:arn:aws-cn:kms:cn-north-1:123456789012:key/mrk-1234abcd12ab34cd56ef1234567890ab", "aws:" + awsAlias,
		"gcp:" + gcpSample, "gcp:projects/example.com:acme/locations/global/keyRings/a/cryptoKeys/b_c-1",
		"azure:" + azureSample, "azure:" + azureSample + "/0123456789abcdef0123456789abcdef", "azure:https://acme.managedhsm.azure.net/keys/k",
	} {
		at, err := parsePlace(owner + text)
		if err != nil || at.cloud+":"+at.key != text || at.name != "cloud" || at.recipient != "age1qqq" {
			t.Errorf("%s: %+v, %v", text, at, err)
		}
	}
	for _, text := range []string{
		"", "cloud", "cloud age1qqq", "cloud aws:" + awsSample, " age1qqq aws:" + awsSample,
		owner, owner + "aws", owner + awsSample, owner + "aws:" + gcpSample, owner + "gcp:" + awsSample, owner + "AWS:" + awsSample,
		owner + "aws:" + strings.Replace(awsSample, "kms", "s3", 1), owner + "aws:" + strings.Replace(awsSample, "123456789012", "12", 1),
		owner + "aws:" + awsSample + "\n", owner + "aws: " + awsSample, owner + "aws:arn:aws:kms:eu-central-1:123456789012:key/",
		owner + "gcp:/" + gcpSample, owner + "gcp:" + gcpSample + "/cryptoKeyVersions/1", owner + "gcp:" + strings.Replace(gcpSample, "vault", "..", 1),
		owner + "azure:" + strings.Replace(azureSample, "https", "http", 1), owner + "azure:" + strings.Replace(azureSample, "//", "//user:pass@", 1),
		owner + "azure:" + azureSample + "/", owner + "azure:" + azureSample + "/a/b", owner + "azure:" + azureSample + "#a", owner + "azure:https://vault/keys/a",
	} {
		if at, err := parsePlace(text); err == nil {
			t.Errorf("%q was taken: %+v", text, at)
		}
	}
}

// TestHas: only what is of the key that was asked is taken as its answer.
func TestHas(t *testing.T) {
	pinned := azureSample + "/0123456789abcdef0123456789abcdef"
	for _, c := range []struct {
		key, id string
		want    bool
	}{
		{"aws:" + awsSample, awsSample, true},
		{"aws:" + awsSample, awsSample + "0", false},
		{"aws:" + awsSample, "", false},
		{"aws:" + awsAlias, "arn:aws-us-gov:kms:us-gov-west-1:123456789012:key/1", true},
		{"aws:" + awsAlias, "arn:aws-us-gov:kms:us-gov-west-1:210987654321:key/1", false},
		{"aws:" + awsAlias, awsAlias, false},
		{"gcp:" + gcpSample, gcpSample + "/cryptoKeyVersions/12", true},
		{"gcp:" + gcpSample, gcpSample, false},
		{"gcp:" + gcpSample, gcpSample + "2/cryptoKeyVersions/1", false},
		{"azure:" + azureSample, pinned, true},
		{"azure:" + azureSample, azureSample, false},
		{"azure:" + azureSample, strings.Replace(pinned, "acme", "evil", 1), false},
		{"azure:" + pinned, pinned, true},
		{"azure:" + pinned, pinned + "/1", false},
		{"azure:" + pinned, azureSample + "/1", false},
	} {
		at, err := parsePlace(owner + c.key)
		if err != nil || at.has(c.id) != c.want {
			t.Errorf("%s, %s: %v, %v", c.key, c.id, at.has(c.id), err)
		}
	}
}

func FuzzParsePlace(f *testing.F) {
	f.Add(owner + "aws:" + awsSample)
	f.Add(owner + "gcp:" + gcpSample)
	f.Add(owner + "azure:" + azureSample + "/1")
	f.Fuzz(func(t *testing.T, text string) {
		at, err := parsePlace(text)
		if err != nil {
			return
		}
		if again := at.name + " " + at.recipient + " " + at.cloud + ":" + at.key; again != text {
			t.Errorf("%q became %q", text, again)
		}
		switch at.cloud {
		case aws:
			if at.region() == "" {
				t.Errorf("%q has no region", text)
			}
		case azure:
			if whole := strings.TrimSuffix(at.vault()+"/keys/"+at.keyName()+"/"+at.version(), "/"); whole != at.key {
				t.Errorf("%q became %q", at.key, whole)
			}
		}
	})
}
