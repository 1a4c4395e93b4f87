// Command askback asks people on behalf of agents, answers asks, and runs the server. Its
// manual is docs/cli.md.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
	_ "time/tzdata" // names of time zones, for machines without the database

	"github.com/alecthomas/kong"

	"github.com/askback/askback/internal/agents/setup"
	"github.com/askback/askback/internal/local/connection"
)

func main() {
	ctx, stop := untilSignal()
	ignoreJobControl()
	code := run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// signalInterval is how long further signals count as the first. Programs such as npx pass on a signal that the
// terminal also sends to this process.
const signalInterval = time.Second

// untilSignal returns a context that ends with a signal to end the process. After signalInterval, a second
// signal kills the process.
func untilSignal() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(signalInterval, stop) })
	return ctx, stop
}

// streams are the standard streams of a command. Only results go to out; prompts and notes
// go to the terminal or to err.
type streams struct {
	in  *os.File
	out io.Writer
	err io.Writer
}

// commands describes the command line to kong: the global flags and the commands (wire.md
// §9).
type commands struct {
	DB      string           `complete:"file" help:"Use this database file." env:"ASKBACK_DB" placeholder:"FILE"`
	Config  string           `complete:"file" help:"Read the settings from this file." env:"ASKBACK_CONFIG" placeholder:"FILE"`
	Release kong.VersionFlag `name:"version" short:"v" help:"Print the version and exit."`

	Ask     askCommand     `cmd:"" group:"ask" help:"Ask a question and wait for the answer."`
	Confirm confirmCommand `cmd:"" group:"ask" help:"Ask for approval and wait. The exit code is 0 for yes and 1 for no."`
	Cancel  cancelCommand  `cmd:"" group:"ask" help:"Withdraw an ask that is still open."`

	Inbox    inboxCommand    `cmd:"" group:"answer" help:"Show the open asks and answer them with single keys."`
	List     listCommand     `cmd:"" group:"answer" help:"List the open asks, or earlier ones with their outcome."`
	Show     showCommand     `cmd:"" group:"answer" help:"Show an ask and its outcome."`
	Answer   answerCommand   `cmd:"" group:"answer" help:"Answer a question, or approve or deny a call."`
	Decline  declineCommand  `cmd:"" group:"answer" help:"Decline to answer an ask."`
	Reassign reassignCommand `cmd:"" group:"answer" help:"Hand an ask over to other people."`
	Snooze   snoozeCommand   `cmd:"" group:"answer" help:"Hide an ask from your own list until later."`
	Tell     tellCommand     `cmd:"" group:"answer" help:"Write a message to the agent of an ask, or cancel its turn."`
	Grant    grantCommand    `cmd:"" group:"answer" help:"List or remove standing approvals, which also cover later calls."`

	Init  initCommand  `cmd:"" group:"agents" help:"Connect Claude Code, Codex or another coding agent to Askback."`
	Agent agentCommand `cmd:"" group:"agents" help:"Add, check or list hosted agents, which the server itself runs."`
	Run   runCommand   `cmd:"" group:"agents" help:"Run a hosted agent in this terminal."`

	Serve  serveCommand  `cmd:"" group:"server" help:"Run the server, with its web pages and HTTP API."`
	Login  loginCommand  `cmd:"" group:"server" help:"Print a link that logs a browser in."`
	Doctor doctorCommand `cmd:"" group:"server" help:"Check the installation and print what is wrong and what to do."`

	Person personCommand `cmd:"" group:"people" help:"Add, list or remove people who may answer."`
	Group  groupCommand  `cmd:"" group:"people" help:"Add, list or remove groups of people."`
	Route  routeCommand  `cmd:"" group:"people" help:"List or replace the routes, which decide who is asked."`
	Token  tokenCommand  `cmd:"" group:"people" help:"Add, list or remove tokens, with which agents and people log in."`

	Channel channelCommand `cmd:"" group:"channels" help:"Test, link, list or remove phones, chats and browsers of people."`
	Webhook webhookCommand `cmd:"" group:"channels" help:"Add, list, test or remove programs that receive events by HTTP."`

	ACP    acpCommand    `cmd:"" group:"programs" name:"acp" help:"Run an agent behind an editor, and also ask people what it asks there. The first answer counts."`
	Attach attachCommand `cmd:"" group:"programs" help:"Ask people what another program asks at its terminal."`
	GitHub githubCommand `cmd:"" group:"programs" name:"github" help:"Ask from a step of a GitHub workflow, with its inputs in the environment."`
	Hook   hookCommand   `cmd:"" group:"programs" help:"Handle a hook of a coding agent."`
	MCP    mcpCommand    `cmd:"" group:"programs" name:"mcp" help:"Serve the ask tools to an agent, over MCP on standard input and output."`

	Completion completionCommand `cmd:"" group:"shells" help:"Print the script that completes command lines in a shell."`
	Man        manCommand        `cmd:"" group:"shells" help:"Print the manual page in the format of man."`

	Version versionCommand `cmd:"" hidden:"" help:"Print the version, like the flag --version."`
}

