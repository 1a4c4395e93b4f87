// Package newcomer tests the commands in the documentation that try a channel without its service. It runs them
// as they are pasted. The commands that install Askback are tested in release/newcomer.
package newcomer
