package policy

import (
	"time"

	"latchkey/internal/policy/fact"
)

// Env is what expressions are evaluated on. A nil Request or Consensus is one
// without roots.
type Env struct {
	Request   *fact.Request
	Consensus *fact.Consensus
	Now       time.Time
	Budget    *Budget // nil: none
}

// maxWork bounds what one evaluation does, since a request can bring long lists
// and quantifiers nest. A unit is about a node, or 64 bytes that are compared;
// all of it takes tens of milliseconds.
const maxWork = 1 << 21

// machine is the state of one evaluation. It lives on the stack: its methods
// call each other directly, and the functions of the vocabulary get pointers
// into facts only.
type machine struct {
	request *fact.Request
	// Lists of users and credentials as typ.at reads them; nil: absent.
	approvers, credentials any
	now                    time.Time
	variables              [maxVariables + 1]value // the last one is scratch
	work, base             int                     // done so far, counted from base on
	budget                 *Budget
	failed                 failure
}

// hourWork is what an hour of a window of time costs.
const hourWork = 4

// scratch is the slot of elements that are not bound to a variable.
const scratch = maxVariables

func (m *machine) load(env *Env) {
	m.request, m.now, m.budget = env.Request, env.Now, env.Budget
	if env.Consensus != nil {
		m.approvers, m.credentials = &env.Consensus.Approvers, &env.Consensus.Credentials
	}
}

// Eval evaluates the expression. The error is an [*EvalError]; without one
// nothing is allocated.
func (e *Expr) Eval(env *Env) (bool, error) {
	var m machine
	m.load(env)
	result := m.run(e)
	if m.failed.node != nil {
		return false, e.explain(&m.failed)
	}
	return result, nil
}

// run evaluates one expression from a clean start. It is false when it failed.
func (m *machine) run(e *Expr) bool {
	if !m.begin(e.top) {
		return false
	}
	result, ok := m.boolean(e.top)
	m.end(e.top)
	if !ok && m.failed.node == nil { // never; were it so, it must not pass for a plain false
		m.fail(e.top, unreadable)
	}
	return result && ok
}

// begin prepares the evaluation of n. It fails when the budget is used up.
func (m *machine) begin(n *node) bool {
	if m.failed.node != nil {
		m.failed = failure{}
	}
	m.budget.take(m.work - m.base) // for what was not ended
	m.base = 0
	if m.budget != nil {
		m.base = maxWork - min(maxWork, m.budget.left)
	}
	m.work = m.base
	return m.work < maxWork || m.fail(n, tooMuch)
}

// end pays for the evaluation of n.
func (m *machine) end(n *node) {
	m.budget.take(m.work - m.base + int(n.weight))
	m.work = m.base
}

// spend counts work; it fails when there was too much.
func (m *machine) spend(n *node, units int) bool {
	m.work += units
	return m.work <= maxWork || m.fail(n, tooMuch)
}

// boolean evaluates a node that is true or false. Here as in all methods of the
// kind, ok is false when there is no value; the failure is recorded then.
func (m *machine) boolean(n *node) (result, ok bool) {
	switch n.op {
	case opBool:
		return n.flag, true
	case opAnd:
		result, ok = true, true
		for _, c := range n.args {
			r, fine := m.boolean(c)
			result, ok = result && r, ok && fine
		}
		return result, ok
	case opOr:
		ok = true
		for _, c := range n.args {
			r, fine := m.boolean(c)
			result, ok = result || r, ok && fine
		}
		return result, ok
	case opNot:
		result, ok = m.boolean(n.x)
		return !result, ok
	case opEqual:
		return m.equal(n)
	case opNotEqual:
		result, ok = m.equal(n)
		return !result, ok
	case opLess, opGreater, opLessEqual, opGreaterEqual:
		order, ok := m.compare(n)
		switch n.op {
		case opLess:
			return order < 0, ok
		case opGreater:
			return order > 0, ok
		case opLessEqual:
			return order <= 0, ok
		default:
			return order >= 0, ok
		}
	case opIn:
		return m.contains(n, n.y, n.x)
	case opContains:
		return m.contains(n, n.x, n.y)
	case opAny:
		ok = m.each(n.x, n.slot, func() bool {
			m.work += int(n.y.weight)
			r, fine := m.boolean(n.y)
			result = result || r
			return fine
		})
		return result, ok
	case opAll:
		result = true
		ok = m.each(n.x, n.slot, func() bool {
			m.work += int(n.y.weight)
			r, fine := m.boolean(n.y)
			result = result && r
			return fine
		})
		return result, ok
	case opCronSpan:
		if m.now.IsZero() {
			return false, m.fail(n, noClock)
		}
		m.work += hourWork * int(n.cron.open/time.Hour+1)
		return n.cron.covers(m.now), true
	case opControl:
		return m.control(n)
	case opField:
		ref, ok := m.parent(n)
		if !ok {
			return false, false
		}
		if p := n.field.flag(ref); p != nil {
			return *p, true
		}
		return false, m.lacks(n, ref)
	default:
		v, ok := m.value(n)
		return v.flag, ok && m.requireKind(n, &v, fact.Bool)
	}
}

