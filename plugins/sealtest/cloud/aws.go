package cloud

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// The keys of AWS. The alias is of the first.
const (
	AWSKey   = awsAccount + "key/11111111-2222-3333-4444-555555555555"
	AWSOther = awsAccount + "key/66666666-7777-8888-9999-000000000000"
	AWSAlias = awsAccount + "alias/latchkey"

	awsAccount = "arn:aws:kms:eu-central-1:123456789012:"
	accessKey  = "AKIALATCHKEYTEST0001"
)

var awsNames = map[string]string{AWSKey: "latchkey", AWSAlias: "latchkey", AWSOther: "other"}

// serveAWS answers as KMS does: https://docs.aws.amazon.com/kms/latest/APIReference
func (s *Service) serveAWS(w http.ResponseWriter, r *http.Request, body []byte) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	var asked struct {
		KeyID             string `json:"KeyId"`
		Plaintext         []byte
		CiphertextBlob    []byte
		EncryptionContext map[string]string
	}
	trouble, _ := s.state("")
	name := ""
	switch err := json.Unmarshal(body, &asked); {
	case err != nil:
		refuseAWS(w, http.StatusBadRequest, "SerializationException", "")
		return
	case !strings.Contains(r.Header.Get("Authorization"), "Credential="+accessKey+"/") || !strings.Contains(r.Header.Get("Authorization"), "/eu-central-1/kms/aws4_request"):
		refuseAWS(w, http.StatusBadRequest, "UnrecognizedClientException", "The security token included in the request is invalid.")
		return
	case trouble == Expired:
		refuseAWS(w, http.StatusBadRequest, "ExpiredTokenException", "The security token included in the request is expired")
		return
	case trouble == Denied:
		refuseAWS(w, http.StatusBadRequest, "AccessDeniedException", "User is not authorized to perform: kms:Decrypt on this resource")
		return
	case trouble == Busy:
		refuseAWS(w, http.StatusInternalServerError, "KeyUnavailableException", "The request was rejected because the key was not available.")
		return
	case trouble == Disabled:
		refuseAWS(w, http.StatusBadRequest, "DisabledException", asked.KeyID+" is disabled.")
		return
	}
	if name = awsNames[asked.KeyID]; name == "" {
		refuseAWS(w, http.StatusBadRequest, "NotFoundException", "Key '"+asked.KeyID+"' does not exist")
		return
	}
	_, versions := s.state(name)
	answer := map[string]any{"KeyId": AWSKey, "EncryptionAlgorithm": "SYMMETRIC_DEFAULT"}
	if name == "other" || trouble == OtherKey {
		answer["KeyId"] = AWSOther
	}
	bound := []byte{}
	for _, member := range slices.Sorted(maps.Keys(asked.EncryptionContext)) {
		bound = append(bound, member+"="+asked.EncryptionContext[member]+"\n"...)
	}
	switch r.Header.Get("X-Amz-Target") {
	case "TrentService.Encrypt":
		answer["CiphertextBlob"] = append([]byte(name+" "), encrypt(versions, asked.Plaintext, bound)...)
	case "TrentService.Decrypt":
		of, text, _ := strings.Cut(string(asked.CiphertextBlob), " ")
		if of != name {
			refuseAWS(w, http.StatusBadRequest, "IncorrectKeyException", "The key ID in the request does not identify a CMK that can perform this operation.")
			return
		}
		plain, err := decrypt(versions, []byte(text), bound)
		if err != nil {
			refuseAWS(w, http.StatusBadRequest, "InvalidCiphertextException", "")
			return
		}
		answer["Plaintext"] = plain
	default:
		refuseAWS(w, http.StatusBadRequest, "UnknownOperationException", "")
		return
	}
	reply(w, http.StatusOK, answer)
}

func refuseAWS(w http.ResponseWriter, status int, kind, message string) {
	reply(w, status, map[string]string{"__type": kind, "message": message})
}
