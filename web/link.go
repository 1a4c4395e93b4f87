package web

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/message/answerlink"
	"github.com/askback/askback/internal/message/notice"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/server/login"
	"github.com/askback/askback/internal/server/serverlog"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// Links let people answer from links in messages, without a log-in.
type Links struct {
	Signer *answerlink.Signer // signs and verifies tokens for [answerlink.Page]
	// Person returns the client of a person who got a link in a channel. It returns [askback.ErrForbidden] if
	// this person may not answer now.
	Person func(ctx context.Context, name string, via askback.Channel) (askback.PersonClient, error)
}

// linkPattern is the path of a link. The token in the path is the only credential: cookies are not read, and
// requests with the header Authorization are rejected. No browser adds a token to a request of another
// origin. So the check against forged forms has an exception for links, because the button of a notification
// in a browser sends such requests.
const linkPattern = answerlink.Path + "{token}"

// linkPolicy is the Content-Security-Policy of the pages of links. Only the page of an open ask has a script,
// for which linkScript extends the policy.
const linkPolicy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors " +
	"'none'; base-uri 'none'"

const linkScript = "; script-src 'self'; connect-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'"

// handleLinks handles the paths of links, if links are configured.
func (s *site) handleLinks(mux *http.ServeMux) {
	if s.links != nil {
		mux.Handle("GET "+linkPattern, s.linked(s.showLink))
		mux.Handle("POST "+linkPattern, s.linked(s.settleLink))
	}
}

// A linkRequest is a request with the valid token of a link.
type linkRequest struct {
	*http.Request
	link   answerlink.Link
	client askback.PersonClient // client of the person of the link
	ask    askback.Ask
	view   view.Ask
	choice *notice.Choice // the only answer that the link can give; nil for any answer
	frame  pages.Frame
}

// page returns the data of the link for the templates.
func (r linkRequest) page() pages.Link {
	l := pages.Link{Path: r.URL.Path, Choice: r.link.Choice}
	if r.choice != nil {
		l.Label = safetext.Line(r.choice.Label)
	}
	if r.ask.Voted(r.link.Person) {
		l.Voted = notice.CountedText(r.ask) + ". You can still deny it."
	}
	return l
}

// linked returns a handler that calls f for requests with a valid token. It renders the errors of f and of
// other requests as pages.
func (s *site) linked(f func(http.ResponseWriter, linkRequest) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", linkPolicy)
		// A token in the path is the only credential. A page of another origin that has the token, such as
		// the web app of a push service, may therefore read the reply.
		h.Set("Access-Control-Allow-Origin", "*")
		l, err := s.openLink(r)
		if err == nil {
			err = f(w, l)
		}
		if err != nil {
			s.renderLinkError(w, r, l.link, err)
		}
	})
}

var (
	errLink      = errors.New("the link was not made by this server")
	errLinkEnded = errors.New("the ask of the link no longer exists, or its person may no longer answer it")
	errAgent     = errors.New("a link accepts no other credential")
)

// openLink verifies the token of a request. It reads the ask of the link as the person of the link.
func (s *site) openLink(r *http.Request) (linkRequest, error) {
	if r.Header.Get("Authorization") != "" {
		return linkRequest{}, errAgent
	}
	link, err := s.links.Signer.Verify(r.PathValue("token"))
	if errors.Is(err, answerlink.ErrInvalid) {
		err = errLink
	}
	if err != nil {
		return linkRequest{}, err
	}
	l := linkRequest{Request: r, link: link, frame: s.linkFrame(r, link.Person)}
	serverlog.SetPrincipal(r.Context(),
		askback.Principal{Kind: askback.Responder, Name: link.Person, Channel: link.Channel})
	if l.client, err = s.links.Person(r.Context(), link.Person, link.Channel); err == nil {
		l.ask, err = l.client.Get(r.Context(), link.AskID)
	}
	switch {
	case errors.Is(err, askback.ErrNotFound), errors.Is(err, askback.ErrForbidden),
		errors.Is(err, askback.ErrUnauthorized):
		return l, errLinkEnded
	case err != nil:
		return l, err
	}
	if link.Choice > 0 {
		choices := notice.Choices(l.ask, notice.Limits{})
		if link.Choice > len(choices) {
			return l, errLink
		}
		l.choice = &choices[link.Choice-1]
	}
	l.view, l.frame.Reader = view.For(l.ask, link.Person), safetext.Line(link.Person)
	return l, nil
}

func (s *site) linkFrame(r *http.Request, person string) pages.Frame {
	f := s.frame(r, person)
	f.IsLink, f.Script = true, ""
	if zone := s.zones.load(r.URL.Query().Get("zone")); zone != nil {
		f.Zone, f.OwnZone = zone, true
	}
	return f
}

