package policy

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"latchkey/internal/policy/fact"
)

// oracle evaluates an expression in the plainest way that the language allows:
// every list is built, every value is a Go value of its own, and errors are
// gathered. A list some of whose elements have no value is an error and yet has
// the others: nothing that can be evaluated is left out. It shares the tree and
// the vocabulary with the evaluator and none of its code.
type oracle struct {
	env  *Env
	vars map[uint8]any
}

var (
	errAbsent = errors.New("absent")
	errOther  = errors.New("error")
)

type (
	words struct {
		text   string
		fold   bool
		others []string
	}
	items  []any
	fields struct{ fact.Map }
)

// worse joins errors: absence before any other.
func worse(all ...error) error {
	var result error
	for _, err := range all {
		if errors.Is(err, errAbsent) || result == nil {
			result = cmp.Or(err, result)
		}
	}
	return result
}

func (o *oracle) argument(v *fact.Value) any {
	switch v.Kind {
	case fact.Bool:
		return v.Bool
	case fact.Num:
		return v.Number
	case fact.Text:
		return words{text: v.Text, fold: v.Fold}
	case fact.List:
		all := items{}
		for i := range v.List {
			all = append(all, o.argument(&v.List[i]))
		}
		return all
	case fact.Struct:
		return fields{v.Fields}
	case fact.Null:
		return errAbsent
	default:
		return errOther
	}
}

// want turns a value into one of T; the elements of a list stay beside an error.
func want[T any](v any, err error) (T, error) {
	var zero T
	if err != nil {
		if all, ok := v.(T); ok {
			return all, err
		}
		return zero, err
	}
	if bad, ok := v.(error); ok {
		return zero, bad
	}
	if t, ok := v.(T); ok {
		return t, nil
	}
	return zero, errOther
}

func (o *oracle) spread(ref any, t *typ) any {
	all := items{}
	switch l := ref.(type) {
	case *[]string:
		for _, s := range *l {
			all = append(all, words{text: s})
		}
	case *[]fact.Number:
		for _, n := range *l {
			all = append(all, n)
		}
	case *[]bool:
		for _, b := range *l {
			all = append(all, b)
		}
	case *fact.Map:
		return fields{*l}
	default:
		if t.kind != kindList {
			return ref
		}
		for i := range t.elem.size(ref) {
			all = append(all, t.elem.at(ref, i))
		}
	}
	return all
}

func (o *oracle) eval(n *node) (any, error) {
	switch n.op {
	case opText:
		return words{text: n.text}, nil
	case opNumber:
		return n.number.wide(), nil
	case opBool:
		return n.flag, nil
	case opTimestamp:
		return *n.time, nil
	case opNow:
		return o.env.Now, nil
	case opCronSpan:
		return slowly(n.cron, o.env.Now), nil
	case opVariable:
		return o.vars[n.slot], nil
	case opRoot:
		if ref := n.root.get(o.env.Request); ref != nil {
			return o.spread(ref, n.typ), nil
		}
		return nil, errAbsent
	case opApprovers:
		return o.spread(&o.env.Consensus.Approvers, n.typ), nil
	case opCredentials:
		return o.spread(&o.env.Consensus.Credentials, n.typ), nil
	case opField:
		return o.field(n)
	case opLower:
		w, err := want[words](o.eval(n.x))
		lower := words{text: strings.ToLower(w.text), fold: w.fold} // ASCII only in what is generated
		for _, other := range w.others {
			lower.others = append(lower.others, strings.ToLower(other))
		}
		return lower, err
	case opList:
		var errs []error
		all := items{}
		for _, a := range n.args {
			v, err := o.eval(a)
			if err == nil {
				all = append(all, v)
			}
			errs = append(errs, err)
		}
		return all, worse(errs...)
	case opCount:
		l, err := want[items](o.eval(n.x))
		return fact.Int(int64(len(l))), err
	case opNot:
		b, err := want[bool](o.eval(n.x))
		return !b, err
	case opAnd, opOr:
		var errs []error
		var all []bool
		for _, a := range n.args {
			b, err := want[bool](o.eval(a))
			all, errs = append(all, b), append(errs, err)
		}
		if n.op == opAnd {
			return !slices.Contains(all, false), worse(errs...)
		}
		return slices.Contains(all, true), worse(errs...)
	case opAny, opAll, opFilter:
		return o.quantifier(n)
	case opIn, opContains:
		list, element := n.y, n.x
		if n.op == opContains {
			list, element = n.x, n.y
		}
		e, err1 := o.eval(element)
		l, err2 := want[items](o.eval(list))
		errs := []error{err1, err2}
		found := false
		for _, v := range l {
			if err1 == nil {
				same, err := o.order(e, v, n.as)
				errs, found = append(errs, err), found || same == 0
			}
		}
		return found, worse(errs...)
	case opKey:
		m, err := want[fields](o.eval(n.x))
		if err != nil {
			return nil, err
		}
		v := m.Get(n.y.text)
		if v == nil {
			return nil, errAbsent
		}
		if a := o.argument(v); n.typ.kind == kindText {
			return want[words](a, nil)
		} else {
			return a, nil
		}
	case opIndex, opSlice:
		return o.part(n)
	default:
		x, err1 := o.eval(n.x)
		y, err2 := o.eval(n.y)
		if err := worse(err1, err2); err != nil {
			return nil, err
		}
		order, err := o.order(x, y, n.as)
		return map[op]bool{
			opEqual: order == 0, opNotEqual: order != 0, opLess: order < 0, opGreater: order > 0,
			opLessEqual: order <= 0, opGreaterEqual: order >= 0,
		}[n.op], err
	}
}

