package hosting

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/askback/askback/agent"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/hosted/demo"
	"github.com/askback/askback/internal/server/config"
)

// demoPause is the time between two words of the demonstration's model, so that people can read along.
const demoPause = 40 * time.Millisecond

// A DemoRunner has only the agent of the demonstration. Every process that holds the database and has no
// other agents runs this agent, so that a newcomer can see a run immediately.
type DemoRunner struct{ *agent.Runner }

var _ engine.PartialRunner = DemoRunner{}

// Hosts implements [engine.PartialRunner].
func (DemoRunner) Hosts(name string) bool { return name == demo.Name }

// NewDemoRunner returns the runner of the demonstration, whose definition is a part of the program.
func NewDemoRunner() DemoRunner {
	a, err := config.LoadAgent(demo.Name+".md", strings.NewReader(demo.Definition()), os.LookupEnv)
	if err != nil {
		panic(fmt.Sprintf("the demonstration: %v", err))
	}
	definitions, err := (&Connections{models: map[string]agent.Model{demo.Name: demo.Model{Pause: demoPause}}}).
		Definitions([]config.Agent{a})
	if err != nil {
		panic(fmt.Sprintf("the demonstration: %v", err))
	}
	r, err := agent.NewRunner(definitions...)
	if err != nil {
		panic(fmt.Sprintf("the demonstration: %v", err))
	}
	return DemoRunner{r}
}
