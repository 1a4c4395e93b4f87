package send

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

// Deliveries implements [askback.Deliveries].
func (c *Client) Deliveries(ctx context.Context, q askback.DeliveryQuery) (askback.DeliveryPage, error) {
	page, err := c.deliveries(ctx, q)
	if err != nil {
		return askback.DeliveryPage{}, fmt.Errorf("deliveries: %w", err)
	}
	return page, nil
}

func (c *Client) deliveries(ctx context.Context, q askback.DeliveryQuery) (page askback.DeliveryPage, err error) {
	if err := cmp.Or(c.Authorize(access.ActDeliveries), q.Check()); err != nil {
		return page, err
	}
	from := deliveryCursor{list: listOpen}
	switch {
	case q.AskID != "" || q.SessionID != "":
		from.list = listOfState
	case q.Status == askback.DeliverySent || q.Status == askback.DeliverySkipped:
		from.list = listSent
	}
	if err := from.parse(q.Cursor); err != nil {
		return page, err
	}
	switch {
	case from.list == listOfState:
		return c.deliveriesAbout(ctx, q, from)
	case !access.Allowed(c.Who.Kind, access.ActDeliveries, access.Unrelated):
		return page, askback.Invalid{{
			Pointer: "?question_id",
			Detail:  "you may list the deliveries of your own asks and sessions, one at a time",
			Fix:     "question_id=ask_… or session_id=ses_…",
		}}
	case from.list == listSent:
		return c.sentDeliveries(ctx, q, from)
	}
	return c.openDeliveries(ctx, q, from)
}

// deliveriesAbout returns a page of the deliveries about one ask or session, from its state.
func (c *Client) deliveriesAbout(
	ctx context.Context, q askback.DeliveryQuery, from deliveryCursor,
) (page askback.DeliveryPage, err error) {
	all, err := c.stateDeliveries(ctx, q)
	if errors.Is(err, askback.ErrNotFound) {
		// a missing record has the same result as a record that the principal may not see, as in other lists
		return page, nil
	}
	if err != nil {
		return page, err
	}
	if from.last != "" {
		n := slices.IndexFunc(all.deliveries, func(d askback.Delivery) bool { return d.ID == from.last })
		if n < 0 {
			return page, txn.ErrCursor
		}
		all.deliveries = all.deliveries[:n]
	}
	holders := holders{}
	for _, d := range slices.Backward(all.deliveries) {
		if q.Status != "" && d.Status != q.Status {
			continue
		}
		if n := len(page.Items); n == cmp.Or(q.Limit, askback.DefaultLimit) {
			from.last = page.Items[n-1].ID
			page.NextCursor = from.String()
			return page, nil
		}
		page.Items = append(page.Items, withoutSession(holders.held(ctx, c.service, all, d)))
	}
	return page, nil
}

// stateDeliveries returns the deliveries of the ask or the session of a query. The error is not nil if the
// principal may not list them.
func (c *Client) stateDeliveries(ctx context.Context, q askback.DeliveryQuery) (all sentRecord, err error) {
	switch {
	case q.AskID != "" && !ids.Valid(ids.Ask, q.AskID):
		return all, askback.Invalid{
			{Pointer: "?question_id", Detail: "this is not the id of an ask", Fix: "question_id=ask_…"},
		}
	case q.AskID != "":
		a, err := c.service.Read(ctx, q.AskID)
		if err != nil {
			return all, err
		}
		return sentRecord{a.State.Deliveries, a.State.Owner, a.State.Callback}, c.AuthorizeAsk(access.ActDeliveries,
			&a.State)
	case !ids.Valid(ids.Session, q.SessionID):
		return all, askback.Invalid{
			{Pointer: "?session_id", Detail: "this is not the id of a session", Fix: "session_id=ses_…"},
		}
	}
	s, err := c.service.sessionState(ctx, q.SessionID)
	if err != nil {
		return all, err
	}
	return sentRecord{s.Deliveries, s.Session.Owner, s.Receiver()}, c.AuthorizeSession(access.ActDeliveries,
		s.Session.Owner)
}

