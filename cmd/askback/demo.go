package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/askback/askback/agent"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/hosted/demo"
	"github.com/askback/askback/internal/server/config"
)

// A demoRunner has only the agent of the demonstration. Every process has it that holds the
// database and has no other agents, so that a newcomer sees a run at once.
type demoRunner struct{ *agent.Runner }

var _ engine.PartialRunner = demoRunner{}

// Hosts implements [engine.PartialRunner].
func (demoRunner) Hosts(name string) bool { return name == demo.Name }

// newDemoRunner returns the runner of the demonstration, whose definition is a part of the program.
func newDemoRunner() demoRunner {
	a, err := config.LoadAgent(demo.Name+".md", strings.NewReader(demo.Definition()), os.LookupEnv)
	if err != nil {
		panic(fmt.Sprintf("the demonstration: %v", err))
	}
	definitions, err := definitionsOf([]config.Agent{a}, map[string]agent.Model{demo.Name: demo.Model{Pause: demoPause}}, nil)
	if err != nil {
		panic(fmt.Sprintf("the demonstration: %v", err))
	}
	r, err := agent.NewRunner(definitions...)
	if err != nil {
		panic(fmt.Sprintf("the demonstration: %v", err))
	}
	return demoRunner{r}
}
