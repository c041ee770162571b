// Package schema turns a struct type into everything the interface needs to
// know about one JSON object: strict decoding, validation that reports every
// problem at once, examples, and its OpenAPI description.
//
// # Tags
//
//	json:"name"       wire name, matched by exact case; ",omitzero" steers Encode
//	json:"-"          the field is no part of the object
//	check:"a,b=1"     rules, see below; no tag means optional
//	doc:"..."         description; every wire field must have one
//	example:"..."     value for the examples (of the element, for an array)
//
// # Rules
//
//	required          present and not null; a string is not empty either
//	optional          the default: null or absence is the zero value
//	allowempty        the empty string passes, whatever the other rules say
//	min=N max=N       characters, elements or value, by type
//	label uuid hex email e164
//	                  form of a string; uuid is stored in lower case
//	enum=A|B          allowed strings; a string type with Enum() has its own
//	oneof=12 15       allowed integers
//	unique            no string twice in the array
//	each=RULE         RULE for the elements of the array
//	lenient           a required array may be absent all the same
//	object            a raw value must be a JSON object
//	sampled           an optional member that Example shows all the same
//	unsampled         a member that may be absent, and that ExampleFull leaves out
//	secret            a text that serves its holder, which [Schema.Redact] empties
//
// Sampled and unsampled serve structs with a Check method, of whose optional members
// exactly one may be given, say.
//
// # Types
//
// Strings, bools, int32, Uint64, jsontext.Value (kept as it came), structs,
// pointers to structs, bools, int32s and strings (nil when absent), and slices of all
// these but the pointers to bools, int32s and strings. Recursive
// types are refused. The members of an embedded struct are those of the struct
// around it, which also checks them: an embedded one has no Check of its own.
//
// # Refusals
//
// [Schema.Decode] refuses whatever is ambiguous: duplicate names, invalid UTF-8,
// data after the object, unknown names (with a hint at the nearest known one),
// numbers with a fraction or an exponent. It refuses U+0000 in any string, which
// not every store can keep. It never repeats a value in the
// description of a problem, since values may be secret.
//
// null means absent, for an array empty: a required array may be null but not
// left out, and elements of arrays are never null.
//
// A bad tag makes [Of] panic, so that it is found when the program starts. So
// does an optional member whose zero value breaks its own rules and that is
// not marked omitzero: [Encode] would write what Decode refuses.
//
// # Invariants
//
// What [Schema.Decode] accepts, [Encode] writes in a form that Decode reads back to the
// same value, and that is written identically again. An empty array is nil
// after decoding, except in an omitzero field: there nil means absent, and a
// slice of length 0 means that the array was given and empty.
//
// [Schema.DecodeEcho] also writes the omitzero members that were given with
// their zero value (false, 0, ""): a caller finds in the echo what was sent.
package schema
