package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// manualCommand writes the pages of the manual, for those who make packages.
type manualCommand struct {
	Date   string `required:"" placeholder:"YYYY-MM-DD" help:"Date that the pages bear."`
	Config string `required:"" placeholder:"FILE" help:"Config file with every setting, for latchkey.yaml(5)."`
	Folder string `arg:"" help:"Folder to write the pages to; it must exist."`
}

// Run writes a page for each command, one for all of them, and one for the config
// file.
func (cmd manualCommand) Run() error {
	if _, err := time.Parse(time.DateOnly, cmd.Date); err != nil {
		return errors.New("--date must be like 2026-12-31")
	}
	program, err := kong.New(&commands{}, kong.Name("latchkey"), kong.Description(about))
	if err != nil {
		return err
	}
	settings, err := os.ReadFile(cmd.Config)
	if err != nil {
		return err
	}
	pages := map[string]string{
		"latchkey.1":      cmd.overview(program.Model),
		"latchkey.yaml.5": cmd.settings(string(settings)),
	}
	for _, c := range program.Model.Children {
		if !c.Hidden {
			pages["latchkey-"+c.Name+".1"] = cmd.page(c)
		}
	}
	for name, page := range pages {
		if err := os.WriteFile(filepath.Join(cmd.Folder, name), []byte(page), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (cmd manualCommand) head(name, section, summary string) string {
	return fmt.Sprintf(".TH %s %s %s \"latchkey %s\" \"Latchkey\"\n.SH NAME\n%s \\- %s\n",
		roff(strings.ToUpper(name)), section, cmd.Date, roff(version), roff(name), roff(summary))
}

// overview is latchkey(1).
func (cmd manualCommand) overview(program *kong.Application) string {
	var b strings.Builder
	b.WriteString(cmd.head("latchkey", "1", "self-hosted wallet and access control"))
	b.WriteString(".SH SYNOPSIS\n.B latchkey\n.I command\n[\\fIflags\\fR]\n.SH DESCRIPTION\n" + roff(program.Help) + "\n.SH COMMANDS\n")
	for _, c := range program.Children {
		if !c.Hidden {
			fmt.Fprintf(&b, ".TP\n.BR latchkey\\-%s (1)\n%s\n", roff(c.Name), roff(c.Help))
		}
	}
	b.WriteString(".SH FILES\n.TP\n.I /etc/latchkey/latchkey.yaml\nThe config file of the service; see\n.BR latchkey.yaml (5).\n" +
		".TP\n.I /var/lib/latchkey\nThe state of the service: database and master key.\n" +
		".SH SEE ALSO\n.BR latchkey.yaml (5)\n")
	return b.String()
}

// page is that of a command, with the commands below it.
func (cmd manualCommand) page(c *kong.Node) string {
	var b strings.Builder
	b.WriteString(cmd.head("latchkey-"+c.Name, "1", strings.TrimSuffix(firstSentence(c.Help), ".")))
	b.WriteString(".SH SYNOPSIS\n")
	eachLeaf(c, func(leaf *kong.Node) { fmt.Fprintf(&b, ".B latchkey %s\n.br\n", roff(leaf.Summary())) })
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", roff(c.Help))
	eachLeaf(c, func(leaf *kong.Node) {
		fmt.Fprintf(&b, ".SH %s\n", roff(strings.ToUpper(leaf.Path())))
		if leaf != c {
			fmt.Fprintf(&b, "%s\n", roff(leaf.Help))
		}
		for _, argument := range leaf.Positional {
			fmt.Fprintf(&b, ".TP\n.I %s\n%s\n", roff(argument.Summary()), roff(argument.Help))
		}
		for _, group := range leaf.AllFlags(true) {
			for _, flag := range group {
				fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(flag.String()), roff(flag.Help))
			}
		}
	})
	b.WriteString(".SH SEE ALSO\n.BR latchkey (1)\n")
	return b.String()
}

func eachLeaf(c *kong.Node, do func(*kong.Node)) {
	if c.Leaf() {
		do(c)
		return
	}
	for _, child := range c.Children {
		if !child.Hidden {
			eachLeaf(child, do)
		}
	}
}

// settings is latchkey.yaml(5): the file itself, whose comments explain it.
func (cmd manualCommand) settings(text string) string {
	return cmd.head("latchkey.yaml", "5", "config file of latchkey serve") +
		".SH DESCRIPTION\nEvery setting, with its default and what it means.\n.PP\n.nf\n" + roff(text) + "\n.fi\n.SH SEE ALSO\n.BR latchkey\\-serve (1)\n"
}

func firstSentence(text string) string {
	first, _, _ := strings.Cut(text, ". ")
	return first
}

// roff writes a text so that nothing in it is a request of roff.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
