package main

import (
	"fmt"
	"log/slog"
	"os"

	"latchkey/internal/server"
	"latchkey/internal/server/config"
)

// located are the flags of commands about an installation that need no server.
type located struct {
	Config string `placeholder:"FILE" xor:"where" required:"" help:"Config file of the server; this or --data."`
	Data   string `placeholder:"DIR" xor:"where" required:"" help:"Data folder of a dev server; this or --config."`
}

func (l located) installation() (*config.Config, error) { return installation(l.Config, l.Data) }

// installation is the store and the master key of a config file, or of the data
// folder of a dev server.
func installation(configFile, dataDir string) (*config.Config, error) {
	if dataDir == "" {
		return config.Load(configFile)
	}
	if _, err := os.Stat(dataDir); err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	if _, err := readDevFile(dataDir); err == nil && !exists(dataFile(dataDir)) {
		return nil, fmt.Errorf("the dev server of %s keeps its data elsewhere; name that store in a config file and use --config", dataDir)
	}
	return dataConfig(dataDir), nil
}

func dataConfig(dir string) *config.Config {
	return &config.Config{Store: dataStore(dir), MasterKey: dataMasterKey(dir)}
}

// warnings is the log of a command that is no server.
func warnings() *slog.Logger {
	log, _ := server.NewLogger(os.Stderr, config.Log{Format: "text", Level: "warn"})
	return log
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
