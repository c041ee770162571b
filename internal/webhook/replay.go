package webhook

import (
	"context"
	"time"

	"latchkey/internal/domain"
)

// rewound is the place from which a replay begins.
func (d *Deliverer) rewound(ctx context.Context, n *domain.WebhookNotice) (domain.LogPlace, error) {
	if n.After != "" {
		return d.Feed.Place(ctx, n.After)
	}
	return d.Feed.Since(ctx, n.Since)
}

// rewind moves progress back to a place, never forward: what was not delivered yet
// is never skipped. Of what was delivered, only what happened since a time is
// wanted again; zero: all of it.
func rewind(p *domain.WebhookProgress, to domain.LogPlace, since time.Time) {
	replaying := p.Place.Before(p.ReplayUntil)
	if !replaying {
		p.ReplayUntil, p.ReplaySince = p.Place, since
	} else if since.Before(p.ReplaySince) {
		p.ReplaySince = since
	}
	if to.Before(p.Place) {
		p.Place = to
	}
}

// unwanted reports whether an event is one that a replay leaves out.
func unwanted(p *domain.WebhookProgress, e *Event) bool {
	return !p.ReplayUntil.Before(e.After) && e.Time.Before(p.ReplaySince)
}
