package pages

import "net/url"

// nextPage returns the address of the next page of standing approvals.
func nextPage(ended bool, cursor string) string {
	q := url.Values{"cursor": {cursor}}
	if ended {
		q.Set("ended", "1")
	}
	return "/grants?" + q.Encode()
}
