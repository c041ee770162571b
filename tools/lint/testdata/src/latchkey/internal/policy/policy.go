// Package policy is given the time.
package policy

import (
	"fmt"
	"math/rand"
	"time"
)

func all() {
	time.Now()        // want `time.Now`
	_ = time.Now      // want `time.Now`
	fmt.Println("x")  // want `fmt.Println outside of a command`
	rand.Int()        // want `math/rand`
	rand.New(nil)     // want `math/rand`
	_ = fmt.Sprint(1) // this is fine
}