// equal evaluates == in the type that the checker found.
func (m *machine) equal(n *node) (result, ok bool) {
	switch n.as.kind {
	case kindText:
		x, ok1 := m.text(n.x)
		y, ok2 := m.text(n.y)
		ok = ok1 && ok2 && m.spend(n, len(x.s)>>6)
		return ok && x.equal(y), ok
	case kindBool:
		x, ok1 := m.boolean(n.x)
		y, ok2 := m.boolean(n.y)
		return x == y, ok1 && ok2
	case kindArgument:
		x, ok1 := m.value(n.x)
		y, ok2 := m.value(n.y)
		if !ok1 || !ok2 {
			return false, false
		}
		return m.equalValues(n, &x, &y)
	default:
		order, ok := m.compare(n)
		return order == 0, ok
	}
}

// compare orders two numbers or timestamps.
func (m *machine) compare(n *node) (order int, ok bool) {
	if n.as.kind == kindTime {
		x, ok1 := m.instant(n.x)
		y, ok2 := m.instant(n.y)
		return x.Compare(y), ok1 && ok2
	}
	x, ok1 := m.number(n.x)
	y, ok2 := m.number(n.y)
	if !ok1 || !ok2 {
		return 0, false
	}
	return x.compare(y), true
}

func (m *machine) instant(n *node) (time.Time, bool) {
	if n.op == opTimestamp {
		return *n.time, true
	}
	if m.now.IsZero() {
		return m.now, m.fail(n, noClock)
	}
	return m.now, true
}

// contains compares element with every element of list, as == does.
func (m *machine) contains(n, list, element *node) (result, ok bool) {
	if n.as.kind == kindText && (list.flag || list.op == opField) { // the same, faster
		e, ok := m.text(element)
		for _, c := range list.args {
			result = result || m.sameText(e, c.text)
		}
		if list.op == opField {
			ref, fine := m.ref(list)
			if ok = ok && fine; ok {
				m.work += len(*ref.(*[]string))
				for _, s := range *ref.(*[]string) {
					result = result || m.sameText(e, s)
				}
			}
		}
		return result && ok, ok
	}
	e, ok := m.value(element)
	fine := m.each(list, scratch, func() bool {
		if !ok {
			return true // the elements are still evaluated
		}
		r, fine := m.equalValues(n, &e, &m.variables[scratch])
		result = result || r
		return fine
	})
	return result, ok && fine
}

// sameText compares texts, and counts long ones as work.
func (m *machine) sameText(e textValue, s string) bool {
	m.work += min(len(e.s), len(s)) >> 6
	return e.equal(textValue{s: s})
}

// equalValues compares two values in the type that the checker found for n, or in the
// one that they turn out to have.
func (m *machine) equalValues(n *node, x, y *value) (result, ok bool) {
	var want fact.Kind
	switch n.as.kind {
	case kindText:
		want = fact.Text
	case kindInt:
		want = fact.Num
	case kindBool:
		want = fact.Bool
	default:
		want = scalarOf(x, scalarOf(y, fact.Text))
	}
	ok1, ok2 := m.requireKind(n, x, want), m.requireKind(n, y, want)
	if !ok1 || !ok2 {
		return false, false
	}
	switch want {
	case fact.Text:
		m.work += len(x.text.s) >> 6
		return x.text.equal(y.text), true
	case fact.Num:
		return x.number.compare(y.number) == 0, true
	default:
		return x.flag == y.flag, true
	}
}

// scalarOf is the kind of v if that can be compared, else the other one.
func scalarOf(v *value, other fact.Kind) fact.Kind {
	if v.kind == fact.Text || v.kind == fact.Num || v.kind == fact.Bool {
		return v.kind
	}
	return other
}