// holders is a cache of the endpoints that a list of deliveries has read, keyed by endpointKey. The entry of
// an active endpoint is zero.
type holders map[string]askback.Endpoint

// held returns the delivery d, with the id and the status of its endpoint. If d goes to no callback, or was
// sent or skipped, held returns d unchanged. The same applies if the endpoint is neither paused nor disabled,
// or cannot be read. The argument of is the ask or session to which d belongs.
func (h holders) held(ctx context.Context, e *Service, of sentRecord, d askback.Delivery) askback.Delivery {
	if !lifecycle.ToCallback(d) || d.Status == askback.DeliverySent || d.Status == askback.DeliverySkipped {
		return d
	}
	key := endpointKey(e.endpointOwner(of.owner, of.address), askback.Origin(of.address))
	to, known := h[key]
	if !known {
		if row, err := e.Store.ReadKey(ctx, KindEndpoint, key); err == nil &&
			row.Status != string(askback.EndpointActive) {
			s, _ := DecodeEndpoint(row)
			to = s.Endpoint
		}
		h[key] = to
	}
	d.EndpointID, d.EndpointStatus = to.ID, to.Status
	return d
}

// withoutSession returns a delivery for a list, without the contents of the session.
func withoutSession(d askback.Delivery) askback.Delivery {
	d.Session = nil
	return d
}

// openDeliveries returns a page of the deliveries that were not sent. It reads the effects backwards. A
// waiting delivery has no effect of its own, so it is listed with the queued delivery for which it waits.
func (c *Client) openDeliveries(
	ctx context.Context, q askback.DeliveryQuery, from deliveryCursor,
) (page askback.DeliveryPage, err error) {
	limit := cmp.Or(q.Limit, askback.DefaultLimit)
	list := c.service.Store.Effects
	if q.Status == askback.DeliveryFailed {
		list = c.service.Store.Dead
	}
	holders := holders{}
	for begun, examined := time.Now(), 0; ; {
		effects, err := list(ctx, store.Query{Kind: kindSend, After: from.effect, Newest: true, Limit: deliveryChunk})
		if err != nil {
			return askback.DeliveryPage{}, txn.FromStore(err)
		}
		for _, f := range effects {
			found, err := c.deliveriesOf(ctx, q.Status, f, holders)
			if err != nil {
				return askback.DeliveryPage{}, err
			}
			if n := slices.IndexFunc(found, func(d askback.Delivery) bool { return d.ID == from.last }); n >= 0 {
				found = found[n+1:]
			}
			for _, d := range found {
				if len(page.Items) == limit {
					page.NextCursor = from.String()
					return page, nil
				}
				page.Items = append(page.Items, withoutSession(d))
				from.last = d.ID
			}
			from.effect, from.last = f.ID, ""
			if time.Since(begun) >= txn.MaxListTime {
				page.NextCursor = from.String()
				return page, nil
			}
		}
		if len(effects) < deliveryChunk {
			return page, nil
		}
		if examined += len(effects); examined >= txn.MaxExamined {
			page.NextCursor = from.String()
			return page, nil
		}
	}
}

// deliveryChunk is the number of effects that a list of deliveries reads at a time.
const deliveryChunk = 100

