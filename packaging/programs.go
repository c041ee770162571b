package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// programs builds the server for each architecture, and the plugins of seals that need
// no C. Nothing of this machine is in them: no path, no cgo, no build id, and no setting
// of the environment that a compiler looks at.
func (r *release) programs() error {
	for _, architecture := range architectures {
		err := r.build(architecture, r.source, r.program(architecture), "./cmd/latchkey", " -X main.version="+r.version)
		for _, name := range plugins {
			if err == nil {
				err = r.build(architecture, filepath.Join(r.source, "plugins"), r.plugin(name, architecture), "./"+name, "")
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *release) build(architecture, module, to, of, variables string) error {
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid="+variables, "-o", to, of)
	build.Dir = module
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+architecture,
		"GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOWORK=off")
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("building %s for %s: %w", of, architecture, err)
	}
	return nil
}

// manual asks the program for its manual and for the scripts of shells.
func (r *release) manual() error {
	host, err := r.host()
	if err != nil {
		return err
	}
	pages := filepath.Join(r.out, "man")
	if err := os.Mkdir(pages, 0o755); err != nil {
		return err
	}
	if err := run(exec.Command(host, "__man", "--date", r.time.Format("2006-01-02"), "--config", filepath.Join(r.source, exampleConfig), pages)); err != nil {
		return err
	}
	scripts := filepath.Join(r.out, "completion")
	if err := os.Mkdir(scripts, 0o755); err != nil {
		return err
	}
	for shell, name := range map[string]string{"bash": "latchkey.bash", "zsh": "_latchkey", "fish": "latchkey.fish"} {
		text, err := exec.Command(host, "completion", shell).Output()
		if err != nil {
			return fmt.Errorf("completion %s: %w", shell, err)
		}
		if err := os.WriteFile(filepath.Join(scripts, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func run(command *exec.Cmd) error {
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(command.Path), err, output)
	}
	return nil
}
