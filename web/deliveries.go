package web

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/text/view"
)

// deliveries lists the messages to people and programs, newest first.
func (s *site) deliveries(w http.ResponseWriter, r request) error {
	if s.auth.May(r.principal, access.ActDeliveries) != nil {
		return errAdminOnly
	}
	values := r.URL.Query()
	q := askback.DeliveryQuery{Status: askback.DeliveryStatus(values.Get("status")), Cursor: values.Get("cursor")}
	page, err := r.client.Deliveries(r.Context(), q)
	if err != nil {
		return err
	}
	list := pages.DeliveryList{
		Status: string(q.Status), Cursor: q.Cursor, Next: page.NextCursor,
		MayRetry:  s.auth.May(r.principal, access.ActRetry) == nil,
		Sessions:  s.auth.May(r.principal, access.ActFollow) == nil,
		Endpoints: s.auth.May(r.principal, access.ActEndpoints) == nil,
	}
	asks := map[string]*view.Ask{}
	for _, d := range page.Items {
		v := view.DeliveryOf(d, s.titles)
		if v.Ask, err = s.headline(r, asks, d.AskID); err != nil {
			return err
		}
		list.Deliveries = append(list.Deliveries, v)
	}
	if len(list.Deliveries) == 0 && list.Next == "" && q == (askback.DeliveryQuery{}) {
		sent, err := r.client.Deliveries(r.Context(), askback.DeliveryQuery{Status: askback.DeliverySent, Limit: 1})
		if err != nil {
			return err
		}
		list.Never = len(sent.Items) == 0 && sent.NextCursor == ""
	}
	if list.Retried, err = s.retried(r, values.Get("done"), values.Get("of")); err != nil {
		return err
	}
	return s.render(w, r.Request, http.StatusOK, pages.Deliveries(r.frame, list))
}

// headline returns the view of an ask for a list, or nil if the person may not see the ask. An operator may
// see no asks. The map asks keeps the views, so that each ask is read only once.
func (s *site) headline(r request, asks map[string]*view.Ask, id string) (*view.Ask, error) {
	if v, ok := asks[id]; ok || id == "" || s.auth.May(r.principal, access.ActGet) != nil {
		return v, nil
	}
	a, err := r.client.Get(r.Context(), id)
	switch {
	case errors.Is(err, askback.ErrNotFound), errors.Is(err, askback.ErrDamaged):
		asks[id] = nil
		return nil, nil
	case err != nil:
		return nil, err
	}
	v := view.Brief(a)
	asks[id] = &v
	return &v, nil
}

// retried returns the present state of the delivery id about an ask or a session, or nil if there is no such
// delivery.
func (s *site) retried(r request, id, about string) (*view.Delivery, error) {
	if id == "" || about == "" {
		return nil, nil
	}
	q := askback.DeliveryQuery{AskID: about, Limit: askback.MaxLimit}
	if strings.HasPrefix(about, "ses_") {
		q.AskID, q.SessionID = "", about
	}
	page, err := r.client.Deliveries(r.Context(), q)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(page.Items, func(d askback.Delivery) bool { return d.ID == id })
	if i < 0 {
		return nil, nil
	}
	v := view.DeliveryOf(page.Items[i], s.titles)
	return &v, nil
}

// retryDelivery sends a delivery again that was given up. If another operator has already done so, the page
// shows the result.
func (s *site) retryDelivery(w http.ResponseWriter, r request) error {
	values, err := readValues(w, r.Request, maxEmptyForm)
	if err != nil {
		return err
	}
	if err := s.reauthenticate(r); err != nil {
		return err
	}
	id, about := r.PathValue("id"), values.Get("of")
	d, err := r.client.RetryDelivery(r.Context(), id)
	switch {
	case err == nil:
		about = cmp.Or(d.AskID, d.SessionID)
	case !errors.Is(err, askback.ErrNotFound) || about == "":
		return err
	}
	back := url.Values{"done": {id}, "of": {about}}
	if status := values.Get("status"); status != "" {
		back.Set("status", status)
	}
	http.Redirect(w, r.Request, pages.DeliveriesPath+"?"+back.Encode(), http.StatusSeeOther)
	return nil
}

// deliveriesOf returns the deliveries about asks, and about a session unless session is "". It returns no
// deliveries if the person may not see deliveries. The deliveries of each ask and of the session are oldest
// first.
func (s *site) deliveriesOf(r request, session string, asks ...askback.Ask) (all []askback.Delivery, err error) {
	if s.auth.May(r.principal, access.ActDeliveries) != nil {
		return nil, nil
	}
	queries := []askback.DeliveryQuery{}
	if session != "" {
		queries = append(queries, askback.DeliveryQuery{SessionID: session, Limit: askback.MaxLimit})
	}
	for _, a := range asks {
		queries = append(queries, askback.DeliveryQuery{AskID: a.ID, Limit: askback.MaxLimit})
	}
	for _, q := range queries {
		page, err := r.client.Deliveries(r.Context(), q)
		if err != nil {
			return nil, err
		}
		slices.Reverse(page.Items)
		all = append(all, page.Items...)
	}
	return all, nil
}

// withDeliveries returns v with the deliveries of the ask.
func (s *site) withDeliveries(r request, a askback.Ask, v view.Ask) (view.Ask, error) {
	sent, err := s.deliveriesOf(r, "", a)
	v.Deliveries = view.DeliveriesOf(sent, s.titles)
	return v, err
}
