// Package api is the HTTP side: routes, limits, time-outs, rendering. It knows
// nothing of what operations do; its routes follow from the catalog.
package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/internal/fault"
	"latchkey/internal/ids"
	"latchkey/internal/meter"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/engine"
	"latchkey/internal/suggest"
	"latchkey/internal/tracing"
)

// Config is what the HTTP side needs.
type Config struct {
	Engine  *engine.Engine
	Catalog *activity.Catalog
	Log     *slog.Logger
	Metrics *Metrics
	// Ready reports whether the server can do its work. A fault says to the
	// client why not.
	Ready func(context.Context) error
	// Fixed documents by path, such as /.well-known/latchkey.json.
	Documents map[string][]byte
	// Description is made when it is asked for first: /openapi.json.
	Description func() ([]byte, error)

	MaxBody      int64 // at first; see SetBounds
	MaxHeader    int64
	Timeout      time.Duration // for the work on one request
	ServeMetrics bool          // whether /metrics is on this listener

	// TransparencyLog is what is published of the log.
	TransparencyLog TransparencyLog

	// AuthProxy are the operations of the auth proxy, by path.
	AuthProxy map[string]Handler
	// AuthProxyApart says that they are not served with the rest; see
	// [Server.ServeAuthProxy].
	AuthProxyApart bool

	Rate Rate // at first; see SetBounds
	// TrustedProxies are the peers whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix
	// RequestIDs gives each request an id, in its reply and in the log.
	RequestIDs bool
	// Traces makes spans of requests; nil: they have none.
	Traces *tracing.Tracer
	Now    func() time.Time
}

// Server answers requests. Make it with New.
type Server struct {
	Config
	pages    map[string]http.HandlerFunc // outside the interface; all of them GET
	maxBody  atomic.Int64
	refusals *meter.Meter                    // of addresses
	requests *meter.Meter                    // of users
	unserved map[string]string               // see Unserved
	own      map[string]*engine.OwnOperation // by path
	ended    chan struct{}                   // closed: no stream goes on
	endOnce  sync.Once
}

// New makes the HTTP side.
func New(c Config) *Server {
	s := &Server{
		Config: c, unserved: Unserved(), own: map[string]*engine.OwnOperation{}, ended: make(chan struct{}),
		refusals: meter.New(time.Second, c.Now), requests: meter.New(time.Second, c.Now),
	}
	s.SetBounds(c.MaxBody, c.Rate)
	s.pages = map[string]http.HandlerFunc{
		"/healthz": func(w http.ResponseWriter, _ *http.Request) { write(w, http.StatusOK, []byte(`{"status":"ok"}`)) },
		"/readyz":  s.readyz,
	}
	if c.ServeMetrics {
		s.pages["/metrics"] = c.Metrics.Handler().ServeHTTP
	}
	for _, own := range engine.OwnOperations() {
		s.own[own.Path()] = &own
	}
	s.pages["/openapi.json"] = func(w http.ResponseWriter, r *http.Request) {
		body, err := c.Description()
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		write(w, http.StatusOK, body)
	}
	for path, body := range c.Documents {
		s.pages[path] = func(w http.ResponseWriter, _ *http.Request) {
			if path == WebhookKeysPath || path == IssuerKeysPath {
				w.Header().Set("Cache-Control", "public, max-age=300")
			}
			write(w, http.StatusOK, body)
		}
	}
	return s
}

// SetBounds changes how large a body may be, and how many requests a second are
// taken, from the next request on.
func (s *Server) SetBounds(maxBody int64, r Rate) {
	s.maxBody.Store(maxBody)
	s.refusals.SetMost(r.Address)
	s.requests.SetMost(r.User)
}

const (
	submitPrefix = "/public/v1/submit/"
	queryPrefix  = "/public/v1/query/"
)

// WebhookKeysPath is where the keys are published that sign deliveries to webhook
// endpoints.
const WebhookKeysPath = "/public/v1/discovery/webhooks/jwks"

// IssuerPath and IssuerKeysPath are where the server, as an OpenID Connect
// issuer, says so (OpenID Connect Discovery section 4), and publishes its keys.
const (
	IssuerPath     = "/.well-known/openid-configuration"
	IssuerKeysPath = "/.well-known/jwks.json"
)

// ServeHTTP routes a request. Paths are matched as they are: the interface has
// no wildcards, and some clients join a base address that ends in a slash.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := "/" + strings.TrimLeft(r.URL.Path, "/")
	if r.Method == http.MethodOptions {
		// Also where nothing is: a page whose preflight fails sees only that it
		// was blocked, not what the server would have said.
		allowBrowsers(w)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	page, ok := s.pages[path]
	if path == checkpointPath || strings.HasPrefix(path, tilePrefix) {
		page, ok = func(w http.ResponseWriter, r *http.Request) { s.logPage(w, r, path) }, true
	}
	if ok {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			s.refuse(w, r, wrongMethod(w, r, http.MethodGet))
			return
		}
		page(w, r)
		return
	}
	s.serveInterface(w, r, path, s.route)
}

