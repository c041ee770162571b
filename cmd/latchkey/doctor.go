package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"latchkey/internal/server"
)

type doctorCommand struct {
	Config string `required:"" placeholder:"FILE" help:"Config file of the server."`
	MailTo string `placeholder:"ADDRESS" help:"Send a test message to this address."`
	SMSTo  string `name:"sms-to" placeholder:"NUMBER" help:"Send a test message to this phone number."`
	JSON   bool   `name:"json" help:"Print one JSON object."`
}

// Statuses of the command, for scripts.
const (
	doctorFound  = exitStatus(1)
	doctorFailed = exitStatus(2)
)

// Run checks an installation, whether its server runs or not.
func (cmd doctorCommand) Run(ctx context.Context) error {
	found, err := server.Examine(ctx, cmd.Config, server.Examining{MailTo: cmd.MailTo, SMSTo: cmd.SMSTo, Now: time.Now})
	if err != nil {
		fmt.Fprintf(os.Stderr, "latchkey: nothing could be checked: %v\n", err)
		return doctorFailed
	}
	if cmd.JSON {
		err = printJSON(found)
	} else {
		width, _, notTerminal := term.GetSize(int(os.Stdout.Fd()))
		if notTerminal != nil {
			width = 0
		}
		err = showExamination(os.Stdout, found, width)
	}
	if err == nil && !found.OK {
		return doctorFound
	}
	return err
}

// signs of a check, and their colours on a terminal.
var signs = map[server.CheckStatus]struct{ text, colour string }{
	server.CheckOK:      {"ok", "32"},
	server.CheckWarn:    {"warn", "33"},
	server.CheckFail:    {"FAIL", "31"},
	server.CheckSkipped: {"-", "2"},
}

// widest is how long a line gets on a terminal that is wider.
const widest = 110

// showExamination writes one line for each check, and what to do below it. On a terminal
// of some width it has colours, and lines are broken; a width of 0 means that it is none.
func showExamination(to io.Writer, found server.Examination, width int) error {
	paint := func(colour, text string) string {
		if width == 0 {
			return text
		}
		return "\x1b[" + colour + "m" + text + "\x1b[0m"
	}
	const indent = 6 + 13
	counts := map[server.CheckStatus]int{}
	for _, c := range found.Checks {
		counts[c.Status]++
		sign := signs[c.Status]
		fmt.Fprintf(to, "%s%-13s", paint(sign.colour, fmt.Sprintf("%-6s", sign.text)), c.Name)
		for i, line := range broken(c.Detail, min(width, widest)-indent) {
			if i > 0 {
				fmt.Fprint(to, strings.Repeat(" ", indent))
			}
			if c.Status == server.CheckSkipped {
				line = paint(sign.colour, line)
			}
			fmt.Fprintln(to, line)
		}
		if c.Fix == "" {
			continue
		}
		for i, line := range broken(c.Fix, min(width, widest)-indent-3) {
			arrow := "  "
			if i == 0 {
				arrow = paint("1", "->")
			}
			fmt.Fprintf(to, "%s%s %s\n", strings.Repeat(" ", indent), arrow, line)
		}
	}
	_, err := fmt.Fprintf(to, "\n%s\n", verdict(counts))
	return err
}

// broken is a text in lines of a width; 0 or less: as it is.
func broken(text string, width int) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		for width > 20 && len(line) > width {
			at := strings.LastIndexByte(line[:width+1], ' ')
			if at <= 0 {
				break // a long word
			}
			lines, line = append(lines, line[:at]), line[at+1:]
		}
		lines = append(lines, line)
	}
	return lines
}

// verdict is the last line.
func verdict(counts map[server.CheckStatus]int) string {
	text := "Everything that was checked is well."
	switch {
	case counts[server.CheckFail] > 0:
		text = fmt.Sprintf("%s must be mended.", count(int64(counts[server.CheckFail]), "thing", "things"))
	case counts[server.CheckWarn] > 0:
		text = "A server can run."
	}
	if n := counts[server.CheckWarn]; n > 0 {
		text += fmt.Sprintf(" %s should be looked at.", count(int64(n), "thing", "things"))
	}
	return text
}
