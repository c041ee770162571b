// Package deprecated calls what should not be called any more.
package deprecated

import "example.com/old"

func all() {
	old.Do() // want `Do is deprecated`
}
