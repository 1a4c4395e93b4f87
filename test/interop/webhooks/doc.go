// Package webhooks contains tests that verify what channel/webhook sends with the
// libraries of Standard Webhooks for Go and for JavaScript.
package webhooks
