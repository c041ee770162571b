package activity

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"latchkey/internal/fault"
)

// Catalog is the whole interface.
type Catalog struct {
	Endpoints []*Endpoint // sorted by name
	Queries   []*CompiledQuery
	byName    map[string]*Endpoint
	byType    map[string]*CompiledOp
	queries   map[string]*CompiledQuery
}

// Endpoint is one submit path with all the versions that it serves.
type Endpoint struct {
	Name     string
	Versions []*CompiledOp // oldest first
}

// NewCatalog puts the interface together. It panics when two declarations
// compete for a name.
func NewCatalog(activities []*CompiledOp, queries []*CompiledQuery) *Catalog {
	c := &Catalog{byName: map[string]*Endpoint{}, byType: map[string]*CompiledOp{}, queries: map[string]*CompiledQuery{}}
	for _, a := range activities {
		if c.byType[a.Type] != nil {
			panic("activity: declared twice: " + a.Type)
		}
		c.byType[a.Type] = a
		path := c.byName[a.Name]
		if path == nil {
			path = &Endpoint{Name: a.Name}
			c.byName[a.Name] = path
			c.Endpoints = append(c.Endpoints, path)
		}
		path.Versions = append(path.Versions, a)
	}
	for _, path := range c.Endpoints {
		slices.SortFunc(path.Versions, func(a, b *CompiledOp) int { return a.Version - b.Version })
	}
	for _, q := range queries {
		if c.queries[q.Name] != nil {
			panic("activity: declared twice: " + q.Name)
		}
		c.queries[q.Name] = q
	}
	c.Queries = slices.Clone(queries)
	slices.SortFunc(c.Endpoints, func(a, b *Endpoint) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(c.Queries, func(a, b *CompiledQuery) int { return strings.Compare(a.Name, b.Name) })
	return c
}

// Endpoint returns the submit path with this name, or nil.
func (c *Catalog) Endpoint(name string) *Endpoint { return c.byName[name] }

// Query returns the query with this name, or nil.
func (c *Catalog) Query(name string) *CompiledQuery { return c.queries[name] }

// Op returns the declaration of an activity type, or nil.
func (c *Catalog) Op(activityType string) *CompiledOp { return c.byType[activityType] }

// Types lists the activity types, in order.
func (c *Catalog) Types() []string { return slices.Sorted(maps.Keys(c.byType)) }

// Newest is the version that clients send today.
func (p *Endpoint) Newest() *CompiledOp { return p.Versions[len(p.Versions)-1] }

// Version returns the version that an activity type names.
func (p *Endpoint) Version(activityType string) (*CompiledOp, error) {
	types := make([]string, len(p.Versions))
	for i, a := range p.Versions {
		if types[i] = a.Type; a.Type == activityType {
			return a, nil
		}
	}
	return nil, fault.Fields("", []fault.Field{{
		Path:        "type",
		Description: fmt.Sprintf("%s does not serve this activity type; use %s", p.Name, strings.Join(types, " or ")),
	}})
}

// Parse reads the parameters of a request for version a. When they do not fit
// but those of the newest version do, that one is meant: a published client
// names an old type and sends the new parameters.
func (p *Endpoint) Parse(a *CompiledOp, parameters []byte) (*Intent, error) {
	intent, problems := a.parse(parameters)
	if len(problems) == 0 {
		return intent, nil
	}
	if newest := p.Newest(); newest != a {
		if intent, none := newest.parse(parameters); len(none) == 0 {
			return intent, nil
		}
	}
	return nil, fault.Fields("parameters", problems)
}
