// Package protocols contains tests that run agents and programs of AG-UI and A2A, made with
// the SDKs of these protocols from npm, against the built program.
package protocols
