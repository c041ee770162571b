package eth

// Member is one signed value of typed data with what the document says about
// it and [TypedData.Message] leaves out: the declared type, the place among the
// others, and how an integer was written.
type Member struct {
	Name string // empty for an element of an array
	Type string // as declared, such as uint256 or Person[]
	// Value is a bool, string, *big.Int, Address, []byte (bytes and bytesN),
	// [Array] or [Struct].
	Value any
	// Quoted is the text of an integer that the document writes as a string;
	// empty for one that is a JSON number, and for everything else.
	Quoted string
}

type (
	// Array holds the elements of an array.
	Array []Member
	// Struct holds the members of a struct, as its type declares them.
	Struct []Member
)

// Members are those of the message. There are none when the primary type is
// EIP712Domain.
func (td *TypedData) Members() Struct {
	if td.PrimaryType == domainType {
		return nil
	}
	return td.types.members(td.PrimaryType, td.message, td.Message)
}

// members walks what was read and what was hashed, which have the same shape.
func (s *typeSet) members(name string, read object, hashed map[string]any) Struct {
	all := make(Struct, 0, len(s.structs[name]))
	for _, f := range s.structs[name] {
		m := s.member(f.kind, read[f.name], hashed[f.name])
		m.Name = f.name
		all = append(all, m)
	}
	return all
}

func (s *typeSet) member(kind string, read, hashed any) Member {
	m := Member{Type: kind, Value: hashed}
	if base, _, ok := array(kind); ok {
		items, values := read.([]any), hashed.([]any)
		elements := make(Array, len(items))
		for i := range items {
			elements[i] = s.member(base, items[i], values[i])
		}
		m.Value = elements
	} else if _, ok := s.structs[kind]; ok {
		m.Value = s.members(kind, read.(object), hashed.(map[string]any))
	} else if _, _, ok := integer(kind); ok {
		m.Quoted, _ = read.(string)
	}
	return m
}
