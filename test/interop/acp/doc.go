// Package acp contains tests of askback acp with an editor and an agent that use the library
// of the Agent Client Protocol for TypeScript.
package acp
