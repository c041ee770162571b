// Package policytest reads files of policies and of cases for them, and runs the
// cases: `latchkey policy check` and `latchkey policy test`. It also prints what
// the engine explains.
//
// A file describes an organization (users, tags, wallets, keys, policies) and
// cases: who asks for what, and the expected outcome. A case is run by the real
// engine on a store of its own, which is deleted afterwards, so its outcome is
// what a server would decide. Nothing is executed, no key exists, and no clock is
// read.
//
// It refuses, with every mistake and its line, whatever is ambiguous: unknown and
// repeated keys, anchors, undefined names, parameters that a server would refuse,
// and facts that a policy reads and that the file leaves open (the time, a public
// key, a path).
//
// The stages of a file: yaml.go and json.go read the text and find lines,
// content.go says what it may contain, names.go resolves names and placeholders,
// users.go, wallets.go and interfaces.go make the records, policies.go compiles,
// cases.go prepares the cases; run.go runs them, coverage.go counts, steptree.go
// and print.go show.
package policytest
