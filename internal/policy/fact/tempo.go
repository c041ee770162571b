package fact

// TempoTx is an unsigned Tempo transaction. A number that is not set is zero.
type TempoTx struct {
	From, FeeToken                     string
	ChainID, Nonce, GasLimit           Number
	MaxFeePerGas, MaxPriorityFeePerGas Number
	ValidBefore, ValidAfter            Number
	Calls                              []TempoCall
}

// TempoCall is one call of a Tempo transaction.
type TempoCall struct {
	To                string // empty for a contract creation
	Input             string
	FunctionSignature string // empty when Input has fewer than 4 bytes
}
