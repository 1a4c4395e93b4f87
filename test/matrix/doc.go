// Package matrix tests which caller gets which data: it calls each route of the API, each page, each stream
// and each tool of MCP with each kind of credential, and compares the replies with
// internal/access/testdata/matrix.txt.
package matrix
