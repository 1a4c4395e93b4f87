package post

import "time"

// SetTimes sets the maximum silence of a stream of replies, and the first wait between attempts to read a
// stream.
func SetTimes(c *Channel, silence, wait time.Duration) { c.silence, c.firstWait = silence, wait }
