package process

import "testing"

func TestResident(t *testing.T) {
	tests := []struct {
		name, status string
		want         int64 // -1: an error
	}{
		{"running", "Name:\tx\nVmHWM:\t  9000 kB\nVmRSS:\t  2048 kB\nRssAnon:\t 100 kB\n", 2 << 20},
		{"no end of line", "VmRSS: 1 kB", 1024},
		{"ended", "Name:\tx\nState:\tZ (zombie)\n", -1},
		{"no unit", "VmRSS:\t2048\n", -1},
		{"no number", "VmRSS:\tmuch kB\n", -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := resident(tt.status)
			if (err != nil) != (tt.want < 0) || err == nil && got != tt.want {
				t.Errorf("got %d, %v, want %d", got, err, tt.want)
			}
		})
	}
}
