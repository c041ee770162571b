package deprecated

import "example.com/old"

func inTests() { old.Do() }
