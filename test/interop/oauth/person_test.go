package oauth_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// A person is a browser with cookies.
type person struct {
	t    *testing.T
	http *http.Client
}

// A page is the response to a request of a browser.
type page struct {
	at     *url.URL
	status int
	header http.Header
	body   string
}

func newPerson(t *testing.T) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &person{t, &http.Client{
		Jar: jar, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// step sends one request and follows no redirect. The request is a POST if there is a form.
func (p *person) step(address string, form url.Values) page {
	p.t.Helper()
	method, body := http.MethodGet, ""
	if form != nil {
		method, body = http.MethodPost, form.Encode()
	}
	in, err := http.NewRequestWithContext(p.t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	in.Header.Set("Sec-Fetch-Site", "same-origin")
	if form != nil {
		in.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := p.http.Do(in)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return page{res.Request.URL, res.StatusCode, res.Header, string(raw)}
}

// redirect returns the address to which the response redirects, or nil.
func (v page) redirect() *url.URL {
	to := v.header.Get("Location")
	if v.status < 300 || v.status > 399 || to == "" {
		return nil
	}
	u, err := v.at.Parse(to)
	if err != nil {
		return nil
	}
	return u
}

var (
	formAction = regexp.MustCompile(`action="([^"]+)"`)
	formSecret = regexp.MustCompile(`name="xsrf" value="([^"]+)"`)
)

// follow follows redirects, and signs in at the issuer. It stops before an address with the prefix stop, or
// at a page without a form. It returns this address, and the last page.
func (p *person) follow(address, name, stop string) (*url.URL, page) {
	p.t.Helper()
	v := p.step(address, nil)
	for range 20 {
		to := v.redirect()
		switch {
		case to != nil && stop != "" && strings.HasPrefix(to.String(), stop):
			return to, v
		case to != nil:
			v = p.step(to.String(), nil)
		case strings.Contains(v.body, `name="logout"`): // sent by a script when another account was signed in before
			action, secret := formAction.FindStringSubmatch(v.body), formSecret.FindStringSubmatch(v.body)
			if action == nil || secret == nil {
				p.t.Fatalf("this form was not understood:\n%s", v.body)
			}
			v = p.step(action[1], url.Values{"xsrf": {secret[1]}, "logout": {"yes"}})
		case strings.Contains(v.body, `name="login"`):
			v = p.step(v.at.String(), url.Values{"login": {name}})
		case strings.Contains(v.body, `name="agree"`):
			v = p.step(v.at.String(), url.Values{"agree": {"yes"}})
		default:
			return v.at, v
		}
	}
	p.t.Fatalf("no end of redirects: %s", v.at)
	return nil, v
}

// cookies returns the cookies for an address by name.
func (p *person) cookies(address string) map[string]string {
	p.t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		p.t.Fatal(err)
	}
	all := map[string]string{}
	for _, c := range p.http.Jar.Cookies(u) {
		all[c.Name] = c.Value
	}
	return all
}

// exchange exchanges a code for tokens, as the client askback.
func (f *fixture) exchange(t *testing.T, form url.Values, into any) {
	t.Helper()
	in, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.setup.Issuer+"/token",
		strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	in.SetBasicAuth(url.QueryEscape(clientID), url.QueryEscape(clientSecret))
	in.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultClient.Do(in)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("tokens for a code: %s %s, %v", res.Status, raw, err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

// challenge returns the PKCE challenge for a verifier.
func challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
