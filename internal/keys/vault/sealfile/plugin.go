package sealfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"filippo.io/age"
	"filippo.io/age/plugin"
)

// libexec is where packages put plugins of age.
const libexec = "/usr/libexec/latchkey"

// pluginUI lets plugins of age speak to the readers of the log. They are looked for
// beside the program, then where packages put them, then in PATH.
func pluginUI() *plugin.ClientUI {
	findPlugins()
	// It would have age print all that it says to a plugin, PINs and keys included.
	_ = os.Unsetenv("AGEDEBUG") // never fails for such a name
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

// Our own plugins guard the scalar of a recipient as others guard the key of a file:
// what they make of it is one stanza, whose arguments and body the seal keeps. The
// place (a URI, a device) travels as their recipient and identity, a PIN as the answer
// to their question. So a PIN is never an argument, and a crash in the library of a
// vendor is the end of the plugin, not of the server.

// withSecret answers the plugin's question.
func withSecret(given []byte) *plugin.ClientUI {
	ui := pluginUI()
	if len(given) > 0 {
		ui.RequestValue = func(string, string, bool) (string, error) { return string(given), nil }
	}
	return ui
}

func wrapByPlugin(name, place string, scalar, given []byte) (*age.Stanza, error) {
	if place == "" {
		return nil, errors.New("nothing was named after the name")
	}
	to, err := plugin.NewRecipient(plugin.EncodeRecipient(name, []byte(place)), withSecret(given))
	if err != nil {
		return nil, fmt.Errorf("%.120q cannot be handed to age-plugin-%s", place, name)
	}
	stanzas, err := to.Wrap(scalar)
	if err != nil {
		return nil, pluginError(name, err)
	}
	if len(stanzas) != 1 || stanzas[0].Type != name {
		return nil, errAnswer(name)
	}
	return stanzas[0], nil
}

func unwrapByPlugin(name, place string, stanza *age.Stanza, given []byte) ([]byte, error) {
	by, err := plugin.NewIdentity(plugin.EncodeIdentity(name, []byte(place)), withSecret(given))
	if err != nil {
		return nil, fmt.Errorf("%.120q cannot be handed to age-plugin-%s", place, name)
	}
	plain, err := by.Unwrap([]*age.Stanza{stanza})
	if err != nil {
		return nil, pluginError(name, err)
	}
	return plain, nil
}

// pluginError says what to do about what age says.
func pluginError(name string, err error) error {
	var missing *plugin.NotFoundError
	switch {
	case errors.As(err, &missing):
		return fmt.Errorf("the program age-plugin-%s is missing; it is looked for beside latchkey, in %s and in PATH (make plugins builds it)", name, libexec)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the program age-plugin-%s ended without an answer: it, or the library that it uses, has crashed", name)
	case errors.Is(err, age.ErrIncorrectIdentity):
		return errAnswer(name)
	}
	text, _ := strings.CutPrefix(err.Error(), name+" plugin: ")
	return errors.New(text)
}

func errAnswer(name string) error {
	return fmt.Errorf("the program age-plugin-%s gave an answer that cannot be used: is it of the same version as latchkey?", name)
}

// Arguments of stanzas cannot be empty.
func argument(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func value(argument string) string {
	if argument == "-" {
		return ""
	}
	return argument
}
