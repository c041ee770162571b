package engine

import (
	"latchkey/internal/domain"
	"latchkey/internal/request/record"
	"latchkey/internal/schema"
	"latchkey/internal/velocity"
)

// BacktestRequest asks what other policies would have made of recorded
// activities.
type BacktestRequest struct {
	OrganizationID string           `json:"organizationId" check:"required" doc:"Organization whose activities are decided again."`
	SinceMs        string           `json:"sinceMs,omitzero" check:"max=15" doc:"Only activities since this time, in milliseconds since the Unix epoch; all when absent." example:"1794708835768"`
	Policies       []SupposedPolicy `json:"policies" check:"required,max=1000" doc:"Policies to suppose in the place of the organization's own."`

	VelocityControls []SupposedControl `json:"velocityControls,omitzero" check:"max=100" doc:"Velocity controls to suppose beside the organization's own, or in the place of those with the same identifier."`

	PaginationOptions BacktestPosition `json:"paginationOptions,omitzero" doc:"Which page."`
}

var backtestRequest = formOf[BacktestRequest]()

// SupposedControl is a velocity control that need not exist.
type SupposedControl struct {
	Name        string                     `json:"name,omitzero" check:"label" doc:"Human-readable name."`
	Identifier  string                     `json:"identifier" check:"required,max=64" doc:"What policies read: controls.<identifier>."`
	DataSource  domain.VelocityDataSource  `json:"dataSource" check:"required" doc:"What is counted."`
	Aggregation domain.VelocityAggregation `json:"aggregation" check:"required" doc:"How it is counted, and compared with what."`
}

// Check refuses what no control can mean.
func (c *SupposedControl) Check(problems *schema.Problems) {
	velocity.CheckIdentifier(c.Identifier, problems)
	velocity.Check(&c.DataSource, &c.Aggregation, problems)
}

// BacktestPosition says which page is wanted.
type BacktestPosition struct {
	Limit schema.Uint64 `json:"limit,omitzero" check:"min=1,max=100" doc:"Most differences to return; 10 when absent."`
	After string        `json:"after,omitzero" check:"max=1048576" doc:"Continue there: endCursor of the page before, which also carries what velocity controls have counted by then."`
}

// BacktestReply is what the policies would have decided otherwise, on one page
// of activities, the oldest first.
type BacktestReply struct {
	Examined  int32           `json:"examined" check:"required" doc:"How many activities of this page were decided again."`
	Skipped   int32           `json:"skipped" check:"required" doc:"How many cannot be decided again: their body was not kept, their submitter or what they are about is gone, or they take too much work."`
	Different []Difference    `json:"different" check:"required" doc:"Activities that would have gone another way, the oldest first."`
	PageInfo  record.PageInfo `json:"pageInfo" check:"required" doc:"Whether there are more activities, and where: a page without differences can have a next one."`
}

// Difference is an activity that would have gone another way.
type Difference struct {
	ActivityID  string                `json:"activityId" check:"required,uuid" doc:"The activity."`
	Type        string                `json:"type" check:"required" doc:"Its type."`
	Status      domain.ActivityStatus `json:"status" check:"required" doc:"What became of it when it was submitted."`
	Before      string                `json:"before" check:"required,enum=ALLOW|DENY|PENDING" doc:"What the organization's policies decide on it."`
	After       string                `json:"after" check:"required,enum=ALLOW|DENY|PENDING" doc:"What the supposed policies decide on it."`
	Explanation BothExplanations      `json:"explanation" check:"required" doc:"Why."`
}

// BothExplanations are those of the two decisions on an activity.
type BothExplanations struct {
	Before ExplainReply `json:"before" check:"required" doc:"By the organization's policies."`
	After  ExplainReply `json:"after" check:"required" doc:"By the supposed policies."`
}

const (
	defaultDifferences = 10
	maxExamined        = 1000 // on one page
	// A page is read in chunks: one on which all differ ends after few.
	backtestChunk = 100
	maxChunkBytes = 4 << 20
)

func (p BacktestPosition) limit() int {
	if p.Limit == 0 {
		return defaultDifferences
	}
	return int(p.Limit)
}
