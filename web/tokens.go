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
		if v.Ended(r.frame.Now) {
			page.Ended = append(page.Ended, v)
		} else {
			page.Tokens = append(page.Tokens, v)
		}
		if t.ID == done && !t.RevokedAt.IsZero() {
			page.Revoked = &v
		}
	}
	return s.render(w, r.Request, status, pages.Tokens(r.frame, page))
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

// revokeToken revokes a token, and redirects to the list.
func (s *site) revokeToken(w http.ResponseWriter, r request) error {
	if s.auth.May(r.principal, access.ActTokens) != nil {
		return errAdminOnly
	}
	if _, err := readValues(w, r.Request, maxEmptyForm); err != nil {
		return err
	}
	if err := s.reauthenticate(r); err != nil {
		return err
	}
	t, err := r.client.RevokeToken(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	http.Redirect(w, r.Request, "/tokens?"+url.Values{"done": {t.ID}}.Encode(), http.StatusSeeOther)
	return nil
}
