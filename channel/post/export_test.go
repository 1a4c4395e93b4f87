package post

import "time"

// SetTimes sets how long a stream of replies may be without a line, and the first wait between
// attempts to read one.
func SetTimes(c *Channel, silence, wait time.Duration) { c.silence, c.firstWait = silence, wait }
