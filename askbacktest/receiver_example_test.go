package askbacktest_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/channel/webhook"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// A program asks and ends. The outcome is sent to its address, although the address does not
// accept the question at first, and a reply is lost.
func ExampleReceiver() {
	test(func(t testing.TB) { // func TestAnswersArrive(t *testing.T) {
		receiver := askbacktest.NewReceiver(t, nil)
		receiver.Next(askbacktest.Status(http.StatusServiceUnavailable), askbacktest.Accept, askbacktest.LoseReply())

		loopback, _ := webhook.ParseAllowed(receiver.Address())
		channel,
			_ := webhook.New(webhook.Options{Secret: askbacktest.ReceiverSecret, Allow: []webhook.Allowed{loopback}})
		instance := askbacktest.On(t, memstore.New(),
			&engine.Options{Channels: map[string]engine.Channel{"webhook": channel}})
		instance.Person("ana", askbacktest.Answer("Which database", "SQLite"))

		_, err := instance.Agent("migrator").Ask(context.Background(), askback.Request{
			Questions: []askback.Question{
				{Text: "Which database?", Options: askback.Options("PostgreSQL", "SQLite")},
			},
			CallbackURL: receiver.URL(),
		})
		fmt.Println(err)
		instance.Advance(6 * time.Second) // the second attempt, because a failed attempt is repeated after 5 s
		instance.Advance(6 * time.Second) // the same for the outcome
		for _, m := range receiver.Messages() {
			fmt.Println(m.Event, m.Question.Text)
		}
		fmt.Println(receiver.Messages()[1].Outcome.Answers[0])
	})
	// Output:
	// <nil>
	// question_pending Which database?
	// question_answered Which database?
	// SQLite
}
