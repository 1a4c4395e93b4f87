// Package mcp has nothing but tests: MCP clients of other makers, as npm installs
// them, against the built program.
package mcp
