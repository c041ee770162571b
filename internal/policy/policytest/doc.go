// Package policytest reads files of policies and of cases for them, and runs the
// cases: `latchkey policy check` and `latchkey policy test`. It also prints, for
// people, what the engine explains.
//
// A file describes an organization (users, tags, wallets, keys, policies) and
// cases: who asks for what, and what is to become of it. A case is run by the
// real engine on a store of its own, which is deleted afterwards, so what it
// shows is what a server would decide. Nothing is executed, no key exists, and
// no clock is read.
//
// It refuses, with every mistake and its line, whatever two readers could
// understand differently: unknown and repeated keys, anchors, names that
// nothing has, parameters that a server would refuse, and facts that a policy
// reads and that the file leaves open (the time, a public key, a path).
//
// The way of a file: yaml.go and json.go read the text and find lines, shape.go
// says what it may hold, names.go resolves names and placeholders, people.go,
// holdings.go and interfaces.go make the records, policies.go compiles, cases.go
// prepares the cases; run.go runs them, coverage.go counts, tree.go and print.go
// show.
package policytest
