package suggest

import "testing"

func TestName(t *testing.T) {
	known := []string{"listen", "store", "timeouts", "serverKeys"}
	for _, c := range []struct {
		name, given string
		most        int
		want        string
	}{
		{"one letter missing", "lisen", 2, "listen"},
		{"other case", "SERVERKEYS", 0, "serverKeys"},
		{"two changes", "stroe", 2, "store"},
		{"too far", "banana", 2, ""},
		{"empty", "", 2, ""},
		{"the nearest of several", "timeout", 9, "timeouts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Name(c.given, c.most, known); got != c.want {
				t.Errorf("Name(%q) = %q, want %q", c.given, got, c.want)
			}
		})
	}
}
