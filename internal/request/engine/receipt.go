package engine

import (
	"context"
	"errors"
	"net/http"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/ledger"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
	"latchkey/internal/translog"
)

// ReceiptRequest asks for the proof that an activity is in the log.
type ReceiptRequest struct {
	OrganizationID string                `json:"organizationId" check:"required" doc:"Organization of the activity."`
	ActivityID     string                `json:"activityId" check:"required,uuid" doc:"The activity."`
	Status         domain.ActivityStatus `json:"status,omitzero" doc:"Status whose entry is wanted; the newest entry when absent."`
}

var receiptRequest = formOf[ReceiptRequest]()

// ReceiptReply is the answer to a [ReceiptRequest].
type ReceiptReply struct {
	Receipt ReceiptView `json:"receipt" check:"required" doc:"The receipt; latchkey audit receipt verifies it offline."`
}

// ReceiptView is a receipt as a client reads it.
type ReceiptView struct {
	Record string `json:"record" check:"required" doc:"What the log says of the activity: the text itself, byte for byte."`
	Salt   string `json:"salt" check:"required" doc:"Random bytes in hex that are hashed before the record."`
	Proof  string `json:"proof" check:"required" doc:"C2SP tlog-proof: index, inclusion path and signed checkpoint."`
}

// Receipts makes receipts; package ledger has it.
type Receipts interface {
	Receipt(ctx context.Context, org, activity, status string) (translog.Receipt, error)
}

// Receipt proves that an activity is in the log. Every user who may read the
// organization may ask.
func (e *Engine) Receipt(ctx context.Context, r Request) (*Reply, error) {
	asked, err := receiptRequest.read(r.Body)
	if err != nil {
		return nil, err
	}
	org, err := organizationID(asked.OrganizationID)
	if err != nil {
		return nil, err
	}
	r.Event.ActivityID = asked.ActivityID
	err = e.readAs(ctx, r, org, activity.Access{}, func(t *attempt) error {
		org = t.tx.Org()
		found, err := t.tx.Activity(asked.ActivityID)
		if err == nil && found == nil {
			err = fault.Missing("no activity with id %s in this organization", asked.ActivityID)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	receipt, err := e.Receipts.Receipt(ctx, org, asked.ActivityID, string(asked.Status))
	switch {
	case errors.Is(err, ledger.ErrNoEntry) && asked.Status != "":
		return nil, fault.Missing("the log has no entry of this activity with status %s; leave status out for the newest one", asked.Status)
	case errors.Is(err, ledger.ErrNoEntry):
		return nil, fault.Missing("the log has no entry of this activity: it was recorded before the log began")
	case errors.Is(err, ledger.ErrNotYet):
		return nil, fault.New(fault.Aborted, fault.ReasonUnspecified,
			"the entry of this activity is in no published checkpoint yet; ask again in a second")
	case err != nil:
		return nil, err
	}
	body, err := schema.Encode(&ReceiptReply{ReceiptView(receipt)})
	return &Reply{Status: http.StatusOK, Body: body}, err
}
