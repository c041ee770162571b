package policytest

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strings"

	"latchkey/internal/policy"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/engine"
)

// Print writes the finding as text.
func (f *Finding) Print(w io.Writer, file string) error {
	_, err := fmt.Fprintf(w, "%s:%d: warning: %s%s (%s)%s\n", file, f.Line, policyPrefix(f.Policy, f.Place), f.Message, f.Code, f.excerpt.text())
	return err
}

// Print writes the report as text.
func (r *Report) Print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintln(&b, r.File.Path)
	for i := range r.Results {
		result := &r.Results[i]
		if len(result.Failures) == 0 {
			fmt.Fprintf(&b, "  ok    %s\n", result.Case.Name)
			continue
		}
		fmt.Fprintf(&b, "  FAIL  %s (line %d)\n", result.Case.Name, result.Case.Line)
		for _, failure := range result.Failures {
			fmt.Fprintf(&b, "        %s\n", failure)
		}
		p := printer{&b, "        ", r.File.labels.Replace}
		p.explanation(result.Reply, true)
	}
	if len(r.Coverage) > 0 {
		b.WriteString("  clauses seen true and false\n")
		r.Coverage.print(&b)
	}
	seen, all := r.Coverage.Count()
	fmt.Fprintf(&b, "  %d of %d cases passed; %d%% of the clauses covered (%d of %d outcomes)\n",
		len(r.Results)-r.Failed(), len(r.Results), r.Coverage.Percent(), seen, all)
	_, err := io.WriteString(w, b.String())
	return err
}

func (c Coverage) print(b *strings.Builder) {
	var before Clause
	for _, clause := range c {
		if clause.Policy != before.Policy || clause.Place != before.Place {
			fmt.Fprintf(b, "    policy %s: %s\n", clause.Policy, clause.Place)
		}
		before = clause
		note := ""
		if !clause.True && !clause.False {
			note = "   (never had a value)"
			if !clause.Failed {
				note = "   (never evaluated)"
			}
		}
		fmt.Fprintf(b, "      %s %s  %s%s\n", orDashes(clause.True, "true "), orDashes(clause.False, "false"), oneLine(clause.Source), note)
	}
}

func orDashes(seen bool, word string) string {
	if seen {
		return word
	}
	return strings.Repeat("-", len(word))
}

// PrintReply writes an explanation as text.
func PrintReply(w io.Writer, reply *engine.ExplainReply) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", reply.Outcome, reply.Reason)
	p := printer{&b, "", func(text string) string { return text }}
	p.explanation(reply, false)
	_, err := io.WriteString(w, b.String())
	return err
}

// printer writes explanations.
type printer struct {
	*strings.Builder
	indent string
	label  func(string) string // makes ids readable
}

func (s *printer) line(format string, args ...any) {
	fmt.Fprintf(s, s.indent+format+"\n", args...)
}

// explanation is everything but the outcome. Ids of users are left out where
// names say as much.
func (s *printer) explanation(reply *engine.ExplainReply, names bool) {
	if quorum := reply.RootQuorum; quorum.Threshold > 0 && len(quorum.UserIDs) > 0 {
		s.line("root quorum: %d of %d needed votes", len(quorum.Approved), quorum.Threshold)
	}
	for _, p := range reply.Policies {
		s.line("policy %s (%s): %s", cmp.Or(p.PolicyName, p.PolicyID), p.Effect, p.Outcome)
		if p.Reason != "" {
			s.line("  %s", s.label(p.Reason))
		}
		s.expression(policy.Condition, p.Condition)
		s.expression(policy.Consensus, p.Consensus)
		s.expression(policy.Time, p.Time)
	}
	for i := range reply.Controls {
		s.control(&reply.Controls[i])
	}
	if len(reply.CanApprove) == 0 {
		return
	}
	voters := make([]string, len(reply.CanApprove))
	for i, v := range reply.CanApprove {
		if voters[i] = v.UserName; !names {
			voters[i] += " (" + v.UserID + ")"
		}
	}
	s.line("can approve: %s", strings.Join(voters, ", "))
}

// control says what a velocity control had, and would have.
func (s *printer) control(c *activity.ControlEvaluation) {
	switch {
	case c.Unreadable != "":
		s.line("control %s cannot tell: %s", c.Identifier, c.Unreadable)
		return
	case c.GroupID == "":
		s.line("control %s has no group for it", c.Identifier)
		return
	}
	holds, left := "it does not hold", ""
	if c.Holds {
		holds = "it holds"
	}
	if c.Left != "" {
		left = ", " + c.Left + " left"
	}
	s.line("control %s: %s used%s; %s with this request: %s", c.Identifier, c.Used, left, c.After, holds)
}

func (s *printer) expression(place policy.Place, steps []engine.ExplainedStep) {
	if len(steps) == 0 {
		return
	}
	s.line("  %s", place)
	for _, top := range stepTree(steps) {
		s.step(top, "    ", "")
	}
}

// step writes a part with its value, and below it the parts inside. bound is
// what the part around it is about.
func (s *printer) step(n *stepNode, indent, bound string) {
	about := strings.TrimPrefix(strings.TrimPrefix(n.Bound, bound), ", ")
	if about != "" {
		about = "[" + oneLine(s.label(about)) + "] "
	}
	value := s.label(n.Value)
	if n.Error != "" {
		value = "no value: " + n.Error
	}
	s.line("%s%s%s -> %s", indent, about, oneLine(s.label(n.Source)), value)
	for _, c := range n.children {
		if !c.isTrivial() {
			s.step(c, indent+"  ", n.Bound)
		}
	}
}

var record = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)

// isTrivial reports whether the value of a part adds nothing: it is what was
// written, or a record, of which only the fields have values.
func (n *stepNode) isTrivial() bool {
	return len(n.children) == 0 && n.Error == "" && (n.Value == n.Source || record.MatchString(n.Value))
}

// oneLine shows an expression on one line, shortened.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 2*excerptMargin {
		text = text[:runeStart(text, 2*excerptMargin)] + "…"
	}
	return text
}
