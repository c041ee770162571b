package passkey

import (
	"encoding/asn1"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sequence is a short one, in DER.
func sequence(elements ...[]byte) []byte {
	all := slices.Concat(elements...)
	return append([]byte{0x30, byte(len(all))}, all...)
}

// description has the challenge 0707 and the two lists.
func description(software, hardware []byte) []byte {
	return sequence([]byte{2, 1, 3, 10, 1, 1, 2, 1, 4, 10, 1, 1, 4, 2, 7, 7, 4, 0}, software, hardware)
}

func authorizations() (purpose, origin, all, later []byte) {
	return []byte{0xa1, 5, 0x31, 3, 2, 1, 2}, []byte{0xbf, 0x85, 0x3e, 3, 2, 1, 0}, []byte{0xbf, 0x84, 0x58, 2, 5, 0}, []byte{0xbf, 0x87, 0x68, 2, 5, 0}
}

func TestReadKeyDescription(t *testing.T) {
	purpose, origin, all, later := authorizations()
	tests := []struct {
		name string
		der  []byte
		want *keyDescription // nil: refused
	}{
		{"both lists", description(sequence(purpose), sequence(origin)), &keyDescription{purposes: []int{2}, origins: []int{0}}},
		{"one list", description(sequence(), sequence(purpose, origin)), &keyDescription{purposes: []int{2}, origins: []int{0}}},
		{"said twice", description(sequence(origin), sequence(origin)), &keyDescription{origins: []int{0, 0}}},
		{"all applications", description(sequence(all), sequence()), &keyDescription{allApplications: true}},
		{"unknown before known", description(sequence(later, purpose), sequence()), &keyDescription{purposes: []int{2}}},
		{"nothing", description(sequence(), sequence()), &keyDescription{}},
		{"element without a tag", description(sequence([]byte{2, 1, 0}), sequence(origin)), nil},
		{"truncated element", description(sequence(origin[:5]), sequence()), nil},
		{"list that is a set", description([]byte{0x31, 0}, sequence()), nil},
		{"list that is a number", description([]byte{2, 1, 0}, sequence()), nil},
		{"purpose that is a sequence", description(sequence([]byte{0xa1, 5, 0x30, 3, 2, 1, 2}), sequence()), nil},
		{"purpose that is no number", description(sequence([]byte{0xa1, 4, 0x31, 2, 5, 0}), sequence()), nil},
		{"two origins in one", description(sequence([]byte{0xbf, 0x85, 0x3e, 6, 2, 1, 0, 2, 1, 2}), sequence()), nil},
		{"empty origin", description(sequence([]byte{0xbf, 0x85, 0x3e, 0}), sequence()), nil},
		{"one list is missing", description(sequence(), nil), nil},
		{"nothing at all", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readKeyDescription(tt.der)
			if tt.want == nil {
				if err == nil {
					t.Errorf("read %+v", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			tt.want.challenge = []byte{7, 7}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(keyDescription{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Behind its signature, the description is bytes that the maker of the
// certificate chose. What is read of it is one sequence and no more than that.
func FuzzKeyDescription(f *testing.F) {
	purpose, origin, all, later := authorizations()
	f.Add(description(sequence(), sequence()))
	f.Add(description(sequence(purpose), sequence(origin)))
	f.Add(description(sequence(all), sequence(purpose, later, origin)))
	f.Add(description(sequence(origin[:5]), []byte{2, 1, 1}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, der []byte) {
		d, err := readKeyDescription(der)
		if err != nil {
			return
		}
		var whole asn1.RawValue
		if rest, err := asn1.Unmarshal(der, &whole); err != nil || len(rest) > 0 || whole.Tag != asn1.TagSequence {
			t.Errorf("read what is not one sequence: %v", err)
		}
		if len(d.challenge)+3*len(d.purposes)+3*len(d.origins) > len(der) {
			t.Errorf("read more than there is: %+v", d)
		}
	})
}
