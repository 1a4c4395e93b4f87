package telegram_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/telegram"
	"github.com/askback/askback/channel/telegram/telegramtest"
	"github.com/askback/askback/engine"
)

func logger(l *logBuffer) *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// A stranger gets a refusal, at most once a minute, and no part of any ask (T15).
func TestStrangerGetsNoPartOfAnAsk(t *testing.T) {
	b := newBot(t)
	_, m := b.ask(questions(question("Deploy the rocket?", "Yes", "No")))
	for _, text := range []string{"hello", "/list", "/snooze 1h", "/stop", "hello again"} {
		b.reply(stranger, stranger, 0, text)
	}
	b.reply(stranger, stranger, 0, "/start AAAABBBBCCCCDDDD")
	var got []string
	for _, m := range b.Messages(stranger) {
		if m.From == 0 {
			got = append(got, m.Text)
		}
	}
	if len(got) != 2 || !strings.HasPrefix(got[0], "This account is not linked") ||
		!strings.HasPrefix(got[1], "This code is wrong") {
		t.Errorf("got %q", got)
	}
	p, err := b.PressData(stranger, ana, m.ID, m.Buttons[0][0].Data)
	if err != nil || strings.Contains(p.Text, "rocket") || !p.Alert {
		t.Errorf("got %+v, %v", p, err)
	}
}

// A button answers only in its own message. In a private chat, a button answers only for the owner of the
// chat. So ben cannot press a button of ana, although ben may answer the ask.
func TestButtonsBelongToTheirMessage(t *testing.T) {
	b := newBot(t)
	r := questions(question("Deploy?", "Yes", "No"))
	r.To = []string{"ana", "ben"}
	a, m := b.ask(r)
	data := m.Buttons[0][0].Data
	if p, err := b.PressData(ben, ana, m.ID, data); err != nil || !p.Alert {
		t.Errorf("ben in the chat of ana: %+v, %v", p, err)
	}
	other, _ := b.Write(ana, ana, "hello", 0)
	b.Idle()
	if p, err := b.PressData(ana, ana, other, data); err != nil || !p.Alert {
		t.Errorf("in another message: %+v, %v", p, err)
	}
	if got, err := b.agent.Get(t.Context(), a.ID); err != nil || got.Settled() {
		t.Errorf("got %+v, %v", got.Outcome, err)
	}
}

// A late answer is recorded (F6).
func TestLateAnswerIsRecorded(t *testing.T) {
	b := newBot(t)
	r := questions(question("Deploy?", "Yes", "No"))
	r.To = []string{"ana", "ben"}
	a, m := b.ask(r)
	ben := askback.Principal{Kind: askback.Responder, Name: "ben"}
	if _, err := b.engine.As(ben).Answer(t.Context(), a.ID, askback.Choose("No")); err != nil {
		t.Fatal(err)
	}
	p, err := b.PressData(ana, ana, m.ID, m.Buttons[0][0].Data)
	if err != nil || p.Text != "ben answered first." {
		t.Errorf("got %+v, %v", p, err)
	}
	late, _, err := b.engine.Reports(ben).LateAnswers(t.Context(), a.ID)
	if err != nil || len(late) != 1 || late[0].Name != "ana" || late[0].Channel != askback.ChannelTelegram {
		t.Errorf("got %+v, %v", late, err)
	}
}