// deliveriesOf returns the deliveries of an effect that have a status. If status is "", it returns the
// deliveries that are not sent. First are the deliveries that wait for the delivery of the effect, newest
// first. The delivery of the effect is last. If the record cannot be read, deliveriesOf returns nil.
func (c *Client) deliveriesOf(
	ctx context.Context, status askback.DeliveryStatus, f store.Effect, holders holders,
) (found []askback.Delivery, err error) {
	if f.Dead && (status == askback.DeliveryQueued || status == askback.DeliveryWaiting) {
		return nil, nil // such a delivery has failed, so its ask is not read
	}
	all, err := c.service.deliveriesOfRecord(ctx, f)
	switch {
	case errors.Is(err, askback.ErrNotFound), errors.Is(err, askback.ErrDamaged), errors.Is(err, txn.ErrUnreadable):
		return nil, nil
	case err != nil:
		return nil, err
	}
	last := "" // the queued delivery with the greatest id; the waiting deliveries are listed once, with this delivery
	for _, d := range all.deliveries {
		if d.Status == askback.DeliveryQueued {
			last = max(last, d.ID)
		}
	}
	for _, d := range slices.Backward(all.deliveries) {
		own := d.ID == f.ID
		if own && f.Dead {
			// the delivery has failed, even if the result of the last attempt was rejected
			d.Status = askback.DeliveryFailed
		}
		if !own && (d.Status != askback.DeliveryWaiting || last != f.ID) {
			continue
		}
		if status == d.Status || status == "" && d.Status != askback.DeliverySent {
			found = append(found, holders.held(ctx, c.service, all, d))
		}
	}
	return found, nil
}

// sentDeliveries returns a page of the deliveries that were sent, or of the deliveries that were skipped. It
// reads the history backwards, like the list of settled asks.
func (c *Client) sentDeliveries(
	ctx context.Context, q askback.DeliveryQuery, from deliveryCursor,
) (page askback.DeliveryPage, err error) {
	limit := cmp.Or(q.Limit, askback.DefaultLimit)
	for begun, examined := time.Now(), 0; ; {
		list, before, err := c.sentSubjects(ctx, q.Status, from.seq)
		if err != nil {
			return askback.DeliveryPage{}, err
		}
		for _, row := range list {
			d, ok, err := c.sentDelivery(ctx, row)
			if err != nil {
				return askback.DeliveryPage{}, err
			}
			if !ok {
				continue
			}
			if len(page.Items) == limit {
				from.seq = row.Seq + 1
				page.NextCursor = from.String()
				return page, nil
			}
			if err := c.service.addSeen(ctx, &d); err != nil {
				return askback.DeliveryPage{}, err
			}
			page.Items = append(page.Items, withoutSession(d))
		}
		if before == 0 {
			return page, nil
		}
		if examined += len(list); len(list) < txn.ListChunk {
			examined += txn.ExamineChunk
		}
		if from.seq = before; examined >= txn.MaxExamined || time.Since(begun) >= txn.MaxListTime {
			page.NextCursor = from.String()
			return page, nil
		}
	}
}

// sentSubjects returns the asks and sessions with a delivery that was sent or skipped, newest event first. If
// there may be more of them, before is the Seq at which the next call must begin. Otherwise before is 0.
func (c *Client) sentSubjects(
	ctx context.Context, status askback.DeliveryStatus, from int64,
) (list []store.Subject, before int64, err error) {
	event := askback.EventDeliverySent
	if status == askback.DeliverySkipped {
		event = askback.EventDeliverySkipped
	}
	for _, kind := range []string{txn.KindAsk, txn.KindSession} {
		rows := store.SubjectQuery{Types: []string{string(event)}, Before: from}
		rows.Kind, rows.Limit, rows.Scan = kind, txn.ListChunk, txn.ExamineChunk
		found, next, err := c.service.Store.Subjects(ctx, rows)
		if err != nil {
			return nil, 0, txn.FromStore(err)
		}
		list, before = append(list, found...), max(before, next)
	}
	// Events before this Seq may have been read for only one of the two kinds. The next call reads them
	// again.
	list = slices.DeleteFunc(list, func(s store.Subject) bool { return s.Seq < before })
	slices.SortFunc(list, func(a, b store.Subject) int { return cmp.Compare(b.Seq, a.Seq) })
	return list, before, nil
}

