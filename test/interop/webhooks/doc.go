// Package webhooks contains tests that verify the messages of channel/webhook with the libraries of Standard
// Webhooks for Go and for JavaScript.
package webhooks
