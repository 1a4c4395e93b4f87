// Package github contains tests that check action.yml with tools of GitHub, and build the
// program as the action does on a runner.
package github
