package policytest

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/chain/abi"
	"latchkey/internal/chain/idl"
	"latchkey/internal/domain"
)

// readInterfaces reads what is known of contracts and programs.
func (r *reader) readInterfaces() {
	for i := range r.content.Interfaces {
		given := &r.content.Interfaces[i]
		at := "interfaces." + strconv.Itoa(i)
		text, ok := r.interfaceJSON(at, given)
		if !ok {
			continue
		}
		var err error
		if given.Type == domain.ContractEthereum {
			_, err = abi.Parse(text)
		} else {
			_, err = idl.Parse(text)
		}
		if err != nil {
			r.reportPath(at, "%v", err)
			continue
		}
		r.contracts = append(r.contracts, &domain.ContractInterface{
			ID: madeUpID("interface", i, given.Address), Address: given.Address, Type: given.Type, Label: given.Address, Text: text,
			CreatedAt: epoch, UpdatedAt: epoch,
		})
	}
}

// interfaceJSON is the JSON of an interface.
func (r *reader) interfaceJSON(at string, given *interfaceSpec) (string, bool) {
	switch {
	case (given.File == "") == (given.JSON == nil):
		r.reportPath(at, "give the ABI or IDL either as file or as json")
		return "", false
	case given.File != "":
		text, err := r.read(given.File)
		if err != nil {
			r.reportPath(join(at, "file"), "%v", err)
		}
		return string(text), err == nil
	case given.JSON.Kind() != '"':
		return string(given.JSON), true
	}
	text, err := jsontext.AppendUnquote(nil, given.JSON)
	if err != nil {
		r.reportPath(join(at, "json"), "%v", err)
	}
	return string(text), err == nil
}
