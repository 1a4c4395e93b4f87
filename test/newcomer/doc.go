// Package newcomer tests the commands in the documentation that lead from nothing to an answer on a phone. It
// pastes them into a shell unchanged, from the clone on.
package newcomer
