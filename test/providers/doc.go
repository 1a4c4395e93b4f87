// Package providers tests hosted runs whose model providers fail.
package providers
