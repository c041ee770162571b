package sealfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"filippo.io/age/plugin"
)

// libexec is where packages put plugins of age.
const libexec = "/usr/libexec/latchkey"

// pluginUI lets plugins of age speak to whoever reads the log. They are looked for
// beside the program, then where packages put them, then in PATH.
func pluginUI() *plugin.ClientUI {
	findPlugins()
	return &plugin.ClientUI{
		DisplayMessage: func(name, message string) error {
			fmt.Fprintf(os.Stderr, "latchkey: age-plugin-%s: %s\n", name, message)
			return nil
		},
		WaitTimer: func(name string) {
			fmt.Fprintf(os.Stderr, "latchkey: waiting for age-plugin-%s\n", name)
		},
	}
}

// findPlugins is by way of PATH, because age looks nowhere else.
var findPlugins = sync.OnceFunc(func() {
	places := []string{libexec, os.Getenv("PATH")}
	if program, err := os.Executable(); err == nil {
		places = append([]string{filepath.Dir(program)}, places...)
	}
	_ = os.Setenv("PATH", strings.Join(places, string(os.PathListSeparator))) // fails for a NUL only
})
