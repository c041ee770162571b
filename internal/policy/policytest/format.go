package policytest

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
)

// FileResult is what became of one file: a report, or why there is none.
type FileResult struct {
	Path   string
	Report *Report // nil: the file has mistakes or cannot be run
	Err    error
	// TooLittle says that the coverage is less than was asked for; empty: it is not.
	TooLittle string
}

// mistakes lists what is wrong with the file.
func (r *FileResult) mistakes() []Mistake {
	var wrong *Error
	switch {
	case r.Err == nil:
		return nil
	case errors.As(r.Err, &wrong):
		return wrong.Mistakes
	}
	return []Mistake{{Message: r.Err.Error()}}
}

// The results in JSON.
type (
	jsonFile struct {
		File     string        `json:"file"`
		Errors   []Mistake     `json:"errors"`
		Cases    []jsonCase    `json:"cases"`
		Coverage *jsonCoverage `json:"coverage,omitzero"`
	}
	jsonCase struct {
		Name     string   `json:"name"`
		Line     int      `json:"line"`
		Passed   bool     `json:"passed"`
		Expected string   `json:"expected"`
		Outcome  string   `json:"outcome"`
		Failures []string `json:"failures"`
	}
	jsonCoverage struct {
		Percent   int          `json:"percent"`
		TooLittle string       `json:"tooLittle,omitzero"`
		Clauses   []jsonClause `json:"clauses"`
	}
	jsonClause struct {
		Policy string `json:"policyName"`
		Place  string `json:"place"`
		Source string `json:"source"`
		True   bool   `json:"seenTrue"`
		False  bool   `json:"seenFalse"`
	}
)

// WriteJSON writes results for programs.
func WriteJSON(w io.Writer, results []FileResult) error {
	files := make([]jsonFile, 0, len(results))
	for i := range results {
		r := &results[i]
		f := jsonFile{File: r.Path, Errors: append([]Mistake{}, r.mistakes()...), Cases: []jsonCase{}}
		if r.Report != nil {
			for _, c := range r.Report.Results {
				f.Cases = append(f.Cases, jsonCase{
					Name: c.Case.Name, Line: c.Case.Line, Passed: len(c.Failures) == 0,
					Expected: c.Case.Expect, Outcome: c.Reply.Outcome, Failures: append([]string{}, c.Failures...),
				})
			}
			f.Coverage = &jsonCoverage{Percent: r.Report.Coverage.Percent(), TooLittle: r.TooLittle, Clauses: []jsonClause{}}
			for _, c := range r.Report.Coverage {
				f.Coverage.Clauses = append(f.Coverage.Clauses, jsonClause{c.Policy, c.Place, c.Source, c.True, c.False})
			}
		}
		files = append(files, f)
	}
	text, err := json.Marshal(struct {
		Files []jsonFile `json:"files"`
	}{files})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}

// The results as JUnit writes them, as far as readers of it agree.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string      `xml:"name,attr"`
		Class   string      `xml:"classname,attr"`
		File    string      `xml:"file,attr"`
		Line    int         `xml:"line,attr,omitempty"`
		Failure *junitIssue `xml:"failure"`
		Error   *junitIssue `xml:"error"`
	}
	junitIssue struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes results as XML that CI systems read: a suite for each file, a
// test case for each case, one for the coverage if it is too little, and one in
// error for a file that cannot be run.
func WriteJUnit(w io.Writer, results []FileResult) error {
	var all junitSuites
	for i := range results {
		suite := results[i].junit()
		all.Suites = append(all.Suites, suite)
		all.Tests += suite.Tests
		all.Failures += suite.Failures
		all.Errors += suite.Errors
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}

func (r *FileResult) junit() junitSuite {
	s := junitSuite{Name: r.Path}
	add := func(c junitCase) {
		c.Class, c.File = r.Path, r.Path
		s.Cases = append(s.Cases, c)
		s.Tests++
		if c.Failure != nil {
			s.Failures++
		}
		if c.Error != nil {
			s.Errors++
		}
	}
	if r.Err != nil {
		message, _, _ := strings.Cut(r.Err.Error(), "\n")
		add(junitCase{Name: "the file can be run", Error: &junitIssue{message, r.Err.Error()}})
		return s
	}
	for i := range r.Report.Results {
		result := &r.Report.Results[i]
		c := junitCase{Name: result.Case.Name, Line: result.Case.Line}
		if len(result.Failures) > 0 {
			var b strings.Builder
			fmt.Fprintln(&b, strings.Join(result.Failures, "\n"))
			p := printer{&b, "", r.Report.File.labels.Replace}
			p.explanation(result.Reply, true)
			c.Failure = &junitIssue{result.Failures[0], b.String()}
		}
		add(c)
	}
	if r.TooLittle != "" {
		add(junitCase{Name: "the cases cover enough", Failure: &junitIssue{r.TooLittle, r.TooLittle}})
	}
	return s
}
