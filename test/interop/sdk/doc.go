// Package sdk runs the packages in the folder sdk against the built program, and
// their adapters in the frameworks that npm has.
package sdk
