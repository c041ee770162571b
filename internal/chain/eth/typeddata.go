package eth

import (
	"errors"
	"fmt"
	"math/big"
)

// domainType is the one struct that every typed data has.
const domainType = "EIP712Domain"

// TypedData is an EIP-712 document as it is signed: a member that the types do
// not name is not hashed, and so it is not here either.
type TypedData struct {
	PrimaryType string
	Domain      Domain
	// Message holds the members of the primary type. A value is a bool, string,
	// *big.Int, Address, []byte (bytes and bytesN), []any or map[string]any.
	// It is empty when the primary type is EIP712Domain.
	Message map[string]any
	// DomainMembers holds every signed member of the domain in the same form.
	DomainMembers map[string]any
	// DomainSeparator and MessageHash are the two parts of the digest.
	DomainSeparator, MessageHash [32]byte

	types   *typeSet // with message, for Members
	message object
}

// Domain holds the standard members. One that is absent, or that the document
// declares with another type than EIP-712 gives it, is zero or nil: its hash is
// not the one that a contract would compute.
type Domain struct {
	Name              string
	Version           string
	ChainID           *big.Int
	VerifyingContract *Address
	Salt              *[32]byte
}

// domainFields are the members of the domain in the order of EIP-712.
var domainFields = []field{
	{"name", "string"},
	{"version", "string"},
	{"chainId", "uint256"},
	{"verifyingContract", "address"},
	{"salt", "bytes32"},
}

// TypedDataDigest reads {"domain","types","primaryType","message"} (EIP-712)
// and says what must be signed.
//
// Clients differ, so it accepts: integers as JSON numbers, decimal strings or
// hex strings; addresses in any case; types without EIP712Domain, which is then
// made of the members that the domain has, in standard order; and members of
// the message that its type does not name, which are not signed. It refuses
// the aliases int and uint, because clients disagree on their hash, missing and
// null values, domain members that would not be signed, and everything else
// that EIP-712 does not define.
func TypedDataDigest(text []byte) ([32]byte, *TypedData, error) {
	td, err := readTypedData(text)
	if err != nil {
		return [32]byte{}, nil, err
	}
	if td.PrimaryType == domainType {
		// As wallets do: the domain is the whole message.
		return keccak([]byte{0x19, 0x01}, td.DomainSeparator[:]), td, nil
	}
	return keccak([]byte{0x19, 0x01}, td.DomainSeparator[:], td.MessageHash[:]), td, nil
}

func readTypedData(text []byte) (*TypedData, error) {
	doc, err := readJSON(text)
	if err != nil {
		return nil, err
	}
	members, ok := doc.(object)
	if !ok {
		return nil, errors.New("the typed data is not a JSON object")
	}
	message, ok := members["message"]
	if !ok && members["primaryType"] != domainType { // there viem leaves it out
		return nil, errors.New("message is missing")
	}
	delete(members, "message")
	if err := members.only("domain", "types", "primaryType"); err != nil {
		return nil, err
	}
	domain, ok := members["domain"].(object)
	if !ok {
		return nil, errors.New("domain: expected an object")
	}
	td := &TypedData{Message: map[string]any{}}
	if td.PrimaryType, ok = members["primaryType"].(string); !ok {
		return nil, errors.New("primaryType: expected a string")
	}
	types, err := readTypes(members["types"])
	if err != nil {
		return nil, err
	}
	if domain, err = types.completeDomain(domain); err != nil {
		return nil, err
	}
	if err := types.check(); err != nil {
		return nil, err
	}
	if _, ok := types.structs[td.PrimaryType]; !ok {
		return nil, errors.New("primaryType is not one of types")
	}
	if td.DomainSeparator, td.DomainMembers, err = types.hashStruct(domainType, domain, "domain", 0); err != nil {
		return nil, err
	}
	td.Domain = standardDomain(types.structs[domainType], td.DomainMembers)
	if td.PrimaryType == domainType {
		return td, nil
	}
	td.MessageHash, td.Message, err = types.hashStruct(td.PrimaryType, message, "message", 0)
	td.types = types
	td.message, _ = message.(object) // anything else was refused just now
	return td, err
}

// completeDomain derives EIP712Domain when the client left it out, and makes
// sure that all of the domain is signed.
func (s *typeSet) completeDomain(domain object) (object, error) {
	present := object{}
	for name, v := range domain {
		if v != nil { // JavaScript clients write null for what they do not set
			present[name] = v
		}
	}
	fields, declared := s.structs[domainType]
	if !declared {
		for _, f := range domainFields {
			if _, ok := present[f.name]; ok {
				fields = append(fields, f)
			}
		}
		s.structs[domainType] = fields
	}
	named := 0
	for _, f := range fields {
		if _, ok := present[f.name]; ok {
			named++
		}
	}
	if named == len(present) {
		return present, nil
	}
	if declared {
		return nil, errors.New("domain has a member that types.EIP712Domain does not name, so it would not be signed")
	}
	return nil, errors.New("domain has a member that EIP-712 does not know; name it in types.EIP712Domain")
}

// standardDomain picks out the members that have their standard type.
func standardDomain(fields []field, values map[string]any) (d Domain) {
	for _, f := range fields {
		for _, standard := range domainFields {
			if f == standard {
				d.set(f.name, values[f.name])
			}
		}
	}
	return d
}

func (d *Domain) set(name string, value any) {
	switch v := value.(type) {
	case string:
		if name == "name" {
			d.Name = v
		} else {
			d.Version = v
		}
	case *big.Int:
		d.ChainID = v
	case Address:
		d.VerifyingContract = &v
	case []byte:
		salt := [32]byte(v)
		d.Salt = &salt
	}
}

// field is one member of a struct type.
type field struct{ name, kind string }

// typeSet is the types of a document.
type typeSet struct {
	structs map[string][]field
	hashes  map[string][32]byte // of the types seen so far
}

const (
	maxTypes  = 256
	maxFields = 256
)

// readTypes reads {"Mail":[{"name":"from","type":"Person"}, ...], ...}.
func readTypes(v any) (*typeSet, error) {
	types, ok := v.(object)
	if !ok {
		return nil, errors.New("types: expected an object")
	}
	if len(types) > maxTypes {
		return nil, fmt.Errorf("types: there are more than %d", maxTypes)
	}
	set := &typeSet{structs: map[string][]field{}, hashes: map[string][32]byte{}}
	for name, v := range types {
		list, ok := v.([]any)
		if !ok || len(list) > maxFields {
			return nil, fmt.Errorf("types.%s: expected an array of at most %d fields", quote(name), maxFields)
		}
		fields := make([]field, len(list))
		for i, v := range list {
			f, ok := v.(object)
			if !ok {
				return nil, fmt.Errorf("types.%s.%d: expected an object", quote(name), i)
			}
			if err := f.only("name", "type"); err != nil {
				return nil, at(fmt.Sprintf("types.%s.%d", quote(name), i), err)
			}
			fields[i].name, _ = f["name"].(string) // check refuses the empty name
			fields[i].kind, _ = f["type"].(string)
		}
		set.structs[name] = fields
	}
	return set, nil
}

// quote shortens a name that the client chose, for an error message.
func quote(name string) string {
	if len(name) > 40 {
		name = name[:40] + "..."
	}
	return fmt.Sprintf("%q", name)
}