// ServeAuthProxy serves the auth proxy, and nothing else.
func (s *Server) ServeAuthProxy(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodOptions {
		allowBrowsers(w)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	s.serveInterface(w, r, "/"+strings.TrimLeft(r.URL.Path, "/"), s.routeAuthProxy)
}

// serveInterface answers one request of the interface and logs it in one line.
func (s *Server) serveInterface(w http.ResponseWriter, r *http.Request, path string, route func(string) (string, Handler)) {
	start := time.Now()
	var event engine.Event
	operation, handle := route(path)
	allowBrowsers(w)
	defer s.Metrics.begin()()

	source, certain := s.clientIP(r)
	client := ""
	if source.IsValid() {
		client = source.String()
	}
	requestID := s.requestID(w, r)
	var span *tracing.Request
	if s.Traces != nil {
		span = s.Traces.Begin(r.Header, s.fromProxy(r), operation, start)
		span.Header(w.Header())
	}
	address, network := addressKey(source), networkOf(source)
	if !certain {
		source = netip.Addr{}
	}
	err := s.admitAddress(address)
	var reply *engine.Reply
	if err == nil {
		reply, err = s.serve(w, r, path, handle, engine.Request{
			Address: source, Network: network, ReplyHeader: w.Header(), Event: &event, Trace: span,
		})
	}
	if err != nil {
		reply = s.refusal(r, err)
	}
	if isRateLimited(err) || isAborted(err) {
		if w.Header().Get("Retry-After") == "" {
			w.Header().Set("Retry-After", retryAfter)
		}
	} else if reply.Status >= 400 && reply.Status < 500 {
		s.refusals.Count(address)
	}

	took := time.Since(start)
	s.Metrics.observe(operation, reply.Status, took)
	if event.Status != "" {
		s.Metrics.answered(event.Status)
	}
	level := slog.LevelInfo
	if event.Warning != "" {
		level = slog.LevelWarn
	}
	about := append(make([]slog.Attr, 0, 10), // and what is said at the end
		slog.String("operation", operation), slog.String("organization", event.OrganizationID),
		slog.String("user", event.UserID), slog.String("activity", event.ActivityID), slog.String("client", client))
	if requestID != "" {
		about = append(about, slog.String("request", requestID))
	}
	if span != nil {
		span.End(tracing.Outcome{
			Organization: event.OrganizationID, Activity: event.ActivityID, RequestID: requestID,
			Outcome: outcome(err, event), Status: reply.Status,
		})
		about = append(about, slog.String("trace", span.TraceID()))
	}
	s.Log.LogAttrs(r.Context(), level, cmp.Or(event.Warning, "request"), append(about,
		slog.String("outcome", outcome(err, event)), slog.Int("status", reply.Status),
		slog.Float64("durationMs", float64(took.Microseconds())/1000))...)
	if reply.Stream != nil {
		s.stream(w, r, reply.Stream, about)
		return
	}
	write(w, reply.Status, reply.Body)
}

// Handler answers a request whose bytes were read.
type Handler = func(context.Context, engine.Request) (*engine.Reply, error)

// route finds the operation. Its name is a metrics label: a closed set.
func (s *Server) route(path string) (string, Handler) {
	if name, ok := strings.CutPrefix(path, submitPrefix); ok {
		if p := s.Catalog.Endpoint(name); p != nil {
			return name, func(ctx context.Context, r engine.Request) (*engine.Reply, error) {
				return s.Engine.Submit(ctx, p, r)
			}
		}
	}
	if name, ok := strings.CutPrefix(path, queryPrefix); ok {
		if q := s.Catalog.Query(name); q != nil {
			return name, func(ctx context.Context, r engine.Request) (*engine.Reply, error) {
				return s.Engine.Query(ctx, q, r)
			}
		}
	}
	if own, ok := s.own[path]; ok {
		return own.Name, func(ctx context.Context, r engine.Request) (*engine.Reply, error) {
			if own.Streams {
				if err := s.refuseStream(); err != nil {
					return nil, err
				}
			}
			return own.Serve(s.Engine, ctx, r)
		}
	}
	if !s.AuthProxyApart {
		return s.routeAuthProxy(path)
	}
	return "unknown", nil
}

// routeAuthProxy finds an operation of the auth proxy.
func (s *Server) routeAuthProxy(path string) (string, Handler) {
	if handle, ok := s.AuthProxy[path]; ok {
		return "auth_proxy" + strings.ReplaceAll(strings.TrimPrefix(path, "/v1"), "/", "_"), handle
	}
	return "unknown", nil
}

// serve hands a request, of which only its bytes are missing, to its handler.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, path string, handle Handler, request engine.Request) (reply *engine.Reply, err error) {
	if handle == nil {
		return nil, s.unknownPath(path)
	}
	if r.Method != http.MethodPost {
		return nil, wrongMethod(w, r, http.MethodPost)
	}
	if size := headerSize(r.Header); size > s.MaxHeader {
		return nil, fault.Invalid("the header has %d bytes; at most %d are accepted", size, s.MaxHeader).
			WithStatus(http.StatusRequestHeaderFieldsTooLarge)
	}
	body, err := s.readBody(w, r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.Timeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	request.Header, request.Body, request.Admit = r.Header, body, s.admitUser
	return handle(ctx, request)
}

func (s *Server) unknownPath(path string) error {
	if err := s.notServed(path); err != nil {
		return err
	}
	known := slices.Sorted(maps.Keys(s.own))
	for _, p := range s.Catalog.Endpoints {
		known = append(known, submitPrefix+p.Name)
	}
	for _, q := range s.Catalog.Queries {
		known = append(known, queryPrefix+q.Name)
	}
	hint := "; /openapi.json lists them all"
	// Who takes a query for an activity has the last part right.
	near := ""
	if i := slices.IndexFunc(known, func(k string) bool {
		return k[strings.LastIndexByte(k, '/'):] == path[strings.LastIndexByte(path, '/'):]
	}); i >= 0 {
		near = known[i]
	} else {
		near = suggest.Name(shorten(path), 6, known)
	}
	if near != "" {
		hint = "; did you mean " + near + "?"
	}
	return fault.Missing("there is no such path%s", hint)
}

// isAborted says that the same request succeeds a moment later.
func isAborted(err error) bool {
	refusal, ok := fault.As(err)
	return ok && refusal.Code == fault.Aborted
}

func wrongMethod(w http.ResponseWriter, r *http.Request, right string) error {
	w.Header().Set("Allow", right)
	return fault.Invalid("method %s is not allowed here; use %s", shorten(r.Method), right).
		WithStatus(http.StatusMethodNotAllowed)
}

// refusal renders an error. What is not a fault is logged in full under a
// reference, which is all that the client gets.
func (s *Server) refusal(r *http.Request, err error) *engine.Reply {
	known, ok := fault.As(err)
	switch {
	case ok && known.Code == fault.Unavailable:
		s.Log.LogAttrs(r.Context(), slog.LevelError, "unavailable", slog.Any("error", err))
	case ok:
	case errors.Is(err, context.DeadlineExceeded):
		known = fault.New(fault.DeadlineExceeded, fault.ReasonUnspecified,
			"the request took too long; whether it was carried out is not known: send the same bytes again to find out")
	case errors.Is(err, context.Canceled):
		known = fault.New(fault.Unavailable, fault.ReasonUnspecified, "the request was given up; send the same bytes again")
	default:
		reference := ids.New()
		s.Log.LogAttrs(r.Context(), slog.LevelError, "internal error",
			slog.String("reference", reference), slog.String("path", shorten(r.URL.Path)), slog.Any("error", err))
		known = fault.New(fault.Internal, fault.ReasonInternal, "internal server error (%s)", reference)
	}
	body, err := json.Marshal(known.Body())
	if err != nil {
		s.Log.Error("rendering an error", "error", err)
	}
	return &engine.Reply{Status: known.Status(), Body: body}
}

// refuse answers with an error.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	reply := s.refusal(r, err)
	write(w, reply.Status, reply.Body)
}

