package web

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/server/login"
	"github.com/askback/askback/internal/text/view"
)

// errAdminOnly is returned for a page that only admins may open.
var errAdminOnly = errors.New("this page is for admins")

// A lifetime is a choice of the form for how long a new token is valid.
type lifetime struct {
	value string
	lasts time.Duration // 0 if the token does not expire
}

// lifetimes are the choices of the form for how long a new token is valid.
var lifetimes = []lifetime{{"30d", 30 * day}, {"90d", 90 * day}, {"365d", 365 * day}, {"never", 0}}

// tokens lists the tokens, and shows the form for a new token.
func (s *site) tokens(w http.ResponseWriter, r request) error {
	if s.auth.May(r.principal, access.ActTokenList) != nil {
		return errAdminOnly
	}
	form := pages.TokenForm{Kind: string(askback.Agent), Lasts: "90d"}
	return s.renderTokens(w, r, http.StatusOK, form, r.URL.Query().Get("done"))
}

func (s *site) renderTokens(w http.ResponseWriter, r request, status int, form pages.TokenForm, done string) error {
	tokens, err := r.client.Tokens(r.Context())
	if err != nil {
		return err
	}
	page := pages.TokenPage{
		Form: form, MayChange: s.auth.May(r.principal, access.ActTokens) == nil, AgentsOnly: !login.Secure(r.Request),
	}
	for _, t := range slices.Backward(tokens) {
		v := view.OfToken(t)
		v.Here = v.Browser && t.ID == r.principal.Token
		switch {
		case v.Ended(r.frame.Now):
			page.Ended = append(page.Ended, v)
		case v.Browser:
			page.Logins = addLogin(page.Logins, v)
		default:
			page.Tokens = append(page.Tokens, v)
		}
		if t.ID == done && !t.RevokedAt.IsZero() {
			page.Revoked = &v
		}
	}
	return s.render(w, r.Request, status, pages.Tokens(r.frame, page))
}

// addLogin adds a log-in to the log-ins of its person.
func addLogin(all []pages.PersonLogins, login view.Token) []pages.PersonLogins {
	i := slices.IndexFunc(all, func(p pages.PersonLogins) bool { return p.Name == login.Name })
	if i < 0 {
		i, all = len(all), append(all, pages.PersonLogins{Name: login.Name})
	}
	all[i].Logins = append(all[i].Logins, login)
	return all
}

// maxTokenForm is the limit in bytes for the form of a token.
const maxTokenForm = 4 << 10

// createToken creates a token. Only this reply has the secret of the token, and no cache keeps the secret.
// Without https, a browser sends the cookie to every port of the host, so another program may have the
// cookie. A token is valid for longer than a log-in. Without https, only agent tokens are therefore created.
func (s *site) createToken(w http.ResponseWriter, r request) error {
	w.Header().Set("Cache-Control", "no-store")
	if s.auth.May(r.principal, access.ActTokens) != nil {
		return errAdminOnly
	}
	values, err := readValues(w, r.Request, maxTokenForm)
	if err != nil {
		return err
	}
	if err := s.reauthenticate(r); err != nil {
		return err
	}
	form := pages.TokenForm{Kind: values.Get("kind"), Name: text(values, "name"), Lasts: values.Get("lasts")}
	i := slices.IndexFunc(lifetimes, func(l lifetime) bool { return l.value == form.Lasts })
	if i < 0 || !slices.Contains(askback.Kinds, askback.Kind(form.Kind)) {
		return errForm
	}
	if !login.Secure(r.Request) && form.Kind != string(askback.Agent) {
		form.Problem = "Without https, only tokens of agents are added here. Add this token in a terminal, with the " +
			"command below."
		return s.renderTokens(w, r, http.StatusUnprocessableEntity, form, "")
	}
	made, secret, err := r.client.CreateToken(r.Context(),
		askback.TokenRequest{Kind: askback.Kind(form.Kind), Name: string(form.Name), ExpiresIn: lifetimes[i].lasts})
	var invalid askback.Invalid
	if errors.As(err, &invalid) {
		detail := invalid[0].Detail
		if strings.HasPrefix(detail, "is ") {
			detail = "it " + detail
		}
		form.Problem = "This name cannot be used: " + detail + "."
		return s.renderTokens(w, r, http.StatusUnprocessableEntity, form, "")
	}
	if err != nil {
		return err
	}
	return s.render(w, r.Request, http.StatusCreated,
		pages.NewToken(r.frame, view.OfToken(made), secret, s.address(r.Request)))
}

// revokeToken revokes a token, and redirects to the list. If the token is the log-in of a browser, the form can
// also end all log-ins of its person.
func (s *site) revokeToken(w http.ResponseWriter, r request) error {
	if s.auth.May(r.principal, access.ActTokens) != nil {
		return errAdminOnly
	}
	values, err := readValues(w, r.Request, maxTokenForm)
	if err != nil {
		return err
	}
	if err := s.reauthenticate(r); err != nil {
		return err
	}
	id := r.PathValue("id")
	ids := []string{id}
	if values.Get("what") == pages.AllLogins {
		if ids, err = r.loginsLike(id); err != nil {
			return err
		}
	}
	for _, one := range ids {
		if _, err := r.client.RevokeToken(r.Context(), one); err != nil {
			return err
		}
		if one == r.principal.Token {
			login.ClearCookie(w, r.Request)
		}
	}
	http.Redirect(w, r.Request, "/tokens?"+url.Values{"done": {id}}.Encode(), http.StatusSeeOther)
	return nil
}

// loginsLike returns the ids of the log-ins of the person whose log-in id is. It omits log-ins that have ended.
func (r request) loginsLike(id string) (ids []string, err error) {
	tokens, err := r.client.Tokens(r.Context())
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(tokens, func(t askback.Token) bool { return t.ID == id && t.Channel == askback.ChannelWeb })
	if i < 0 {
		return nil, askback.ErrNotFound
	}
	for _, t := range tokens {
		if t.Channel == askback.ChannelWeb && t.Name == tokens[i].Name && !view.OfToken(t).Ended(r.frame.Now) {
			ids = append(ids, t.ID)
		}
	}
	return ids, nil
}
