package pages

import "net/url"

// after is the address of the next page of standing approvals.
func after(ended bool, cursor string) string {
	q := url.Values{"cursor": {cursor}}
	if ended {
		q.Set("ended", "1")
	}
	return "/grants?" + q.Encode()
}
