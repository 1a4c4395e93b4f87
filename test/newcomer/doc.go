// Package newcomer tests the ways from nothing to an answer on a phone that the documentation
// shows: its commands are pasted into a shell as they are, from the clone on.
package newcomer
