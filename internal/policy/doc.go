// Package policy is the policy language: it reads, checks, runs and explains
// expressions, and combines the outcomes of many policies into one decision. It
// knows no HTTP, no store and no clock; all that a policy may look at is handed
// in as an [Env].
//
// The stages of an expression: lex.go cuts the source into tokens, parse.go and
// operand.go build the tree of ast.go, check.go and resolve.go give each node
// its type by the tables in fields.go and fields_chain.go, and eval.go, value.go
// and list.go walk the checked tree. voters.go and decide.go make decisions of
// expressions; trace.go, print.go and lint.go show the same tree to users.
//
// It refuses, when an expression is compiled, whatever does not type-check
// against the roots of its place; there is no coercion, arithmetic, regular
// expression, comment or escape, and source, nodes and depth have caps.
//
// What always holds:
//
//   - Nothing is short-circuited. Every operand and every element of a list is
//     evaluated, and an error in one of them is the result. Elements without a
//     value do not keep the others from being evaluated.
//   - An error never allows. Reading what the request does not have makes the
//     policy not apply; every other error makes a DENY deny. If an expression
//     meets both, the first counts.
//   - The order of operands, of elements and of policies never changes an
//     outcome.
//   - Evaluation ends: it visits a bounded number of elements and never recurses
//     on data. It does not allocate. All evaluations for one request share a
//     [Budget]; a decision for which it does not suffice is an error of every
//     policy.
//   - A compiled [Expr] is immutable and may be used by many goroutines.
package policy
