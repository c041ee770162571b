package ops

import "latchkey/internal/schema"

// This file holds parameters that several queries share.

// InOrganization are the parameters of queries that need nothing but the
// organization.
type InOrganization struct {
	OrganizationID string `json:"organizationId" check:"required" doc:"Organization to read."`
}

// Pagination selects a page of a list. Both cursors are ids of the page at
// hand: after its last for the next page, before its first for the previous. A
// page with fewer records than the limit need not be the last; an empty one is.
type Pagination struct {
	Limit  schema.Uint64 `json:"limit,omitzero" check:"min=1,max=100" doc:"Most records to return; 10 when absent."`
	Before string        `json:"before,omitzero" check:"uuid" doc:"Return the records that stand before this id in the list."`
	After  string        `json:"after,omitzero" check:"uuid" doc:"Return the records that stand after this id in the list."`
}

const defaultPage = 10

// maxPageBytes is about how many bytes a page has at most, unless a single
// record has more.
const maxPageBytes = 4 << 20

// size is the number of records on the page.
func (p Pagination) size() int {
	if p.Limit == 0 {
		return defaultPage
	}
	return int(p.Limit)
}
