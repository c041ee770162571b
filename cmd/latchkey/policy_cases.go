package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"latchkey/internal/policy/policytest"
)

type policyTestCommand struct {
	Files       []string `arg:"" name:"file" help:"YAML with policies and cases; docs/policy-testing.md describes it."`
	MinCoverage int      `placeholder:"PERCENT" help:"Fail if the cases of a file cover less of its clauses."`
}

// Exit statuses of policy test.
const (
	caseFailed = 1
	badFile    = 2
)

// Run runs the cases of all files, whatever becomes of one.
func (cmd policyTestCommand) Run(ctx context.Context) error {
	status := 0
	for _, path := range cmd.Files {
		got, err := cmd.test(ctx, path)
		if err != nil {
			return err
		}
		status = max(status, got)
	}
	if status != 0 {
		return exitStatus(status)
	}
	return nil
}

func (cmd policyTestCommand) test(ctx context.Context, path string) (status int, err error) {
	report, err := rehearse(ctx, path)
	var wrong *policytest.Error
	if errors.As(err, &wrong) {
		fmt.Fprintln(os.Stderr, wrong)
		return badFile, nil
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "latchkey: %v\n", err)
		return badFile, nil
	}
	if err := report.Print(os.Stdout); err != nil {
		return 0, err
	}
	if percent := report.Coverage.Percent(); percent < cmd.MinCoverage {
		fmt.Printf("  %d%% is less than --min-coverage %d\n", percent, cmd.MinCoverage)
		status = caseFailed
	}
	if report.Failed() > 0 {
		status = caseFailed
	}
	return status, nil
}

func rehearse(ctx context.Context, path string) (*policytest.Report, error) {
	file, err := policytest.Load(path)
	if err != nil {
		return nil, err
	}
	if len(file.Cases) == 0 {
		return nil, fmt.Errorf("%s has no cases", path)
	}
	return file.Run(ctx)
}
