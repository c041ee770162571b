package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// rules is a parsed check tag.
type rules struct {
	required, optional bool
	allowEmpty         bool
	lenient, unique    bool
	objectOnly         bool
	sampled, unsampled bool
	secret             bool
	hasMin, hasMax     bool
	min, max           int
	format             string // label, uuid, hex, email, e164
	enum               []string
	oneof              []int
	each               *rules
}

// formats are the rules about the form of a string.
var formats = []string{"label", "uuid", "hex", "email", "e164"}

// labelMax is the longest human name, in characters.
const labelMax = 256

func parseRules(tag string) (rules, error) {
	var r rules
	if tag == "" {
		return r, nil
	}
	for rule := range strings.SplitSeq(tag, ",") {
		if err := r.parse(rule); err != nil {
			return r, err
		}
	}
	return r, r.consistent()
}

func (r *rules) parse(rule string) error {
	name, arg, hasArg := strings.Cut(rule, "=")
	flags := map[string]*bool{
		"required": &r.required, "optional": &r.optional, "allowempty": &r.allowEmpty,
		"lenient": &r.lenient, "unique": &r.unique, "object": &r.objectOnly,
		"sampled": &r.sampled, "unsampled": &r.unsampled, "secret": &r.secret,
	}
	if flag := flags[name]; flag != nil && !hasArg {
		*flag = true
		return nil
	}
	if slices.Contains(formats, name) && !hasArg {
		if r.format != "" {
			return fmt.Errorf("rules %q and %q exclude each other", r.format, name)
		}
		r.format = name
		return nil
	}
	if arg == "" {
		return fmt.Errorf("unknown rule %q", rule)
	}
	return r.parseArg(name, arg)
}

// parseArg takes a rule of the form name=arg.
func (r *rules) parseArg(name, arg string) (err error) {
	switch name {
	case "min":
		r.hasMin = true
		r.min, err = strconv.Atoi(arg)
	case "max":
		r.hasMax = true
		r.max, err = strconv.Atoi(arg)
	case "enum":
		r.enum = strings.Split(arg, "|")
	case "oneof":
		r.oneof, err = parseInts(arg)
	case "each":
		if r.each == nil {
			r.each = new(rules)
		}
		return r.each.parse(arg)
	default:
		return fmt.Errorf("unknown rule %q", name+"="+arg)
	}
	if err != nil {
		return fmt.Errorf("rule %s=%s: not an integer", name, arg)
	}
	return nil
}

func parseInts(list string) ([]int, error) {
	var ints []int
	for s := range strings.FieldsSeq(list) {
		n, err := strconv.ParseInt(s, 10, 32)
		if err != nil {
			return nil, err
		}
		ints = append(ints, int(n))
	}
	return ints, nil
}

// consistent refuses rules that contradict each other, whatever the type.
func (r *rules) consistent() error {
	if r.each != nil {
		if r.each.each != nil || r.each.lenient || r.each.optional || r.each.sampled || r.each.unsampled {
			return fmt.Errorf("a rule makes no sense within each")
		}
		if err := r.each.consistent(); err != nil {
			return err
		}
	}
	if r.format == "label" {
		if r.hasMax && r.max > labelMax {
			return fmt.Errorf("a label has at most %d characters, so max=%d says nothing", labelMax, r.max)
		}
		if !r.hasMax {
			r.hasMax, r.max = true, labelMax
		}
		if !r.hasMin {
			r.hasMin, r.min = true, 1
		}
	}
	switch {
	case r.required && r.optional:
		return fmt.Errorf("required and optional exclude each other")
	case r.lenient && !r.required:
		return fmt.Errorf("lenient goes with required")
	case r.lenient && r.hasMin && r.min > 0:
		return fmt.Errorf("a lenient array may be empty, so min=%d contradicts it", r.min)
	case r.hasMin && r.hasMax && r.min > r.max:
		return fmt.Errorf("min=%d is above max=%d", r.min, r.max)
	case r.format != "" && r.enum != nil:
		return fmt.Errorf("enum and %s exclude each other", r.format)
	case (r.sampled || r.unsampled) && r.required && !r.lenient, r.sampled && r.unsampled:
		return fmt.Errorf("sampled and unsampled are for members that may be absent, and exclude each other")
	}
	return noneTwice(r.enum)
}

func noneTwice(values []string) error {
	for i, v := range values {
		if v == "" || slices.Contains(values[:i], v) {
			return fmt.Errorf("enum value %q is empty or given twice", v)
		}
	}
	return nil
}

// suit refuses rules that mean nothing for a value of kind k.
func (r *rules) suit(k kind) error {
	for _, c := range []struct {
		used  bool
		name  string
		kinds []kind
	}{
		{r.hasMin || r.hasMax, "min and max", []kind{kindString, kindArray, kindInt, kindUint64}},
		{r.format != "", r.format, []kind{kindString}},
		{r.enum != nil, "enum", []kind{kindString}},
		{r.allowEmpty, "allowempty", []kind{kindString}},
		{r.secret, "secret", []kind{kindString}},
		{r.oneof != nil, "oneof", []kind{kindInt}},
		{r.unique, "unique", []kind{kindArray}},
		{r.lenient, "lenient", []kind{kindArray}},
		{r.each != nil, "each", []kind{kindArray}},
		{r.objectOnly, "object", []kind{kindRaw}},
	} {
		if c.used && !slices.Contains(c.kinds, k) {
			return fmt.Errorf("rule %s does not apply to type %v", c.name, k)
		}
	}
	if k != kindInt && r.hasMin && r.min < 0 || k != kindInt && r.hasMax && r.max < 0 {
		return fmt.Errorf("a negative limit does not apply to type %v", k)
	}
	return nil
}
