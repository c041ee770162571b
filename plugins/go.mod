module latchkey/plugins

go 1.26.0

require (
	filippo.io/age v1.3.2
	github.com/google/go-tpm v0.9.8
	github.com/miekg/pkcs11 v1.1.2
	golang.org/x/sys v0.49.0
)

require (
	filippo.io/hpke v0.4.0 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/term v0.47.0 // indirect
)