// addSeen adds the time at which people saw a delivery. The event of the delivery does not have this time.
func (e *Service) addSeen(ctx context.Context, d *askback.Delivery) error {
	if d.AskID == "" || lifecycle.ToCallback(*d) {
		return nil
	}
	a, err := e.Read(ctx, d.AskID)
	switch {
	case errors.Is(err, askback.ErrNotFound), errors.Is(err, askback.ErrDamaged), errors.Is(err, txn.ErrUnreadable):
		return nil // without this time, the delivery in the event is still correct
	case err != nil:
		return err
	}
	now, _ := a.State.Delivery(d.ID)
	d.SeenAt = now.SeenAt
	return nil
}

// sentDelivery returns the delivery in the event of a subject. It reports false if the event cannot be read,
// or was deleted in the meantime.
func (c *Client) sentDelivery(ctx context.Context, row store.Subject) (d askback.Delivery, ok bool, err error) {
	events, err := c.service.Store.History(ctx, "", row.Seq-1, 1)
	if err != nil {
		return d, false, txn.FromStore(err)
	}
	if len(events) == 0 || events[0].Seq != row.Seq {
		return d, false, nil
	}
	h, ok := c.service.DecodeEvent(events[0])
	if !ok || h.Delivery == nil {
		return d, false, nil
	}
	d = *h.Delivery
	if d.SessionID = row.ID; row.Kind == txn.KindAsk {
		d.SessionID, d.AskID = row.Stream, row.ID
	}
	return d, true, nil
}

// The prefixes of the cursors of lists of deliveries. A cursor of one list is not valid in another.
const (
	listOpen    = "d" // deliveries that were not sent
	listSent    = "s" // deliveries that were sent
	listOfState = "a" // deliveries about one ask or session
)

// A deliveryCursor is the position of a page of deliveries.
type deliveryCursor struct {
	list   string
	seq    int64  // the position in listSent: the event before which the page begins
	effect string // the position in listOpen: the last effect whose deliveries are all on the previous pages, or ""
	// the position in other lists: the last delivery of the previous page, if more deliveries of its ask or
	// session follow
	last string
}

// String encodes a cursor as an opaque string.
func (c deliveryCursor) String() string {
	s := c.list + c.effect + "." + c.last
	if c.list == listSent {
		s = c.list + strconv.FormatInt(c.seq, 36)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(s))
}

// parse decodes the cursor of a list. If the cursor is not valid, the error is an [askback.Invalid]. The
// cursor "" is the beginning of the list.
func (c *deliveryCursor) parse(text string) error {
	if text == "" {
		return nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	rest, ok := strings.CutPrefix(string(raw), c.list)
	if err != nil || !ok {
		return txn.ErrCursor
	}
	if c.list == listSent {
		if c.seq, err = strconv.ParseInt(rest, 36, 64); err != nil || c.seq < 1 {
			return txn.ErrCursor
		}
		return nil
	}
	if c.effect, c.last, ok = strings.Cut(rest, "."); !ok || c.effect == "" && c.last == "" {
		return txn.ErrCursor
	}
	return cmp.Or(txn.CheckCursor(deliveryPrefix, c.effect), txn.CheckCursor(deliveryPrefix, c.last))
}

// deliveryPrefix is the prefix of the ids of deliveries.
const deliveryPrefix = "dlv_"

// RetryDelivery implements [askback.Deliveries].
func (c *Client) RetryDelivery(ctx context.Context, id string) (askback.Delivery, error) {
	if err := c.Authorize(access.ActRetry); err != nil {
		return askback.Delivery{}, err
	}
	f, err := c.service.deadLetter(ctx, id)
	if err == nil && f.Kind != kindSend {
		err = askback.ErrNotFound
	}
	if err == nil {
		err = c.service.reviveDeadLetter(ctx, f)
	}
	if err != nil {
		return askback.Delivery{}, fmt.Errorf("retry %s: %w", id, err)
	}
	d, err := c.service.outgoing(ctx, f)
	if err != nil {
		return askback.Delivery{}, fmt.Errorf("retry %s: %w", id, err)
	}
	return d.Delivery, nil
}
