package askbacktest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
)

// migrate is a program that asks people: the program under test.
func migrate(ctx context.Context, people askback.Asker) (string, error) {
	ask, err := people.Ask(ctx, askback.Request{Questions: []askback.Question{{
		Text: "Which database should we use?", Options: askback.Options("PostgreSQL", "SQLite"),
	}}})
	if err != nil {
		return "", err
	}
	if ask, err = people.Wait(ctx, ask.ID); err != nil {
		return "", err
	}
	database := ask.Outcome.Answers[0].String()
	ask, err = people.Ask(ctx, askback.Request{Confirmation: &askback.Confirmation{
		ToolName: "drop_tables", Input: json.RawMessage(`{"database":"` + database + `"}`),
	}})
	if err != nil {
		return "", err
	}
	if ask, err = people.Wait(ctx, ask.ID); err != nil {
		return "", err
	}
	if !ask.Outcome.Approved() {
		return "kept the tables: " + ask.Outcome.Reason, nil
	}
	return "dropped the tables of " + database, nil
}

func Example() {
	test(func(t testing.TB) { // func TestMigrate(t *testing.T) {
		instance := askbacktest.New(t)
		instance.Person("ana",
			askbacktest.Answer("Which database", "SQLite"),
			askbacktest.Deny("drop_tables", "there is no backup"),
			askbacktest.Approve("restart"))

		done, err := migrate(context.Background(), instance.Agent("migrator"))
		fmt.Println(done, err)
		for _, ask := range instance.Asks() {
			fmt.Println(ask.Kind, ask.Status, "by", ask.Outcome.Actor)
		}
	})
	// Output:
	// kept the tables: there is no backup <nil>
	// questions answered by ana
	// confirmation answered by ana
	// reported: askbacktest: Approve("restart") of ana was not used: no such ask was made
}

// test runs a test as the go command would, and prints its errors.
func test(run func(t testing.TB)) {
	p := &recorder{}
	run(p)
	p.runCleanups()
	for _, line := range p.errors {
		fmt.Println("reported:", line)
	}
}
