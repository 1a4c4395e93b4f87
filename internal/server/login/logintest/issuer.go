// Package logintest provides an issuer of OpenID Connect for tests. It logs in a given
// person without a form, and can send wrong metadata, keys and tokens.
package logintest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"
)

// Claims are the claims of a token.
type Claims map[string]any

// With returns a copy of c with changes. A change to nil removes the claim.
func (c Claims) With(changes Claims) Claims {
	out := Claims{}
	for _, from := range []Claims{c, changes} {
		for k, v := range from {
			if out[k] = v; v == nil {
				delete(out, k)
			}
		}
	}
	return out
}

// RoundTrip implements [http.RoundTripper]. It replies to every request with the claims.
func (c Claims) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	write(w, c)
	res := w.Result()
	res.Request = r
	return res, nil
}

// An Issuer is an issuer of OpenID Connect that runs until the test ends. Its fields must
// not be changed during a request.
type Issuer struct {
	URL          string
	ClientID     string
	ClientSecret string
	// Person has the claims of the person at the browser. If it is nil, the issuer denies the log-in.
	Person Claims
	// Info is the reply of the UserInfo endpoint. If it is nil, the status is 404.
	Info Claims
	// Token changes the claims of an ID token before the issuer signs it.
	Token func(Claims) Claims
	// Keys is published in place of the keys of the issuer, unless it is "".
	Keys string
	// Callback changes the parameters of the redirect back.
	Callback func(url.Values)

	mu     sync.Mutex
	key    *ecdsa.PrivateKey
	id     string
	codes  map[string]url.Values
	asked  map[string]int // the number of requests, keyed by path
	status int            // the status of every reply, or 0 to reply as usual
}

// New starts an issuer with one client.
func New(t testing.TB, clientID, clientSecret string) *Issuer {
	i := &Issuer{
		ClientID: clientID, ClientSecret: clientSecret, codes: map[string]url.Values{}, asked: map[string]int{},
	}
	i.Rotate()
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", i.discovery)
	mux.HandleFunc("/keys", i.keys)
	mux.HandleFunc("/authorize", i.authorize)
	mux.HandleFunc("POST /token", i.token)
	mux.HandleFunc("/userinfo", i.userinfo)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		i.asked[r.URL.Path]++
		status := i.status
		i.mu.Unlock()
		if status != 0 {
			http.Error(w, "not now", status)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	i.URL = server.URL
	return i
}

// Rotate replaces the signing key.
func (i *Issuer) Rotate() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.key, i.id = key, rand.Text()
}

// Answer makes every reply an error with this status. If status is 0, the issuer replies as usual.
func (i *Issuer) Answer(status int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.status = status
}

// Asked returns the number of requests for a path.
func (i *Issuer) Asked(path string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked[path]
}

// Sign returns a token with these claims, signed with the key of the issuer.
func (i *Issuer) Sign(c Claims) string { return i.SignAs("ES256", c) }

// SignAs returns a token with the given algorithm. Only ES256 is signed with the key of the issuer. A token
// with the algorithm "none" has no signature. The signature for any other algorithm is an HMAC with the
// public key as its secret.
func (i *Issuer) SignAs(alg string, c Claims) string {
	return i.sign(alg, "at+jwt", text(c))
}

// SignText returns a token with this type and payload, signed with the key of the issuer.
// If kind is "", the token has no type.
func (i *Issuer) SignText(kind, payload string) string { return i.sign("ES256", kind, payload) }

func (i *Issuer) sign(alg, kind, payload string) string {
	i.mu.Lock()
	key, id := i.key, i.id
	i.mu.Unlock()
	return sign(alg, kind, key, id, payload)
}

// Forge returns a token that has the id of the issuer's key, but is signed with another key.
func (i *Issuer) Forge(c Claims) string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return sign("ES256", "at+jwt", key, i.id, text(c))
}

func (i *Issuer) discovery(w http.ResponseWriter, _ *http.Request) {
	write(w, Claims{
		"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token",
		"jwks_uri": i.URL + "/keys", "userinfo_endpoint": i.URL + "/userinfo",
		"id_token_signing_alg_values_supported": []string{"ES256"},
	})
}

func (i *Issuer) keys(w http.ResponseWriter, _ *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.Keys != "" {
		_, _ = w.Write([]byte(i.Keys))
		return
	}
	write(w, Claims{"keys": []Claims{{
		"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": i.id,
		"x": number(i.key.X), "y": number(i.key.Y),
	}}})
}

func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back := url.Values{"state": {q.Get("state")}, "iss": {i.URL}}
	if i.Person == nil {
		back.Set("error", "access_denied")
		back.Set("error_description", "<b>no</b>")
	} else {
		code := rand.Text()
		i.mu.Lock()
		i.codes[code] = q
		i.mu.Unlock()
		back.Set("code", code)
	}
	if i.Callback != nil {
		i.Callback(back)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusSeeOther)
}

func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	asked, ok := i.codes[r.FormValue("code")]
	delete(i.codes, r.FormValue("code"))
	i.mu.Unlock()
	id, secret, _ := r.BasicAuth()
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if id != i.ClientID || secret != i.ClientSecret {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":"invalid_client"}`))
		return
	}
	switch {
	case !ok, asked.Get("redirect_uri") != r.FormValue("redirect_uri"),
		asked.Get("code_challenge_method") != "S256", asked.Get("code_challenge") != raw(sum[:]):
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant"}`))
		return
	}
	c := Claims{
		"iss": i.URL, "aud": i.ClientID, "nonce": asked.Get("nonce"), "exp": time.Now().Add(time.Minute).Unix(),
	}.With(i.Person)
	if i.Token != nil {
		c = i.Token(c)
	}
	write(w, Claims{"access_token": "opaque", "token_type": "Bearer", "id_token": i.Sign(c)})
}

func (i *Issuer) userinfo(w http.ResponseWriter, r *http.Request) {
	if i.Info == nil || r.Header.Get("Authorization") != "Bearer opaque" {
		http.NotFound(w, r)
		return
	}
	write(w, i.Info)
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func raw(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func number(n *big.Int) string { return raw(n.FillBytes(make([]byte, 32))) }

// sign returns a token in compact form (RFC 7515).
func sign(alg, kind string, key *ecdsa.PrivateKey, id, payload string) string {
	header := Claims{"alg": alg, "kid": id}
	if kind != "" {
		header["typ"] = kind
	}
	signed := raw([]byte(text(header))) + "." + raw([]byte(payload))
	return signed + "." + raw(signature(alg, key, signed))
}

func text(c Claims) string {
	b, err := json.Marshal(c)
	if err != nil {
		panic(fmt.Sprintf("logintest: %v", err))
	}
	return string(b)
}

func signature(alg string, key *ecdsa.PrivateKey, text string) []byte {
	sum := sha256.Sum256([]byte(text))
	switch alg {
	case "ES256":
		r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
		if err != nil {
			panic(err)
		}
		return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	case "none":
		return nil
	}
	mac := hmac.New(sha256.New, append(key.X.Bytes(), key.Y.Bytes()...))
	mac.Write([]byte(text))
	return mac.Sum(nil)
}
