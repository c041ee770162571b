package server

import (
	"reflect"
	"testing"

	"latchkey/internal/server/config"
)

// Every limit of an organization comes from the config, which bounds them all
// by default.
func TestLimits(t *testing.T) {
	c := config.Default()
	all := reflect.ValueOf(limits(&c.Limits))
	for i := range all.NumField() {
		if all.Field(i).IsZero() {
			t.Errorf("%s is not set by the default config", all.Type().Field(i).Name)
		}
	}
}
