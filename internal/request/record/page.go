package record

// PageInfo says where a page is in its list.
type PageInfo struct {
	HasNextPage     bool   `json:"hasNextPage" check:"required" doc:"Whether more records follow."`
	HasPreviousPage bool   `json:"hasPreviousPage" check:"required" doc:"Whether records come before."`
	StartCursor     string `json:"startCursor,omitzero" doc:"The first record of the page; absent when it is empty."`
	EndCursor       string `json:"endCursor,omitzero" doc:"The last record of the page; absent when it is empty."`
}
