package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write puts a text into a file of the test.
func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestInterfaceTypes(t *testing.T) {
	got, err := interfaceTypes(write(t, `{"components":{"schemas":{"Tag":{"type":"object","properties":{"tagId":{"type":"string"}},"required":["tagId"]},"OldTag":{"type":"string"}}},
		"paths":{
			"/public/v1/query/list_tags":{"post":{
				"requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{"organizationId":{"type":"string"},"limit":{"enum":[12,24],"type":"integer"}},"required":["organizationId"]}}}},
				"responses":{"200":{"content":{"application/json":{"schema":{"type":"object","properties":{"tags":{"type":"array","items":{"$ref":"#/components/schemas/Tag"}}},"required":["tags"]}}}}}}},
			"/public/v1/submit/create_tag":{"post":{"requestBody":{"content":{"application/json":{"schema":{"oneOf":[
				{"properties":{"type":{"const":"OLD"},"parameters":{"type":"object","properties":{"old":{"$ref":"#/components/schemas/OldTag"}}}},"x-latchkey":{"resultKey":"oldResult"}},
				{"properties":{"type":{"const":"NEW"},"parameters":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}},"x-latchkey":{"resultKey":"newResult","result":{"type":"object","properties":{"tagId":{"type":"string"}},"required":["tagId"]}}}]}}}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for file, wants := range map[string][]string{
		"models.ts": {"export type Tag = { tagId: string };"},
		"queries.ts": {
			"import type { Tag, } from './models';",
			"list_tags: { request: { limit?: 12 | 24; organizationId: string }; reply: { tags: Array<Tag> } };",
		},
		"activities.ts": {
			"create_tag: { parameters: { name: string }; result: { tagId: string } };",
			"create_tag: ['NEW', 'newResult'],",
		},
	} {
		text := strings.Join(strings.Fields(string(got[file])), " ")
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s is missing in %s\n%s", want, file, got[file])
			}
		}
	}
	if strings.Contains(string(got["models.ts"]), "OldTag") {
		t.Errorf("what only an older version names is among the models:\n%s", got["models.ts"])
	}
}

func TestPolicyFieldsNeedTheirPart(t *testing.T) {
	if _, err := policyFields(write(t, "# no part\n")); err == nil || !strings.Contains(err.Error(), "has no part with the fields") {
		t.Errorf("got %v", err)
	}
	if _, err := policyFields(write(t, "<!-- generated: fields -->\n<!-- end: fields -->\n")); err == nil || !strings.Contains(err.Error(), "only 0 fields") {
		t.Errorf("got %v", err)
	}
}
