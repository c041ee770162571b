package fact

// SparkParams are the parameters of the Spark activities; nil: the activity
// does not expose them. A text that the request leaves out is empty.
type SparkParams struct {
	SignWith         *string
	Signatures       []SparkSignature // nil: not exposed
	Transfer         *SparkTransfer
	Claim            *SparkClaim
	LightningReceive *SparkLightningReceive
}

// SparkDerivation says which key of a Spark wallet is meant. The fields of a
// variant that Type does not name are zero.
type SparkDerivation struct {
	Type   string
	LeafID string // signing_leaf
	Index  Number // static_deposit
}

// SparkSignature is one signature that is asked for.
type SparkSignature struct {
	Derivation          SparkDerivation
	Message             string
	VerifyingKey        string
	OperatorCommitments []SparkCommitment
	AdaptorPublicKey    string
}

// SparkCommitment is an operator's nonce commitment.
type SparkCommitment struct{ ID, Hiding, Binding string }

// SparkTransfer is a transfer that is prepared.
type SparkTransfer struct {
	TransferID         string
	Leaves             []SparkTransferLeaf
	Threshold          Number
	OperatorRecipients []SparkOperator
	ReceiverPublicKey  string
}

// SparkTransferLeaf is one leaf of a transfer.
type SparkTransferLeaf struct {
	LeafID                        string
	OldDerivation, NewDerivation  SparkDerivation
	RefundSignature               string
	DirectRefundSignature         string
	DirectFromCPFPRefundSignature string
}

// SparkOperator is an operator who receives a share.
type SparkOperator struct{ OperatorID, EncryptionPublicKey string }

// SparkClaim is a transfer that is claimed.
type SparkClaim struct {
	Leaves                  []SparkClaimLeaf
	Threshold               Number
	OperatorRecipients      []SparkOperator
	TransferID              string
	SenderIdentityPublicKey string
}

// SparkClaimLeaf is one leaf that is claimed.
type SparkClaimLeaf struct{ LeafID, Ciphertext, SenderSignature string }

// SparkLightningReceive is a Lightning payment that is to be received.
type SparkLightningReceive struct {
	Threshold          Number
	OperatorRecipients []SparkOperator
}