// isDangerous reports whether a link is not enough to decide the ask, because the call is dangerous.
func (r linkRequest) isDangerous() bool {
	return r.view.Confirmation != nil && r.view.Confirmation.Dangerous
}

// isBarred reports whether only other people may decide the ask.
func (r linkRequest) isBarred() bool { return r.view.Barred.String() != "" }

// showLink shows the ask of a link. It changes nothing.
func (s *site) showLink(w http.ResponseWriter, r linkRequest) error {
	return s.renderLink(w, r, http.StatusOK, view.NewForm(r.view))
}

// renderLink shows the ask of a link with its form as it was filled in, or with its outcome.
func (s *site) renderLink(w http.ResponseWriter, r linkRequest, status int, form view.Form) error {
	if r.ask.Settled() {
		return s.render(w, r.Request, status, pages.LinkSettled(r.frame, r.view, r.mine(), view.Conflict{}))
	}
	r.frame.Script, r.frame.Seen = s.assets.seen, r.URL.Path
	w.Header().Set("Content-Security-Policy", linkPolicy+linkScript)
	switch {
	case r.isBarred():
		return s.render(w, r.Request, status, pages.LinkBarred(r.frame, r.view))
	case r.isDangerous():
		return s.render(w, r.Request, status, pages.LinkLogin(r.frame, r.view))
	case r.choice != nil:
		return s.render(w, r.Request, status, pages.LinkChoice(r.frame, r.page(), r.view, form))
	}
	return s.render(w, r.Request, status, pages.LinkAsk(r.frame, r.page(), r.view, form))
}

// mine reports whether the person of the link settled the ask.
func (r linkRequest) mine() bool {
	o := r.ask.Outcome
	return o != nil && o.Actor.Kind == askback.ActorPerson && o.Actor.Name == r.link.Person
}

// settleLink handles the POST requests of a link. It answers the ask as the person of the link, or records
// that the ask was seen. The answer is the form of the page, or the choice of the link alone, which the
// button of a notification sends.
func (s *site) settleLink(w http.ResponseWriter, r linkRequest) error {
	values, err := readLinkValues(w, r.Request)
	switch {
	case err != nil:
		return err
	case isSeen(values):
		return s.recordSeen(w, r)
	case (r.isDangerous() || r.isBarred()) && !r.ask.Settled():
		return s.renderLink(w, r, http.StatusForbidden, view.NewForm(r.view))
	case !values.Has("action"):
		return s.pressButton(w, r, values)
	case r.choice != nil:
		if values.Get("choice") != strconv.Itoa(r.link.Choice) {
			return errForm
		}
		return s.answerLink(w, r, submission{form: view.NewForm(r.view)}, r.choice.Answer)
	}
	sent, err := readLinkForm(values, r.view)
	if err != nil {
		return err
	}
	if sent.check(r.ask, r.view) {
		if r.ask.Settled() {
			return s.renderLate(w, r)
		}
		return s.renderLink(w, r, http.StatusUnprocessableEntity, sent.form)
	}
	return s.answerLink(w, r, sent, sent.form.Answer(r.view))
}

// isSeen reports whether the script of the page of a link sent these values after the page became visible. A
// request for the address alone changes nothing, because programs that check mails send it, too.
func isSeen(values url.Values) bool {
	return len(values) == 1 && slices.Equal(values["seen"], []string{"1"})
}

// recordSeen records that the ask of a link is on the person's screen.
func (s *site) recordSeen(w http.ResponseWriter, r linkRequest) error {
	if err := r.client.Seen(r.Context(), r.ask.ID); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// maxButton is the limit in bytes for the request from a button of a notification.
const maxButton = 1 << 10

// readLinkValues reads the fields of the form on a page. It also reads the request from the button of a
// notification, which may have any content type.
func readLinkValues(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err == nil &&
		kind == "application/x-www-form-urlencoded" {
		return readValues(w, r, maxForm)
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxButton))
	if err != nil {
		return nil, errForm
	}
	values, err := url.ParseQuery(strings.TrimSpace(string(raw)))
	if err != nil || values.Has("action") {
		return nil, errForm
	}
	return values, nil
}

// readLinkForm reads the form on the page of a link. It returns errForm for fields that only the page of a
// logged-in person offers: edited arguments and standing approvals.
func readLinkForm(values url.Values, a view.Ask) (submission, error) {
	action := values.Get("action")
	allowed := action == pages.Decline || (a.Confirmation == nil && action == pages.Answer) ||
		(a.Confirmation != nil && (action == pages.Approve || action == pages.Deny || action == pages.NoAction))
	if !allowed || values.Has("input") || values.Has("scope") || values.Has("expires_in") {
		return submission{}, errForm
	}
	return submissionOf(values, a)
}

