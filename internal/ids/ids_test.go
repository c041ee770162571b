package ids

import (
	"slices"
	"testing"
	"time"
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

// TestFirst: a time divides the ids into those of before and those since.
func TestFirst(t *testing.T) {
	before := New()
	time.Sleep(2 * time.Millisecond)
	now := time.Now().UnixMilli()
	since := New()
	if first := First(now); before >= first || since <= first {
		t.Errorf("%s is not between %s and %s", first, before, since)
	}
	if got := First(0x0192_f3c4_5b6a); got != "0192f3c4-5b6a-7000-8000-000000000000" {
		t.Errorf("got %s", got)
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