// run runs a command and returns its exit code. The flags --help and --version end the
// process.
func run(ctx context.Context, args []string, io streams) (exit int) {
	var all commands
	var conn *connection.Connector // nil if the command does not use one
	connect := func() (_ *connection.Connector, err error) {
		conn, err = all.connector(ctx, io.err, "")
		return conn, err
	}
	parser := all.parser(kong.Writers(io.out, io.err), kong.BindTo(ctx, (*context.Context)(nil)),
		kong.BindToProvider(connect))
	args, renamed := respell(parser.Model.Flags, withHelpFlag(args))
	note(io.err, renamed)
	parsed, err := parser.Parse(args)
	if err != nil {
		return printError(io.err, parseError(err))
	}
	all.useService()
	err = parsed.Run(io, &all)
	if conn != nil {
		err = thenClose(io, conn, err)
	}
	return printError(io.err, err)
}

// parseTexts replaces errors of the parser with plainer texts. $1 and $2 are groups of the pattern.
var parseTexts = []struct {
	pattern *regexp.Regexp
	text    string
}{
	{regexp.MustCompile(`^expected "(.*)"$`), "missing $1"},
	{regexp.MustCompile(`^missing flags: (.*)$`), "missing $1"},
	{regexp.MustCompile(`^(--\S+): expected \S+ value but got "EOL" .*$`), "$1 needs a value"},
	{
		regexp.MustCompile(`^(--\S+): expected \S+ value but got "(.*)" \(.*$`),
		`$1 needs a value; if the value begins with -, write $1="$2"`,
	},
	{regexp.MustCompile(`^(--\S+): expected a valid \d+ bit int but got (".*")$`), "$1 must be a whole number, not $2"},
	{
		regexp.MustCompile(`^(--\S+): expected duration but got (".*?"): .*$`),
		"$1 must be a time such as 30s, 10m or 2h, not $2",
	},
	{regexp.MustCompile(`(must be one of .*),""( but got )`), "$1$2"},
	{regexp.MustCompile(`^(?:\w+ ?)+: (--\S+ .*)$`), "$1"}, // the path of the command, which is added below
}

// parseError returns the error for an invalid command line. It names the command whose help describes the
// missing or unknown part.
func parseError(err error) error {
	command, what, group := "askback", err.Error(), true
	var at *kong.ParseError
	if errors.As(err, &at) && at.Context != nil && at.Context.Selected() != nil {
		selected := at.Context.Selected()
		command, group = selected.FullPath(), len(selected.Children) > 0
		if group && strings.HasPrefix(what, "expected ") { // kong names at most five
			what = missingCommand(selected)
		}
	}
	if word, ok := strings.CutPrefix(what, "unexpected argument "); ok && group {
		what = "unknown command " + word
	}
	for _, t := range parseTexts {
		what = t.pattern.ReplaceAllString(what, t.text)
	}
	return usage(what + "; see " + command + " --help")
}

// missingCommand returns the error text for a group without a command. It names the commands of the group.
func missingCommand(group *kong.Node) string {
	var names []string
	for _, child := range group.Children {
		if !child.Hidden {
			names = append(names, child.Name)
		}
	}
	if len(names) == 1 {
		return "missing command: use " + names[0]
	}
	return "missing command: use one of " + strings.Join(names, ", ")
}

// withHelpFlag adds the help flag if there are no arguments, or in place of a first "help".
func withHelpFlag(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "help":
		return append(slices.Clone(args[1:]), "--help")
	}
	return args
}

// parser returns the parser of the command line. A test compares docs/cli.md with the parser.
func (all *commands) parser(more ...kong.Option) *kong.Kong {
	all.Hook.Plugins = hookCommands()
	return kong.Must(all, append(more,
		kong.Name("askback"),
		kong.Vars{
			"clients": strings.Join(setup.Names(), ", "), "guarded": setup.GuardedTitles(), "version": versionLine(),
		},
		kong.Description("Askback lets AI agents ask people and get an answer, however long it takes.\n"+
			"An ask is one or more questions, or a tool call that needs approval."),
		kong.PostBuild(func(k *kong.Kong) error {
			k.Model.HelpFlag.Help = "Describe the command and its flags, and exit."
			for _, c := range k.Model.Children { // otherwise, the commands below c have the heading of c
				_ = kong.Visit(c, func(n kong.Visitable, next kong.Next) error {
					if sub, ok := n.(*kong.Node); ok && sub != c {
						sub.Group = &kong.Group{Key: "commands", Title: "Commands:"}
					}
					return next(nil)
				})
			}
			return nil
		}),
		kong.ExplicitGroups(slices.Concat(commandGroups, otherGroups)),
		kong.Help(printHelp),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
	)...)
}
