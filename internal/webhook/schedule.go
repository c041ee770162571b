package webhook

import (
	"container/heap"
	"time"

	"latchkey/internal/domain"
)

// work is one endpoint, as the server that delivers knows it.
type work struct {
	progress domain.WebhookProgress
	at       stage
	due      time.Time // while planned
	index    int       // in the schedule, while planned
	class    class
	renotice bool // a notice waits until it is not running
	paused   bool // as it was when it was last looked at
}

// stage is where the work on an endpoint stands.
type stage int

const (
	idle    stage = iota // it has all events, or must not get any
	planned              // in the schedule
	queued               // waits for a slot
	running
)

// class is what is expected of a receiver. Those that failed or were slow the last
// time, or were never seen, have slots of their own, so that they cost others
// nothing.
type class int

const (
	sound class = iota
	suspect
)

// slots is how many deliveries of one class run at the same time.
const slots = 32

// schedule is a heap by time (container/heap).
type schedule []*work

func (s schedule) Len() int           { return len(s) }
func (s schedule) Less(i, j int) bool { return s[i].due.Before(s[j].due) }
func (s schedule) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].index, s[j].index = i, j
}

// Push implements [heap.Interface].
func (s *schedule) Push(w any) {
	w.(*work).index = len(*s)
	*s = append(*s, w.(*work))
}

// Pop implements [heap.Interface].
func (s *schedule) Pop() any {
	last := len(*s) - 1
	w := (*s)[last]
	(*s)[last] = nil
	*s = (*s)[:last]
	return w
}

// add makes an endpoint known, and plans it.
func (d *Deliverer) add(p domain.WebhookProgress) *work {
	w := &work{progress: p}
	if p.Attempts > 0 || p.Delivered.IsZero() {
		w.class = suspect
	}
	d.work[key{p.OrganizationID, p.EndpointID}] = w
	if d.byOrg[p.OrganizationID] == nil {
		d.byOrg[p.OrganizationID] = map[*work]bool{}
	}
	d.byOrg[p.OrganizationID][w] = true
	if p.SwitchedOff == "" {
		d.plan(w, p.NextAttempt)
	}
	return w
}

// remove forgets an endpoint.
func (d *Deliverer) remove(w *work) {
	k := key{w.progress.OrganizationID, w.progress.EndpointID}
	delete(d.work, k)
	delete(d.byOrg[k.org], w)
	if len(d.byOrg[k.org]) == 0 {
		delete(d.byOrg, k.org)
	}
	delete(d.dirty, w)
	d.dropped = append(d.dropped, k)
}

// plan lets an endpoint be looked at when a time has come, or at once if that is
// over.
func (d *Deliverer) plan(w *work, due time.Time) {
	switch w.at {
	case idle:
		w.at, w.due = planned, due
		heap.Push(&d.schedule, w)
	case planned:
		w.due = due
		heap.Fix(&d.schedule, w.index)
	}
}

// anyIdle reports whether growth of the feed can concern an endpoint that is not
// looked at anyway.
func (d *Deliverer) anyIdle() bool {
	busy := len(d.schedule) + len(d.waiting[sound]) + len(d.waiting[suspect]) + d.running[sound] + d.running[suspect]
	return busy < len(d.work)
}

// start begins what is due, as far as there are slots, and returns how long there
// is nothing else to do.
func (d *Deliverer) start(now time.Time) time.Duration {
	for len(d.schedule) > 0 && !d.schedule[0].due.After(now) {
		w := heap.Pop(&d.schedule).(*work)
		w.at = queued
		d.waiting[w.class] = append(d.waiting[w.class], w)
	}
	if d.held(now) {
		for c := range d.waiting {
			for len(d.waiting[c]) > 0 && d.running[c] < slots {
				w := d.waiting[c][0]
				d.waiting[c] = d.waiting[c][1:]
				w.at = running
				d.running[c]++
				go d.run(d.rounds, &round{work: w, class: class(c), progress: w.progress, until: d.lease.Until.Add(-d.Timeout)})
			}
		}
	}
	next := d.renewEvery()
	if d.changed() {
		next = min(next, commitEvery)
	}
	if len(d.schedule) > 0 {
		next = min(next, d.schedule[0].due.Sub(now))
	}
	return max(next, time.Millisecond)
}

// report counts endpoints for the metrics.
func (d *Deliverer) report() {
	count := map[string]int{}
	for _, w := range d.work {
		switch {
		case w.progress.SwitchedOff != "":
			count[switchedOff]++
		case w.paused:
			count[paused]++
		case w.progress.Attempts > 0:
			count[retrying]++
		case w.at == idle:
			count[upToDate]++
		default:
			count[behind]++
		}
	}
	d.Metrics.WebhookEndpoints(count)
}