// The label of an agent is text on which a tap does not act, even in a title.
func TestAgentLabelIsNeverALink(t *testing.T) {
	b := newBot(t)
	a, err := b.agent.Ask(t.Context(), askback.Request{
		Agent: "/stop @here x.com", Questions: []askback.Question{question("/stop?", "/stop", "@here")},
		To: []string{"ana"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if m := b.live(ana); len(m.Damage) > 0 || !strings.Contains(m.Text, "From /stop @here x.com") {
		t.Errorf("got %q in %q", m.Damage, m.Text)
	}
	if _, err := b.agent.Cancel(t.Context(), a.ID, "see x.com /stop"); err != nil {
		t.Fatal(err)
	}
	if m := b.wait(ana, "Done: “/stop?”"); len(m.Damage) > 0 {
		t.Errorf("got %q in %q", m.Damage, m.Text)
	}
}

// A draft keeps the members that other clients have stored in the draft. An answer that was begun on the page
// is finished in Telegram.
func TestDraftIsSharedWithOtherClients(t *testing.T) {
	b := newBot(t)
	checks := question("Which checks?", "lint", "unit", "race")
	checks.MultiSelect = true
	a, m := b.ask(questions(checks))
	person := b.engine.As(askback.Principal{Kind: askback.Responder, Name: "ana"})
	if err := person.SaveDraft(t.Context(), a.ID,
		json.RawMessage(`{"form":{"q1":["2"],"comment":["all of it"]},"scroll":7}`)); err != nil {
		t.Fatal(err)
	}
	b.press(ana, ana, m.ID, "lint")
	if raw, err := person.Draft(t.Context(), a.ID); err != nil || !strings.Contains(string(raw), `"scroll":7`) {
		t.Errorf("got %s, %v", raw, err)
	}
	b.press(ana, ana, m.ID, "Send the answer")
	got := b.outcome(a.ID)
	if !slices.Equal(got.Answers[0].Selected, []string{"lint", "race"}) || got.Comment != "all of it" {
		t.Errorf("got %+v", got)
	}
}

// A person who links a chat is told about open questions that are not sent to the chat.
func TestGreetingMentionsOpenQuestions(t *testing.T) {
	b := newBot(t)
	b.ask(questions(question("Deploy?", "Yes", "No")))
	b.reply(ana, ana, 0, "/stop")
	b.Write(ana, ana, "/start "+b.contacts.code("ana"), 0)
	b.Idle()
	if got := b.Last(ana).Text; !strings.Contains(got, "already open do not arrive here: /list") {
		t.Errorf("got %q", got)
	}
	if got := b.Last(ben).Text; strings.Contains(got, "already") {
		t.Errorf("without an open question: %q", got)
	}
}

// The list shows the open asks, and its buttons point to the messages.
func TestListPointsToMessages(t *testing.T) {
	b := newBot(t)
	b.reply(ana, ana, 0, "/list")
	b.wait(ana, "No question is open.")
	_, m := b.ask(questions(question("Which https://evil.example /stop @here?", "Yes", "No")))
	b.reply(ana, ana, 0, "/list@"+telegramtest.Username)
	list := b.wait(ana, "1. Which https://evil.example /stop @here? from robot\n")
	if len(list.Damage) > 0 {
		t.Errorf("a tap on the list acts: %q", list.Damage)
	}
	b.press(ana, ana, list.ID, "1")
	if got := b.wait(ana, "The message is here"); got.ReplyTo != m.ID {
		t.Errorf("it points to %d, want %d", got.ReplyTo, m.ID)
	}
	b.reply(ben, ben, 0, "/list")
	b.wait(ben, "No question is open.")
}

// A reply with /snooze hides the question from the list. The question can still be answered.
func TestSnoozedQuestionIsNotListed(t *testing.T) {
	b := newBot(t)
	a, m := b.ask(questions(question("Deploy?", "Yes", "No")))
	b.reply(ana, ana, m.ID, "/snooze yesterday")
	b.wait(ana, "This is not a time in the future.")
	b.reply(ana, ana, m.ID, "/snooze 2h")
	b.wait(ana, "Hidden from the list until ")
	s, err := b.engine.As(askback.Principal{Kind: askback.Responder, Name: "ana"}).Snoozed(t.Context(), a.ID)
	if until := time.Until(s.Until); err != nil || until < 119*time.Minute || until > 2*time.Hour {
		t.Errorf("snoozed for %s, %v", until, err)
	}
	b.reply(ana, ana, 0, "/list")
	b.wait(ana, "No question is open.")
	b.press(ana, ana, m.ID, "Yes")
	b.outcome(a.ID)
}

// The command /stop unlinks the chat. A chat is also unlinked if its user blocks the bot, with or without an
// update about the block.
func TestStopAndBlockUnlinkTheChat(t *testing.T) {
	b := newBot(t)
	b.reply(ben, ben, 0, "/stop")
	b.wait(ben, "This chat is not linked any more")
	if _, err := (linked{b.contacts, b.engine}).ContactAt(t.Context(), telegram.Name,
		"4002"); !errors.Is(err, askback.ErrNotFound) {
		t.Errorf("after /stop: %v", err)
	}
	_, m := b.ask(questions(question("Deploy?", "Yes", "No")))
	b.BlockSilently(ana)
	_, err := b.sender.Send(t.Context(), askback.Notification{
		Ask: askback.Ask{ID: askID, Questions: []askback.Question{{ID: "q1", Text: "?"}}}, Address: "4001",
	})
	var sending *askback.SendError
	if !errors.As(err, &sending) || !sending.Gone || !sending.Final {
		t.Errorf("got %v, want an error that says that the contact is gone", err)
	}
	b.Block(ana)
	b.Idle()
	if p, err := b.PressData(ana, ana, m.ID, m.Buttons[0][0].Data); err != nil ||
		!strings.Contains(p.Text, "not linked") {
		t.Errorf("after the block: %+v, %v", p, err)
	}
}

// A user who never started the bot is not treated as a user who blocked the bot. Otherwise the token of
// another bot would unlink every chat.
func TestOtherErrorsDoNotUnlinkChats(t *testing.T) {
	b := newBot(t)
	b.AddUser(5000)
	for _, address := range []string{"5000", "5001"} {
		_, err := b.sender.Send(t.Context(), askback.Notification{
			Ask: askback.Ask{ID: askID, Questions: []askback.Question{{ID: "q1", Text: "?"}}}, Address: address,
		})
		var sending *askback.SendError
		if !errors.As(err, &sending) || sending.Gone || !sending.Final || sending.Cause == nil {
			t.Errorf("%s: got %#v", address, err)
		}
	}
}

// In a group from the settings, the buttons work only for linked people. In any other group, the bot writes
// nothing and rejects buttons.
func TestOnlyPeopleAnswerInAGroup(t *testing.T) {
	b := newBot(t)
	a, err := b.agent.Ask(t.Context(),
		askback.Request{Agent: "robot", Questions: []askback.Question{question("Deploy?", "Yes", "No")}})
	if err != nil {
		t.Fatal(err)
	}
	m := b.live(room)
	b.live(ana) // a message that was not sent before the answer is not sent
	if p := b.press(stranger, room, m.ID, "Yes"); !p.Alert || !strings.Contains(p.Text, "not linked") {
		t.Errorf("got %+v", p)
	}
	other := int64(-100999)
	b.AddGroup(other)
	b.Write(ana, other, "/list", 0)
	b.Inject("callback_query", map[string]any{
		"id": "88", "from": map[string]any{"id": ana},
		"data":    telegram.Data(telegramtest.Token, other, 'c', a.ID, 101, 0, 0),
		"message": map[string]any{"message_id": 101, "chat": map[string]any{"id": other, "type": "supergroup"}},
	})
	b.Idle()
	if got := b.Last(other); got.Text != "" ||
		!strings.Contains(b.log.String(), "a button in a chat that is not allowed was refused") {
		t.Errorf("the bot wrote %q; the log:\n%s", got.Text, b.log)
	}
	b.press(ben, room, m.ID, "No")
	if got := b.outcome(a.ID); got.Actor.Name != "ben" || got.Answers[0].Selected[0] != "No" {
		t.Errorf("got %+v", got)
	}
	b.wait(room, "Done: “Deploy?”")
	b.wait(ana, "Done: “Deploy?”")
}

// In a group, a text of a person counts only as a reply to the question.
func TestTextInAGroupCountsOnlyAsAReply(t *testing.T) {
	b := newBot(t)
	a, err := b.agent.Ask(t.Context(),
		askback.Request{Agent: "robot", Questions: []askback.Question{{Text: "What should the name be?"}}})
	if err != nil {
		t.Fatal(err)
	}
	m := b.live(room)
	if p := b.press(ana, room, m.ID, "Write an answer…"); !p.Alert ||
		!strings.Contains(p.Text, "Reply to the message") {
		t.Errorf("got %+v", p)
	}
	before := len(b.Messages(room))
	b.reply(ben, room, 0, "not a reply")
	b.reply(stranger, room, m.ID, "stranger things")
	if got := b.Messages(room); len(got) != before+2 {
		t.Errorf("the bot wrote %+v", got[before:])
	}
	b.reply(ben, room, m.ID, "gamma")
	if got := b.outcome(a.ID); got.Actor.Name != "ben" || got.Answers[0].Other != "gamma" {
		t.Errorf("got %+v", got)
	}
}

// If a question goes to named people instead of the group, its message in the group loses its buttons.
func TestReassignedQuestionHasNoButtonsInTheGroup(t *testing.T) {
	b := newBot(t)
	a, err := b.agent.Ask(t.Context(),
		askback.Request{Agent: "robot", Questions: []askback.Question{question("Deploy?", "Yes", "No")}})
	if err != nil {
		t.Fatal(err)
	}
	m := b.live(room)
	a.To = []string{"ben"}
	n := askback.Notification{
		Delivery: askback.Delivery{Event: askback.EventQuestionReassigned}, Ask: a, Address: itoa(room),
		Earlier: itoa(room) + "/" + itoa(m.ID),
	}
	if _, err := b.sender.Send(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	if got := b.Message(room, m.ID); got.Live() || !strings.Contains(got.Text, "now with ben") {
		t.Errorf("got %+v", got)
	}
}

// A group gets only the link to an ask with several questions.
func TestGroupGetsOnlyTheLinkToSeveralQuestions(t *testing.T) {
	b := newBot(t)
	if _, err := b.agent.Ask(t.Context(), fourQuestions()); err != nil {
		t.Fatal(err)
	}
	b.live(ana)
	m := b.wait(room, "“Deploy?” +3 more")
	if m.Live() || !strings.Contains(m.Text, "Answer at the computer") {
		t.Errorf("got %+v", m)
	}
}

// A group that becomes a supergroup gets another id. The bot then sends to the supergroup.
func TestGroupGetsQuestionsAfterItBecameASupergroup(t *testing.T) {
	b := newBot(t)
	moved := int64(-1009876543210)
	b.Migrate(room, moved)
	a, err := b.agent.Ask(t.Context(),
		askback.Request{Agent: "robot", Questions: []askback.Question{question("Deploy?", "Yes", "No")}})
	if err != nil {
		t.Fatal(err)
	}
	m := b.live(moved)
	b.press(ana, moved, m.ID, "Yes")
	if got := b.outcome(a.ID); got.Actor.Name != "ana" ||
		!strings.Contains(b.log.String(), "change channels.telegram.groups") {
		t.Errorf("got %+v; the log:\n%s", got, b.log)
	}
}

// Two people answer at the same time. One answer wins, the other person is told who gave it, and no message
// has buttons afterwards (E10).
func TestOneOfTwoConcurrentAnswersWins(t *testing.T) {
	b := newBot(t)
	rounds := 10
	for range rounds {
		a, err := b.agent.Ask(t.Context(),
			askback.Request{Agent: "robot", Questions: []askback.Question{question("Deploy?", "Yes", "No")}})
		if err != nil {
			t.Fatal(err)
		}
		popups := map[int64]telegramtest.Popup{}
		var mu sync.Mutex
		var group sync.WaitGroup
		for user, m := range map[int64]telegramtest.Message{ana: b.live(ana), ben: b.live(ben)} {
			group.Go(func() {
				p, err := b.PressData(user, user, m.ID, m.Buttons[0][0].Data)
				mu.Lock()
				defer mu.Unlock()
				if popups[user] = p; err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		winner, loser := int64(ana), int64(ben)
		if got := b.outcome(a.ID); got.Actor.Name == "ben" {
			winner, loser = loser, winner
		}
		if popups[winner].Text != "Answered." || !popups[loser].Alert ||
			!strings.Contains(popups[loser].Text, "answered first") {
			t.Errorf("got %+v, the winner is %d", popups, winner)
		}
		waitFor(t, func() bool {
			for _, chat := range []int64{ana, ben, room} {
				for _, m := range b.Messages(chat) {
					if m.Live() {
						return false
					}
				}
			}
			return true
		})
	}
}

// If the person has deleted a message, an edit of the message is not an error, because nothing has to change.
func TestDeletedMessageIsNotAnError(t *testing.T) {
	b := newBot(t)
	a, m := b.ask(questions(question("Deploy?", "Yes", "No")))
	b.Delete(ana, m.ID)
	a, err := b.agent.Cancel(t.Context(), a.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	receipt := "4001/" + itoa(m.ID)
	_, err = b.sender.Send(t.Context(),
		askback.Notification{Delivery: askback.Delivery{Person: "ana"}, Ask: a, Address: "4001", Earlier: receipt})
	if err != nil {
		t.Errorf("got %v", err)
	}
	before := len(b.Messages(ben))
	if _, err = b.sender.Send(t.Context(), askback.Notification{Ask: a, Address: "4002"}); err != nil ||
		len(b.Messages(ben)) != before {
		t.Errorf("ben, who did not get the question, got its outcome, or %v", err)
	}
}

// After an ask was reassigned, its message to the first person has no buttons.
func TestReassignedAskHasNoButtons(t *testing.T) {
	b := newBot(t)
	a, m := b.ask(questions(question("Deploy?", "Yes", "No")))
	a.To = []string{"ben"}
	n := askback.Notification{
		Delivery: askback.Delivery{Person: "ana", Event: askback.EventQuestionReassigned}, Ask: a, Address: "4001",
		Earlier: "4001/" + itoa(m.ID),
	}
	if _, err := b.sender.Send(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	if got := b.Message(ana, m.ID); got.Live() || !strings.Contains(got.Text, "now with ben") ||
		strings.Contains(got.Text, "Deploy") {
		t.Errorf("got %+v", got)
	}
	n.Ask.To, n.Event = []string{"ana"}, askback.EventQuestionPending // and back
	if _, err := b.sender.Send(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	if got := b.wait(ana, "This question is for you again."); !b.Message(ana, m.ID).Live() ||
		got.ReplyTo != m.ID || got.Live() {
		t.Errorf("got %+v", b.Messages(ana))
	}
}

// A reminder is a separate message without buttons that replies to the question. The message of the question
// stays as the person has left it.
func TestReminderPointsToTheQuestion(t *testing.T) {
	b := newBot(t)
	a, m := b.ask(fourQuestions())
	b.press(ana, ana, m.ID, "Yes")
	n := askback.Notification{
		Delivery: askback.Delivery{Person: "ana", Event: askback.EventQuestionReminded}, Ask: a, Address: "4001",
		Earlier: "4001/" + itoa(m.ID),
	}
	for range 2 { // a crash happens before the delivery is settled
		receipt, err := b.sender.Send(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		got := b.wait(ana, "Reminder: this is still open.\nDeploy?")
		if got.ReplyTo != m.ID || got.Live() || receipt != "4001/"+itoa(got.ID) || b.Last(ana).ID != got.ID {
			t.Errorf("got %+v with the receipt %s", got, receipt)
		}
		n.Receipt = receipt
	}
	if text := b.Message(ana, m.ID).Text; !strings.Contains(text, "Question 2 of 4") {
		t.Errorf("the question went back to the beginning:\n%s", text)
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// The data of a button has at most 64 bytes. It is valid only if it is unchanged, in the same chat, and with
// the same token of the bot.
func TestDataOfButtonsIsSigned(t *testing.T) {
	const latest = 1<<53 - 1
	data := telegram.Data(telegramtest.Token, room, 'c', askID, latest, 3, 49)
	if len(data) > 64 || data == "" {
		t.Errorf("the data has %d bytes", len(data))
	}
	if !telegram.Verify(telegramtest.Token, room, data) || telegram.Verify(telegramtest.Token, ana, data) ||
		telegram.Verify("12345:"+strings.Repeat("x", 35), room, data) {
		t.Error("the data is not bound to its chat and its token")
	}
	for i := range data {
		changed := []byte(data)
		for changed[i] == data[i] {
			changed[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"[rand.IntN(64)]
		}
		if telegram.Verify(telegramtest.Token, room, string(changed)) {
			t.Errorf("the data is valid although character %d was changed", i)
		}
	}
	for _, short := range []string{"", "A", data[:10], data[:len(data)-1], data + "A"} {
		if telegram.Verify(telegramtest.Token, room, short) {
			t.Errorf("%q is valid", short)
		}
	}
}

// Data of a button that an earlier release sent is valid in its chat.
func TestDataOfAnEarlierReleaseIsValid(t *testing.T) {
	const token, chat = "123456:abcdefghijklmnopqrstuvwxyzABCDEFGHI", -100123
	const data = "YwGZqD2e6MJyDQdi4PpPF-YBAk0O95PN7nvo2KBd"
	if !telegram.Verify(token, chat, data) || telegram.Verify(token, chat+1, data) ||
		telegram.Verify(token+"J", chat, data) {
		t.Error("the data is not bound to its chat and its token")
	}
}

func FuzzUnits(f *testing.F) {
	f.Add("Deploy 👩‍🚀 now?", 5)
	f.Add("\xff\xfe", 1)
	f.Fuzz(func(t *testing.T, s string, most int) {
		if got, want := telegram.Units(s), len(utf16.Encode([]rune(s))); got != want {
			t.Errorf("got %d units, want %d", got, want)
		}
		if most = min(max(most, 1), 5000); telegram.Units(telegram.Cut(s, most)) > most {
			t.Errorf("%q is longer than %d", telegram.Cut(s, most), most)
		}
	})
}

// The person who started the session gets the message in a group, and is told why another person must decide.
func TestStarterLearnsThatAnotherPersonMustDecide(t *testing.T) {
	b := newBot(t)
	b.engine.Set(engine.Settings{
		People:    []askback.Person{{Name: "ana"}, {Name: "ben"}},
		Receivers: []engine.Receiver{{Channel: telegram.Name, Name: "-1001234567890"}},
		Routes:    []askback.Route{{NoSelfApproval: true}},
	})
	a, err := b.agent.Ask(t.Context(), askback.Request{
		Agent: "robot", StartedBy: "ana", Questions: []askback.Question{question("Deploy?", "Yes", "No")},
	})
	if err != nil {
		t.Fatal(err)
	}
	m := b.live(room)
	if p := b.press(ana, room, m.ID, "Yes"); !p.Alert || !strings.Contains(p.Text, "another person must decide") {
		t.Errorf("got %+v", p)
	}
	b.press(ben, room, m.ID, "No")
	if got := b.outcome(a.ID); got.Actor.Name != "ben" {
		t.Errorf("got %+v", got)
	}
}
