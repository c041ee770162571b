package ids

import (
	"slices"
	"testing"
)

// TestNew: ids of one process are valid, distinct and sort by age.
func TestNew(t *testing.T) {
	made := make([]string, 10_000)
	for i := range made {
		made[i] = New()
		if normal, ok := Normal(made[i]); !ok || normal != made[i] || made[i][14] != '7' {
			t.Fatalf("%s is not a UUIDv7 in normal form", made[i])
		}
	}
	if !slices.IsSorted(made) || len(slices.Compact(made)) != 10_000 {
		t.Error("ids do not sort by age, or one came twice")
	}
}

func TestNormal(t *testing.T) {
	for text, ok := range map[string]bool{
		"0192AAAA-0000-7000-8000-00000000ABCD":   true,
		"0192aaaa-0000-7000-8000-00000000abc":    false,
		"0192aaaa000070008000000000000000abcd":   false,
		"{0192aaaa-0000-7000-8000-00000000abcd}": false,
		"0192aaaa-0000-7000-8000-00000000abcd\n": false,
		"instance":                               false,
		"":                                       false,
	} {
		if normal, got := Normal(text); got != ok || ok && normal != "0192aaaa-0000-7000-8000-00000000abcd" {
			t.Errorf("Normal(%q) = %q, %v", text, normal, got)
		}
	}
}