// answerLink sends answer, or declines the ask, and shows the result.
func (s *site) answerLink(w http.ResponseWriter, r linkRequest, sent submission, answer askback.Answer) error {
	var after askback.Ask
	var err error
	if sent.action == pages.Decline {
		after, err = r.client.Decline(r.Context(), r.ask.ID, string(sent.form.Reason))
	} else {
		after, err = r.client.Answer(r.Context(), r.ask.ID, answer)
	}
	var invalid askback.Invalid
	switch {
	case err == nil:
		http.Redirect(w, r.Request, r.URL.Path, http.StatusSeeOther)
		return nil
	case errors.Is(err, askback.ErrSettled) && after.Outcome != nil:
		r.ask, r.view = after, view.Of(after)
		return s.renderLate(w, r)
	case errors.As(err, &invalid):
		sent.form.AddInvalid(r.view, invalid)
		return s.renderLink(w, r, http.StatusUnprocessableEntity, sent.form)
	}
	return err
}

// renderLate shows the outcome of an ask to a person whose answer was late.
func (s *site) renderLate(w http.ResponseWriter, r linkRequest) error {
	conflict := view.ConflictOf(*r.ask.Outcome, r.link.Person)
	return s.render(w, r.Request, http.StatusConflict, pages.LinkSettled(r.frame, r.view, r.mine(), conflict))
}

// pressButton answers with the choice of a link, as the button of a notification requests. It replies with a
// sentence in plain text.
func (s *site) pressButton(w http.ResponseWriter, r linkRequest, values url.Values) error {
	if r.choice == nil || len(values) != 1 || !slices.Equal(values["choice"], []string{strconv.Itoa(r.link.Choice)}) {
		return errForm
	}
	after, err := r.client.Answer(r.Context(), r.ask.ID, r.choice.Answer)
	switch {
	case err == nil && !after.Settled():
		return writeSentence(w, http.StatusOK, notice.CountedText(after)+".")
	case err == nil:
		return writeSentence(w, http.StatusOK, "You answered: "+r.choice.Label)
	case errors.Is(err, askback.ErrSettled) && after.Outcome != nil:
		return writeSentence(w, http.StatusConflict, notice.Late(after, r.link.Person))
	}
	return err
}

// writeSentence replies with a sentence for a person.
func writeSentence(w http.ResponseWriter, status int, text string) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n")
	return nil
}

// linkFailures maps errors of links to their pages. The pages reveal nothing about an ask.
var linkFailures = []struct {
	err error
	failure
}{
	{askback.ErrNotFound, ended},
	{askback.ErrForbidden, ended},
	{errLinkEnded, ended},
	{errLink, failure{http.StatusNotFound, pages.Notice{
		Heading: "This link does not work",
		Body:    []string{"Parts of it may be missing. Open it again from the message that you got."},
	}}},
	{errAgent, failure{http.StatusForbidden, pages.Notice{
		Heading: "Only for people",
		Body: []string{
			"This address is for the person who got the link, and accepts no token of a program. Nothing has changed.",
		},
	}}},
}

// ended is the page of a link that the person may not use, or may no longer use.
var ended = failure{http.StatusGone, pages.Notice{
	Heading: "This link has ended",
	Body:    []string{"The question no longer exists, or you may no longer answer it. Nothing has changed."},
}}

// renderLinkError sends the page of an error, without the data of a log-in. A program that does not accept
// HTML gets a sentence instead. The log gets no token.
func (s *site) renderLinkError(w http.ResponseWriter, r *http.Request, link answerlink.Link, err error) {
	f := failureOf(err)
	for _, known := range linkFailures {
		if errors.Is(err, known.err) {
			f = known.failure
		}
	}
	f.Home = false
	login.RefuseBody(w, r)
	switch {
	case f.status >= http.StatusInternalServerError:
		s.log.Error("the page of a link failed", "method", r.Method, "ask", link.AskID, "error", err)
	case link.AskID != "":
		s.log.Info("a link was rejected", "method", r.Method, "ask", link.AskID, "name", link.Person, "via",
			string(link.Channel), "error", err)
	}
	if r.Method == http.MethodPost && !strings.Contains(r.Header.Get("Accept"), "text/html") {
		_ = writeSentence(w, f.status, f.Heading+". "+strings.Join(f.Body, " "))
		return
	}
	if err := s.render(w, r, f.status, pages.Message(s.linkFrame(r, ""), f.Notice)); err != nil {
		s.log.Error("rendering the error page failed", "error", err)
		http.Error(w, http.StatusText(f.status), f.status)
	}
}
