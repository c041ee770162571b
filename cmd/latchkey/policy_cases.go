package main

import (
	"context"
	"fmt"
	"os"

	"latchkey/internal/policy/policytest"
)

type policyTestCommand struct {
	Files       []string `arg:"" name:"file" help:"YAML with policies and cases; docs/policy-testing.md describes it."`
	MinCoverage int      `placeholder:"PERCENT" help:"Fail if the cases of a file cover less of its clauses."`
	Format      string   `default:"text" enum:"text,junit,json" placeholder:"FORMAT" help:"What to print: text, junit (XML that CI systems read) or json. Default: ${default}."`
}

// Exit statuses of policy test.
const (
	caseFailed = 1
	badFile    = 2
)

// Run runs the cases of all files, whatever becomes of one.
func (cmd policyTestCommand) Run(ctx context.Context) error {
	status := 0
	results := make([]policytest.FileResult, 0, len(cmd.Files))
	for _, path := range cmd.Files {
		result := cmd.rehearse(ctx, path)
		switch {
		case result.Err != nil:
			status = badFile
		case result.TooLittle != "" || result.Report.Failed() > 0:
			status = max(status, caseFailed)
		}
		if cmd.Format == "text" {
			if err := printResult(&result); err != nil {
				return err
			}
		}
		results = append(results, result)
	}
	if write := map[string]func([]policytest.FileResult) error{
		"json":  func(r []policytest.FileResult) error { return policytest.WriteJSON(os.Stdout, r) },
		"junit": func(r []policytest.FileResult) error { return policytest.WriteJUnit(os.Stdout, r) },
	}[cmd.Format]; write != nil {
		if err := write(results); err != nil {
			return err
		}
	}
	if status != 0 {
		return exitStatus(status)
	}
	return nil
}

func printResult(r *policytest.FileResult) error {
	if r.Err != nil {
		sayMistakes(r.Err)
		return nil
	}
	if err := r.Report.Print(os.Stdout); err != nil {
		return err
	}
	if r.TooLittle != "" {
		fmt.Println("  " + r.TooLittle)
	}
	return nil
}

func (cmd *policyTestCommand) rehearse(ctx context.Context, path string) policytest.FileResult {
	result := policytest.FileResult{Path: path}
	file, err := policytest.Load(path)
	if err == nil && len(file.Cases) == 0 {
		err = fmt.Errorf("%s has no cases", path)
	}
	if err == nil {
		result.Report, err = file.Run(ctx)
	}
	if result.Err = err; err != nil {
		return result
	}
	if percent := result.Report.Coverage.Percent(); percent < cmd.MinCoverage {
		result.TooLittle = fmt.Sprintf("%d%% is less than --min-coverage %d", percent, cmd.MinCoverage)
	}
	return result
}