func outcome(err error, event engine.Event) string {
	if refusal, ok := fault.As(err); ok {
		return string(refusal.Reason)
	}
	if err != nil {
		return "INTERNAL"
	}
	if event.Status != "" {
		return string(event.Status)
	}
	return "OK"
}

// write sends a JSON body. The content type has no parameters: one client
// compares it as text.
func write(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h["Content-Type"] = contentType
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client is gone
}

// allowBrowsers lets pages of any origin call the interface: what protects it
// is the stamp, which no page can make without the key.
func allowBrowsers(w http.ResponseWriter) {
	h := w.Header()
	h["Access-Control-Allow-Origin"] = anyOrigin
	h["Access-Control-Allow-Methods"] = allowedMethods
	h["Access-Control-Allow-Headers"] = allowedHeaders
	h["Access-Control-Max-Age"] = maxAge
}

// Headers that are the same in every reply share their values, which nothing changes.
var (
	contentType    = []string{"application/json"}
	anyOrigin      = []string{"*"}
	allowedMethods = []string{"POST, OPTIONS"}
	allowedHeaders = []string{"Content-Type, X-Stamp, X-Stamp-Webauthn, X-Stamp-Attested, " +
		"X-Session, X-Client-Version, X-Auth-Proxy-Config-ID, X-Captcha-Token"}
	maxAge = []string{"7200"}
)

// shorten bounds what a stranger can put into the log or make us compare.
func shorten(text string) string { return text[:min(len(text), 100)] }

func headerSize(h http.Header) (size int64) {
	for name, values := range h {
		for _, value := range values {
			size += int64(len(name) + len(value) + len(": \r\n"))
		}
	}
	return size
}

func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	if err := s.Ready(ctx); err != nil {
		if _, known := fault.As(err); known {
			s.refuse(w, r, err)
			return
		}
		s.refuse(w, r, fault.New(fault.Unavailable, fault.ReasonUnspecified, "not ready; the server's log says why").Because(err))
		return
	}
	write(w, http.StatusOK, []byte(`{"status":"ready"}`))
}
