package domain

import "time"

// VelocityControl is a limit over time that policies read by its identifier.
type VelocityControl struct {
	ID         string              `json:"id"`
	Name       string              `json:"name"`
	Identifier string              `json:"identifier"`
	DataSource VelocityDataSource  `json:"dataSource"`
	Aggregate  VelocityAggregation `json:"aggregation"`
	CreatedAt  time.Time           `json:"createdAt"`
}

// VelocityDataSource says what a control adds up. Exactly one member is there.
type VelocityDataSource struct {
	ChainAssetTransfer *VelocityTransfers  `json:"chainAssetTransfer,omitzero" check:"unsampled" doc:"Add up transfers of the listed assets."`
	ActivityExecution  *VelocityExecutions `json:"activityExecution,omitzero" check:"sampled" doc:"Count activities that are executed."`
}

// VelocityTransfers are transfers of listed assets.
type VelocityTransfers struct {
	Definition []VelocityAsset `json:"definition" check:"required,min=1,max=100" doc:"Assets whose transfers count."`
	Filter     *VelocityFilter `json:"filter,omitzero" doc:"Which activities count; all that sign when absent."`
	Phase      *VelocityPhase  `json:"phase,omitzero" doc:"When a transfer counts; at the signature when absent."`
}

// VelocityAsset is an asset and where its decimal point is.
type VelocityAsset struct {
	CAIP19   string `json:"caip19" check:"required,max=200" doc:"The asset, by CAIP-19." example:"eip155:1/slip44:60"`
	Decimals string `json:"decimals" check:"required,max=3" doc:"How many decimal places it has, from 0 to 255, as text." example:"18"`
}

// VelocityExecutions are activities that are executed.
type VelocityExecutions struct {
	Filter *VelocityFilter `json:"filter,omitzero" check:"sampled" doc:"Which activities count; all when absent."`
}

// VelocityFilter names types of activities.
type VelocityFilter struct {
	Activity []VelocityActivity `json:"activity,omitzero" check:"max=100,sampled" doc:"Types that count; all when there are none."`
}

// VelocityActivity is one type of activity, in all its versions.
type VelocityActivity struct {
	ActivityType string `json:"activityType" check:"required,max=200" doc:"Type of an activity; it stands for all versions of it." example:"ACTIVITY_TYPE_SIGN_TRANSACTION_V2"`
}

// VelocityPhase says when a transfer counts.
type VelocityPhase struct {
	Signature  *Nothing `json:"signature,omitzero" check:"sampled" doc:"When it is signed."`
	Submission *Nothing `json:"submission,omitzero" check:"unsampled" doc:"Reserved, and refused."`
}

// Nothing is an object without members.
type Nothing struct{}

// VelocityAggregation says how a control adds up, and what it compares that with.
type VelocityAggregation struct {
	Method    VelocityMethod   `json:"method" check:"required" doc:"What is made of the data." example:"VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT"`
	Operator  VelocityOperator `json:"operator" check:"required" doc:"How it is compared with the threshold."`
	Threshold string           `json:"threshold" check:"required,max=40" doc:"A decimal number of at most 38 digits, 18 of them fractional; not negative." example:"100"`
	Window    VelocityWindow   `json:"window" check:"required" doc:"Since when data counts."`
	GroupBy   VelocityGroupBy  `json:"groupBy" check:"required" doc:"What has a sum of its own."`
}

// VelocityMethod is what is made of the data.
type VelocityMethod string

// The methods.
const (
	VelocitySum   VelocityMethod = "VELOCITY_CONTROL_AGGREGATION_METHOD_SUM"
	VelocityCount VelocityMethod = "VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT"
)

// Enum lists the methods for the schema.
func (VelocityMethod) Enum() []string { return []string{string(VelocitySum), string(VelocityCount)} }

// VelocityOperator compares the aggregate with the threshold.
type VelocityOperator string

// The operators.
const (
	VelocityLess           VelocityOperator = "VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN"
	VelocityLessOrEqual    VelocityOperator = "VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL"
	VelocityEqual          VelocityOperator = "VELOCITY_CONTROL_AGGREGATION_OPERATOR_EQUAL"
	VelocityGreaterOrEqual VelocityOperator = "VELOCITY_CONTROL_AGGREGATION_OPERATOR_GREATER_THAN_OR_EQUAL"
	VelocityGreater        VelocityOperator = "VELOCITY_CONTROL_AGGREGATION_OPERATOR_GREATER_THAN"
)

// Enum lists the operators for the schema.
func (VelocityOperator) Enum() []string {
	return []string{string(VelocityLess), string(VelocityLessOrEqual), string(VelocityEqual), string(VelocityGreaterOrEqual), string(VelocityGreater)}
}

// VelocityWindow says since when data counts. Exactly one member is there.
type VelocityWindow struct {
	Rolling  *VelocityRolling  `json:"rolling,omitzero" check:"sampled" doc:"The last so many seconds."`
	Infinite *Nothing          `json:"infinite,omitzero" check:"unsampled" doc:"Since the control was created."`
	Calendar *VelocityCalendar `json:"calendar,omitzero" check:"unsampled" doc:"The present day, week or month; an extension of Latchkey."`
}

// VelocityRolling is a window that moves with the time.
type VelocityRolling struct {
	Duration string `json:"duration" check:"required,max=8" doc:"Its length in seconds, from 1 to 31622400, as text." example:"86400"`
}

// VelocityCalendar is a window that begins at a local midnight.
type VelocityCalendar struct {
	Unit     VelocityUnit `json:"unit" check:"required" doc:"What begins anew; weeks begin on Monday."`
	Timezone string       `json:"timezone" check:"required,max=64" doc:"Time zone by its IANA name." example:"Europe/Zurich"`
}

// VelocityUnit is a part of the calendar.
type VelocityUnit string

// The units.
const (
	VelocityDay   VelocityUnit = "DAY"
	VelocityWeek  VelocityUnit = "WEEK"
	VelocityMonth VelocityUnit = "MONTH"
)

// Enum lists the units for the schema.
func (VelocityUnit) Enum() []string {
	return []string{string(VelocityDay), string(VelocityWeek), string(VelocityMonth)}
}

// VelocityGroupBy says what has a sum of its own. Exactly one member is there.
type VelocityGroupBy struct {
	Organization *Nothing `json:"organization,omitzero" check:"sampled" doc:"One sum for the organization."`
	User         *Nothing `json:"user,omitzero" check:"unsampled" doc:"One for each user who submits."`
	Wallet       *Nothing `json:"wallet,omitzero" check:"unsampled" doc:"One for each wallet whose key signs; a private key without a wallet has its own."`
}

// Tally is one entry of what a control has counted in one group: the entries of a
// group are numbered without a gap, and each has the sum of all up to itself. They
// never change.
type Tally struct {
	ControlID  string `json:"-"`
	GroupID    string `json:"-"`
	Number     int64  `json:"-"` // from 1
	ActivityID string `json:"activity"`
	AtMs       int64  `json:"at"` // never before that of the entry before it
	// Amounts are integers of the smallest unit of the control, as decimal text.
	Amount string `json:"amount"`
	Total  string `json:"total"`
	// Gone is the number of the newest entry that had left the window when this
	// one was written, and GoneTotal its total; 0: none had.
	Gone      int64  `json:"gone,omitzero"`
	GoneTotal string `json:"goneTotal,omitzero"`
	// Before is the mark of the entry before it, so that it follows that one and
	// no other.
	Before string `json:"before,omitzero"`
}
