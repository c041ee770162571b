package main

import (
	"errors"
	"fmt"
	"os"

	"latchkey/internal/policy/policytest"
)

type policyCommand struct {
	Check    policyCheckCommand    `cmd:"" help:"Compile the policies of files, and give advice on them."`
	Test     policyTestCommand     `cmd:"" help:"Run the cases of files, without a server. Exit status: 1 a case failed, 2 a file has mistakes or cannot be run."`
	Diff     policyDiffCommand     `cmd:"" help:"Compare files with an organization. Exit status: 0 the same, 2 a file has mistakes, 3 different, 4 refused."`
	Apply    policyApplyCommand    `cmd:"" help:"Bring an organization to what files say. Exit status: 0 done, 2 nothing was sent, 3 something waits or is left, 4 refused."`
	Pull     policyPullCommand     `cmd:"" help:"Write the policies of an organization as a file, with names in the place of ids."`
	Backtest policyBacktestCommand `cmd:"" help:"Decide recorded activities again by the policies of files. Exit status: 0 none differs, 2 a file has mistakes, 3 some do, 4 refused."`
	Explain  policyExplainCommand  `cmd:"" help:"Ask a server what would become of a request, or what an activity waits for, and why. Exit status: 0 ALLOW, 3 PENDING, 4 DENY."`
}

type policyCheckCommand struct {
	Files  []string `arg:"" name:"file" help:"YAML or JSON with a list policies, as create_policies takes it, or a file of cases."`
	Strict bool     `help:"Advice counts as an error."`
	JSON   bool     `name:"json" help:"Print JSON, for programs."`
}

// checked is what is said about one file.
type checked struct {
	File     string               `json:"file"`
	Errors   []policytest.Mistake `json:"errors"`
	Findings []policytest.Finding `json:"findings"`
}

// Run checks the files, all of them, whatever is wrong with one.
func (cmd policyCheckCommand) Run() error {
	var all []checked
	var failed bool
	for _, path := range cmd.Files {
		report := checked{File: path, Errors: []policytest.Mistake{}, Findings: []policytest.Finding{}}
		file, err := policytest.Load(path)
		var wrong *policytest.Error
		switch {
		case errors.As(err, &wrong):
			report.Errors = wrong.Mistakes
			if !cmd.JSON {
				fmt.Println(wrong)
			}
		case err != nil:
			report.Errors = []policytest.Mistake{{Message: err.Error()}}
			fmt.Fprintf(os.Stderr, "latchkey: %v\n", err)
		default:
			report.Findings = file.Lint()
		}
		failed = failed || len(report.Errors) > 0 || cmd.Strict && len(report.Findings) > 0
		all = append(all, report)
		if cmd.JSON {
			continue
		}
		for _, f := range report.Findings {
			if err := f.Print(os.Stdout, path); err != nil {
				return err
			}
		}
		if err == nil {
			fmt.Printf("%s: policies %d, warnings %d\n", path, len(file.Policies), len(report.Findings))
		}
	}
	if cmd.JSON {
		if err := printJSON(struct {
			Files []checked `json:"files"`
		}{all}); err != nil {
			return err
		}
	}
	if failed {
		return exitStatus(1)
	}
	return nil
}
