// Package mcp contains tests of the built program with MCP clients of other
// vendors from npm.
package mcp
