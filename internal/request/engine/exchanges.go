package engine

import (
	"context"
	"sync"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
)

// exchanges makes sure that a provider of OAuth 2.0 is asked once about a code,
// although an executor may run several times and a client may send its request
// again while the first one is answered: all of them share one exchange, for as
// long as one of them is under way. What was recorded is found before that.
type exchanges struct {
	mu      sync.Mutex
	running map[string]*exchange // by organization and fingerprint
}

// exchange is one call of a provider, and its answer.
type exchange struct {
	once     sync.Once
	users    int
	identity *domain.OAuth2Identity
	err      error
}

// join takes part in the exchange of an activity.
func (x *exchanges) join(key string) (*exchange, func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.running == nil {
		x.running = map[string]*exchange{}
	}
	one := x.running[key]
	if one == nil {
		one = new(exchange)
		x.running[key] = one
	}
	one.users++
	return one, func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		if one.users--; one.users == 0 {
			delete(x.running, key)
		}
	}
}

// leaveExchanges ends the part that a request has in exchanges.
func (s *submission) leaveExchanges() {
	for _, leave := range s.leave {
		leave()
	}
}

// oauth2 is what the executor of an activity may ask of providers; nil: nothing.
func (t *attempt) oauth2(a *domain.Activity, intent *activity.Intent) activity.OAuth2 {
	if t.OAuth2 == nil || !intent.Once {
		return nil
	}
	key := a.OrganizationID + string(a.Fingerprint[:])
	s := t.submission
	if s.exchanges[key] == nil {
		one, leave := t.exchanges.join(key)
		if s.exchanges == nil {
			s.exchanges = map[string]*exchange{}
		}
		s.exchanges[key], s.leave = one, append(s.leave, leave)
	}
	return &sharedOAuth2{t.OAuth2, s.exchanges[key]}
}

// sharedOAuth2 asks once.
type sharedOAuth2 struct {
	activity.OAuth2
	shared *exchange
}

// Exchange implements [activity.OAuth2]. It goes on when the request that began it
// is gone, because others may wait for it; it has a bound of its own.
func (o *sharedOAuth2) Exchange(ctx context.Context, code domain.OAuth2Code) (*domain.OAuth2Identity, error) {
	o.shared.once.Do(func() {
		o.shared.identity, o.shared.err = o.OAuth2.Exchange(context.WithoutCancel(ctx), code)
	})
	return o.shared.identity, o.shared.err
}
