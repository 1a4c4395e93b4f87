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

// A person is a browser with cookies, and whoever sits before it.
type person struct {
	t    *testing.T
	http *http.Client
}

// A visit is what came of going somewhere.
type visit struct {
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

// step makes one request and follows nothing. A form makes it a POST.
func (p *person) step(address string, form url.Values) visit {
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
	return visit{res.Request.URL, res.StatusCode, res.Header, string(raw)}
}

// leads is where a visit leads on to; nil if it does not.
func (v visit) leads() *url.URL {
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

// walk follows redirects, and signs in at the issuer by a name and agrees, until it
// would come to an address that begins so, or to a page that asks for nothing.
func (p *person) walk(address, name, stop string) (*url.URL, visit) {
	p.t.Helper()
	v := p.step(address, nil)
	for range 20 {
		to := v.leads()
		switch {
		case to != nil && stop != "" && strings.HasPrefix(to.String(), stop):
			return to, v
		case to != nil:
			v = p.step(to.String(), nil)
		case strings.Contains(v.body, `name="logout"`): // a script sends this by itself: another account was there before
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

// cookies are those for an address, by name.
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

// exchange gets tokens for a code, as the client askback.
func (h *house) exchange(t *testing.T, form url.Values, into any) {
	t.Helper()
	in, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.setup.Issuer+"/token", strings.NewReader(form.Encode()))
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

// challenge is what a verifier of PKCE becomes.
func challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
