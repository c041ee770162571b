package deploy

import (
	"fmt"
	"io"
	"strings"
)

// Print writes the plan as text.
func (p *Plan) Print(w io.Writer) error {
	var b strings.Builder
	if len(p.Names) > 0 {
		b.WriteString("names\n")
	}
	label := p.labels()
	width := 0
	for _, n := range p.Names {
		width = max(width, len(n.Placeholder))
	}
	for _, n := range p.Names {
		fmt.Fprintf(&b, "  %-*s  %s\n", width, n.Placeholder, n.Value)
	}
	b.WriteString("changes\n")
	for i := range p.Steps {
		s := &p.Steps[i]
		fmt.Fprintf(&b, "  %s %s\n", [...]string{Create: "+", Update: "~", Delete: "-"}[s.Action], s)
		for _, c := range s.Changes() {
			if s.Action != Delete {
				printChange(&b, Change{c.Member, label.Replace(c.From), label.Replace(c.To)})
			}
		}
	}
	for i := range p.Extra {
		fmt.Fprintf(&b, "  ? %s is in no file\n", p.Extra[i].subject())
	}
	fmt.Fprintf(&b, "  %d the same, %d to create, %d to change, %d to delete, %d in no file\n",
		p.Same, p.count(Create), p.count(Update), p.count(Delete), len(p.Extra))
	_, err := io.WriteString(w, b.String())
	return err
}

// String says what is done with what.
func (s *Step) String() string { return s.Action.String() + " " + s.subject() }

func (s *Step) subject() string {
	if s.Control != nil {
		return fmt.Sprintf("velocity control %s (%q)", s.Control.Identifier, s.Control.Name)
	}
	p := s.Policy()
	return strings.TrimPrefix(string(p.Effect), "EFFECT_") + fmt.Sprintf(" policy %q", p.Name)
}

func (p *Plan) count(a Action) (n int) {
	for i := range p.Steps {
		if p.Steps[i].Action == a {
			n++
		}
	}
	return n
}

// labels turns the ids of the plan back into names.
func (p *Plan) labels() *strings.Replacer {
	var pairs []string
	for _, n := range p.Names {
		pairs = append(pairs, n.Value, n.Placeholder)
	}
	return strings.NewReplacer(pairs...)
}

// printChange shows the lines of a text that change, without those that are the
// same at its beginning and at its end.
func printChange(b *strings.Builder, c Change) {
	from, to := lines(c.From), lines(c.To)
	first := 0
	for first < len(from) && first < len(to) && from[first] == to[first] {
		first++
	}
	same := 0
	for same < len(from)-first && same < len(to)-first && from[len(from)-1-same] == to[len(to)-1-same] {
		same++
	}
	fmt.Fprintf(b, "      %s\n", c.Member)
	for _, line := range from[first : len(from)-same] {
		fmt.Fprintf(b, "        - %s\n", line)
	}
	for _, line := range to[first : len(to)-same] {
		fmt.Fprintf(b, "        + %s\n", line)
	}
}

func lines(text string) []string {
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
