package console

// EnrolmentKeyName is the name of the key in an enrolment link. The page that
// registers the passkey deletes the key by it.
const EnrolmentKeyName = "Enrolment link"

// EnrolmentLink is where a user registers a first passkey: it holds the private
// half, in hex, of an API key of that user which expires.
func EnrolmentLink(origin, organizationID, privateKey string) string {
	return origin + Root + "#enroll=" + organizationID + "." + privateKey
}