func (o *oracle) field(n *node) (any, error) {
	parent, err := o.eval(n.x)
	if err != nil {
		return nil, err
	}
	switch f := n.field; {
	case f.text != nil && f.text(parent) != nil:
		w := words{text: *f.text(parent), fold: f.typ.fold}
		if f.others != nil && f.others(parent) != nil {
			w.others = f.others(parent)()
		}
		return w, nil
	case f.number != nil && f.number(parent) != nil:
		return *f.number(parent), nil
	case f.flag != nil && f.flag(parent) != nil:
		return *f.flag(parent), nil
	case f.ref != nil && f.ref(parent) != nil:
		return o.spread(f.ref(parent), f.typ), nil
	case f.untold != nil && f.untold(parent) != "":
		return nil, errOther
	}
	return nil, errAbsent
}

func (o *oracle) quantifier(n *node) (any, error) {
	l, err := want[items](o.eval(n.x))
	errs := []error{err}
	kept, passed := items{}, 0
	for _, v := range l {
		before := o.vars[n.slot]
		o.vars[n.slot] = v
		b, err := want[bool](o.eval(n.y))
		o.vars[n.slot] = before
		errs = append(errs, err)
		if b && err == nil {
			kept = append(kept, v)
			passed++
		}
	}
	switch err := worse(errs...); n.op {
	case opAny:
		return passed > 0, err
	case opAll:
		return passed == len(l), err
	default:
		return kept, err
	}
}

// order compares in a type; of what has no order 1 is "not equal".
func (o *oracle) order(x, y any, as *typ) (int, error) {
	if as.kind == kindArgument {
		as = textType
		for _, v := range []any{y, x} { // x counts first
			switch v.(type) {
			case words:
				as = textType
			case fact.Number:
				as = intType
			case bool:
				as = boolType
			}
		}
	}
	switch as.kind {
	case kindText:
		a, err1 := want[words](x, nil)
		b, err2 := want[words](y, nil)
		for _, x := range append([]string{a.text}, a.others...) {
			for _, y := range append([]string{b.text}, b.others...) {
				if x == y || (a.fold || b.fold) && strings.EqualFold(x, y) {
					return 0, worse(err1, err2)
				}
			}
		}
		return 1, worse(err1, err2)
	case kindInt:
		a, err1 := want[fact.Number](x, nil)
		b, err2 := want[fact.Number](y, nil)
		return a.Cmp(&b), worse(err1, err2)
	case kindBool:
		a, err1 := want[bool](x, nil)
		b, err2 := want[bool](y, nil)
		if a == b {
			return 0, worse(err1, err2)
		}
		return 1, worse(err1, err2)
	default:
		return x.(interface{ Compare(t any) int }).Compare(y), nil
	}
}

func (o *oracle) part(n *node) (any, error) {
	x, err := o.eval(n.x)
	from, err1 := want[fact.Number](o.eval(n.y))
	to, err2 := from, error(nil)
	if n.op == opSlice {
		to, err2 = want[fact.Number](o.eval(n.z))
	}
	partial, isList := x.(items)
	if err := worse(err, err1, err2); err != nil && (!isList || n.op == opIndex || err1 != nil || err2 != nil) {
		return nil, err
	}
	length := len(partial)
	switch v := x.(type) {
	case items:
	case words:
		length = len(v.text)
	case error:
		return nil, v
	default:
		return nil, errOther
	}
	a, b := number{big: &from}.position(), number{big: &to}.position()
	if n.op == opIndex {
		if a < 0 || int(a) >= length {
			return nil, errOther
		}
		if v, ok := x.(items); ok {
			return v[a], nil
		}
		w := x.(words)
		return words{text: w.text[a : a+1], fold: w.fold}, nil
	}
	if a < 0 || from.Cmp(&to) > 0 {
		return nil, worse(err, errOther)
	}
	i, j := min(int(a), length), min(int(b), length)
	if isList {
		return partial[i:j], err
	}
	w := x.(words)
	return words{text: w.text[i:j], fold: w.fold}, nil
}

// ask evaluates a whole expression and answers in the words of the tables.
func (o *oracle) ask(e *Expr) string {
	o.vars = map[uint8]any{}
	result, err := want[bool](o.eval(e.top))
	switch {
	case err == nil:
		return map[bool]string{true: "true", false: "false"}[result]
	case errors.Is(err, errAbsent):
		return "absent"
	default:
		return "error"
	}
}
