package main

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
)

// keyURI is a PKCS#11 URI (RFC 7512) that names a key: pkcs11:token=…;object=…?module-path=….
type keyURI struct {
	module string // path of the library
	// What a token must have; empty: whatever it has.
	token, serial, manufacturer, model string
	// What a key must have.
	object, id, kind string
}

// parseURI reads a URI. No error repeats a value of its query, where a PIN may be.
func parseURI(text string) (u keyURI, err error) {
	rest, ok := strings.CutPrefix(text, "pkcs11:")
	if !ok {
		return u, errors.New("a key on a token is named by a URI: pkcs11:token=NAME;object=NAME?module-path=/path/of/the/library.so")
	}
	path, query, _ := strings.Cut(rest, "?")
	if err := attributes(path, ";", func(name, value string) error {
		to := map[string]*string{
			"token": &u.token, "serial": &u.serial, "manufacturer": &u.manufacturer, "model": &u.model,
			"object": &u.object, "id": &u.id, "type": &u.kind,
		}[name]
		if to == nil {
			return fmt.Errorf("the URI has %q, which is not known here: token, serial, manufacturer, model, object, id and type are", name)
		}
		*to = value
		return nil
	}); err != nil {
		return keyURI{}, err
	}
	if err := attributes(query, "&", func(name, value string) error {
		switch name {
		case "module-path":
			u.module = value
			return nil
		case "pin-value", "pin-source":
			return fmt.Errorf("the URI has %s: no PIN belongs into it; it comes by --secret NAME=SOURCE or seal.secrets", name)
		}
		return fmt.Errorf("the URI has %q after the question mark; only module-path is known there", name)
	}); err != nil {
		return keyURI{}, err
	}
	switch {
	case !filepath.IsAbs(u.module):
		return keyURI{}, errors.New("the URI must end with ?module-path= and the whole path of the PKCS#11 library")
	case u.object == "" && u.id == "":
		return keyURI{}, errors.New("the URI must name the key: object=NAME or id=%01")
	case u.token == "" && u.serial == "":
		return keyURI{}, errors.New("the URI must name the token: token=NAME or serial=NUMBER")
	case u.kind != "" && u.kind != "secret-key" && u.kind != "private":
		return keyURI{}, fmt.Errorf("the URI has type=%.20q; it can be secret-key (AES) or private (RSA)", u.kind)
	}
	return u, nil
}

// attributes reads name=value with percent signs, each name once.
func attributes(text, between string, use func(name, value string) error) error {
	seen := map[string]bool{}
	for part := range strings.SplitSeq(text, between) {
		if part == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		value, err := url.PathUnescape(value)
		switch {
		case !ok || err != nil || value == "":
			return fmt.Errorf("the URI is not whole at %.20q: it must be name=value, with %%-signs for other characters", name)
		case seen[name]:
			return fmt.Errorf("the URI has %q twice", name)
		case strings.ContainsRune(value, 0) && name != "id":
			return fmt.Errorf("the URI has a NUL in %q", name)
		}
		seen[name] = true
		if err := use(name, value); err != nil {
			return err
		}
	}
	return nil
}

// String names the key for people.
func (u keyURI) String() string {
	var parts []string
	for _, part := range []struct{ name, value string }{
		{"token", u.token}, {"serial", u.serial}, {"object", u.object}, {"id", url.PathEscape(u.id)}, {"type", u.kind},
	} {
		if part.value != "" {
			parts = append(parts, part.name+"="+part.value)
		}
	}
	return strings.Join(parts, ", ")
}
