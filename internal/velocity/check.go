package velocity

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"latchkey/internal/chain/transfer"
	"latchkey/internal/domain"
	"latchkey/internal/policy"
)

// Problems collects what is wrong, each at its path.
type Problems interface {
	Add(path, format string, args ...any)
}

// maxIdentifier is the length of the longest identifier.
const maxIdentifier = 64

// maxDuration is the longest rolling window in seconds: a leap year.
const maxDuration = 31_622_400

var (
	decimalText = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)
	integerText = regexp.MustCompile(`^(0|[1-9][0-9]*)$`)
)

// CheckIdentifier refuses what policies could not write.
func CheckIdentifier(identifier string, problems Problems) {
	if !policy.IsIdentifier(identifier) || len(identifier) > maxIdentifier {
		problems.Add("identifier", "must be a name that policies can write, such as daily_usdc: letters, digits and _, not beginning with a digit, at most %d characters", maxIdentifier)
	}
}

// Check refuses what no control can mean.
func Check(d *domain.VelocityDataSource, a *domain.VelocityAggregation, problems Problems) {
	switch {
	case (d.ChainAssetTransfer == nil) == (d.ActivityExecution == nil):
		problems.Add("dataSource", "must have exactly one of chainAssetTransfer and activityExecution")
	case d.ChainAssetTransfer != nil:
		checkTransfers(d.ChainAssetTransfer, problems)
	case a.Method == domain.VelocitySum:
		problems.Add("aggregation.method", "activities have no amount to sum; use %s", domain.VelocityCount)
	}
	if f := filter(d); f != nil {
		for i, named := range f.Activity {
			if !strings.HasPrefix(named.ActivityType, "ACTIVITY_TYPE_") {
				problems.Add("dataSource", "filter.activity.%d: activityType must be the type of an activity, such as ACTIVITY_TYPE_SIGN_TRANSACTION_V2", i)
			}
		}
	}
	checkThreshold(a.Threshold, problems)
	checkWindow(&a.Window, problems)
	groups := 0
	for _, g := range []*domain.Nothing{a.GroupBy.Organization, a.GroupBy.User, a.GroupBy.Wallet} {
		if g != nil {
			groups++
		}
	}
	if groups != 1 {
		problems.Add("aggregation.groupBy", "must have exactly one of organization, user and wallet")
	}
}

func checkTransfers(t *domain.VelocityTransfers, problems Problems) {
	const at = "dataSource.chainAssetTransfer."
	if t.Phase != nil && (t.Phase.Submission != nil || t.Phase.Signature == nil) {
		problems.Add(at+"phase", "must be signature: a transfer counts when it is signed; submission is reserved")
	}
	for i, d := range t.Definition {
		path := at + "definition." + strconv.Itoa(i)
		if _, err := transfer.ParseAsset(d.CAIP19); err != nil {
			problems.Add(path+".caip19", "%v", err)
		}
		if places, err := strconv.Atoi(d.Decimals); err != nil || !integerText.MatchString(d.Decimals) || places > 255 {
			problems.Add(path+".decimals", "must be a whole number from 0 to 255, as text")
		}
	}
}

func checkThreshold(threshold string, problems Problems) {
	whole, fraction, _ := strings.Cut(threshold, ".")
	if !decimalText.MatchString(threshold) || len(whole)+len(fraction) > maxDigits || len(fraction) > maxFraction {
		problems.Add("aggregation.threshold", "must be a decimal number such as 100 or 0.25, not negative, of at most %d digits, %d of them after the point", maxDigits, maxFraction)
	}
}

func checkWindow(w *domain.VelocityWindow, problems Problems) {
	const at = "aggregation.window"
	given := 0
	if w.Rolling != nil {
		given++
		if n, err := strconv.Atoi(w.Rolling.Duration); err != nil || !integerText.MatchString(w.Rolling.Duration) || n < 1 || n > maxDuration {
			problems.Add(at+".rolling.duration", "must be a whole number of seconds from 1 to %d, as text", maxDuration)
		}
	}
	if w.Infinite != nil {
		given++
	}
	if w.Calendar != nil {
		given++
		if _, err := zone(w.Calendar.Timezone); err != nil {
			problems.Add(at+".calendar.timezone", "must be a time zone by its IANA name, such as Europe/Zurich or UTC")
		}
	}
	if given != 1 {
		problems.Add(at, "must have exactly one of rolling, infinite and calendar")
	}
}

// zone finds a time zone; the zone of the machine is none.
func zone(name string) (*time.Location, error) {
	if name == "Local" || name == "" {
		return nil, errNoZone
	}
	return time.LoadLocation(name)
}
