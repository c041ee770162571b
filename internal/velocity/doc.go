// Package velocity says what a velocity control means: which activities it counts
// and with how much, in which group, since when, and whether its comparison holds.
// It reads and writes nothing; package store keeps what was counted.
//
// Amounts are integers of the smallest unit that all assets of a control have in
// common. Nothing is ever rounded, and nothing overflows.
package velocity

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"latchkey/internal/chain/transfer"
	"latchkey/internal/domain"
	"latchkey/internal/policy/fact"
)

// Control is a control that is ready for use.
type Control struct {
	*domain.VelocityControl
	kinds     []string // of activities; none: all
	assets    []fact.Asset
	factors   []*big.Int // what a unit of each asset is, in units of the control
	places    int        // decimal places of a unit of the control
	threshold *big.Int
	cutoff    func(time.Time) (int64, bool)
	leaves    func(at, now int64) int64
}

// maxFraction is how many decimal places a threshold has at most, and maxDigits
// how many digits.
const (
	maxFraction = 18
	maxDigits   = 38
)

// Compile makes a stored control ready for use. It fails for one that [Check]
// would have refused.
func Compile(c *domain.VelocityControl) (*Control, error) {
	problems := new(list)
	Check(&c.DataSource, &c.Aggregate, problems)
	if len(*problems) > 0 {
		return nil, errors.New((*problems)[0])
	}
	made := &Control{VelocityControl: c, kinds: kindsOf(c), places: maxFraction}
	for _, d := range definition(c) {
		asset, _ := transfer.ParseAsset(d.CAIP19)
		made.assets = append(made.assets, asset)
		places, _ := strconv.Atoi(d.Decimals)
		made.places = max(made.places, places)
	}
	for _, d := range definition(c) {
		places, _ := strconv.Atoi(d.Decimals)
		made.factors = append(made.factors, power(made.places-places))
	}
	made.threshold, _ = made.Parse(c.Aggregate.Threshold)
	made.cutoff, made.leaves = window(&c.Aggregate.Window)
	return made, nil
}

// list collects problems as texts.
type list []string

func (l *list) Add(path, format string, args ...any) {
	*l = append(*l, path+": "+fmt.Sprintf(format, args...))
}

func definition(c *domain.VelocityControl) []domain.VelocityAsset {
	if c.DataSource.ChainAssetTransfer == nil {
		return nil
	}
	return c.DataSource.ChainAssetTransfer.Definition
}

func filter(d *domain.VelocityDataSource) *domain.VelocityFilter {
	if d.ChainAssetTransfer != nil {
		return d.ChainAssetTransfer.Filter
	}
	if d.ActivityExecution != nil {
		return d.ActivityExecution.Filter
	}
	return nil
}

func kindsOf(c *domain.VelocityControl) (kinds []string) {
	if f := filter(&c.DataSource); f != nil {
		for _, a := range f.Activity {
			kinds = append(kinds, KindOf(a.ActivityType))
		}
	}
	return kinds
}

// KindOf is what all versions of a type of activity have in common.
func KindOf(activityType string) string {
	kind := strings.TrimPrefix(activityType, "ACTIVITY_TYPE_")
	if i := strings.LastIndex(kind, "_V"); i > 0 {
		if _, err := strconv.ParseUint(kind[i+2:], 10, 16); err == nil {
			kind = kind[:i]
		}
	}
	return kind
}

// Types are the types of activities that the control names.
func Types(d *domain.VelocityDataSource) (types []string) {
	if f := filter(d); f != nil {
		for _, a := range f.Activity {
			types = append(types, a.ActivityType)
		}
	}
	return types
}

func power(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
