package policy

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestSameTextIsCompiledOnce(t *testing.T) {
	const source = "activity.kind == 'SIGN_TRANSACTION' && eth.tx.value <= 7007"
	var group sync.WaitGroup
	made := make([]*Expr, 16)
	for i := range made {
		group.Go(func() {
			e, err := Compile(Condition, strings.Clone(source))
			if err != nil {
				t.Error(err)
			}
			made[i] = e
		})
	}
	group.Wait()
	for _, e := range made {
		if e != made[0] {
			t.Fatal("the same text was compiled twice, and both are in use")
		}
	}
	// What may be read depends on the place, so the place is part of it.
	if other, err := Compile(Consensus, "approvers.count() >= 7007"); err != nil || other == made[0] {
		t.Fatal(other, err)
	}
	if _, err := Compile(Consensus, source); err == nil {
		t.Error("a condition was taken for a consensus")
	}
}

// TestUnusedTextIsForgotten: texts that are no longer referenced are removed.
func TestUnusedTextIsForgotten(t *testing.T) {
	source := func(i int) string { return fmt.Sprintf("eth.tx.value == %d", 70_070_000+i) }
	const many = 1000
	for i := range many {
		if _, err := Compile(Condition, source(i)); err != nil {
			t.Fatal(err)
		}
	}
	left := func() (n int) {
		for i := range many {
			if _, ok := inUse.Load(internKey{Condition, source(i)}); ok {
				n++
			}
		}
		return n
	}
	for deadline := time.Now().Add(2 * time.Minute); left() > 0; time.Sleep(time.Millisecond) {
		runtime.GC()
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d unused expressions are still there", left(), many)
		}
	}
}
