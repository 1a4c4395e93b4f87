// Command askback asks people on behalf of agents, answers asks, and runs the server. Its
// manual is docs/cli.md.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/askback/askback/internal/agents/setup"
	"github.com/askback/askback/internal/local/connection"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal kills the process
	ignoreJobControl()
	code := run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
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
	Config  string           `complete:"file" help:"Read the settings from this file; without it, the defaults apply." env:"ASKBACK_CONFIG" placeholder:"FILE"`
	Release kong.VersionFlag `name:"version" short:"v" help:"Print the version and exit."`

	Ask     askCommand     `cmd:"" group:"ask" help:"Ask a question and wait for the answer."`
	Confirm confirmCommand `cmd:"" group:"ask" help:"Ask for approval; the exit code is 0 for yes and 1 for no."`
	Cancel  cancelCommand  `cmd:"" group:"ask" help:"Withdraw an ask on behalf of its agent."`

	Inbox    inboxCommand    `cmd:"" group:"answer" help:"Show the open asks, live, and answer them with keys."`
	List     listCommand     `cmd:"" group:"answer" help:"List asks, by default the open ones."`
	Show     showCommand     `cmd:"" group:"answer" help:"Show an ask and how it ended."`
	Answer   answerCommand   `cmd:"" group:"answer" help:"Answer a question, or approve or deny a call."`
	Decline  declineCommand  `cmd:"" group:"answer" help:"Decline to answer an ask."`
	Reassign reassignCommand `cmd:"" group:"answer" help:"Give an ask to other people."`
	Snooze   snoozeCommand   `cmd:"" group:"answer" help:"Hide an ask from your own list until a time."`
	Grant    grantCommand    `cmd:"" group:"answer" help:"List and revoke standing approvals."`

	Init   initCommand   `cmd:"" group:"agents" help:"Add Askback to the configuration of another program."`
	MCP    mcpCommand    `cmd:"" group:"agents" name:"mcp" help:"Serve the ask tools to an agent, over MCP on standard input and output."`
	Hook   hookCommand   `cmd:"" group:"agents" help:"Handle the hooks of coding agents."`
	Attach attachCommand `cmd:"" group:"agents" help:"Ask people what another program asks at its terminal."`
	ACP    acpCommand    `cmd:"" group:"agents" name:"acp" help:"Run an agent behind an editor, and ask people what it asks there; the first answer counts."`
	GitHub githubCommand `cmd:"" group:"agents" name:"github" help:"Ask from a step of a GitHub workflow, with its inputs in the environment."`
	Agent  agentCommand  `cmd:"" group:"agents" help:"Check, write and list the agents that a server hosts."`
	Run    runCommand    `cmd:"" group:"agents" help:"Run a hosted agent in this terminal."`

	Serve  serveCommand  `cmd:"" group:"server" help:"Run the server: the HTTP API, MCP and the web pages."`
	Login  loginCommand  `cmd:"" group:"server" help:"Print a link that logs a browser in."`
	Doctor doctorCommand `cmd:"" group:"server" help:"Check the installation and print what is wrong, but change nothing."`

	Token  tokenCommand  `cmd:"" group:"people" help:"Create, list and revoke tokens."`
	Person personCommand `cmd:"" group:"people" help:"List, add and remove the people who may answer."`
	Group  groupCommand  `cmd:"" group:"people" help:"List, make and remove groups of people."`
	Route  routeCommand  `cmd:"" group:"people" help:"List and replace the routes, which decide who gets an ask."`

	Link    linkCommand    `cmd:"" group:"channels" help:"Link a chat to you, so that it gets your asks."`
	Contact contactCommand `cmd:"" group:"channels" help:"List and remove the chats and browsers that get your asks."`
	Notify  notifyCommand  `cmd:"" group:"channels" help:"Test the phones and chats of the settings."`
	Webhook webhookCommand `cmd:"" group:"channels" help:"List, pause, test and change the receivers of webhooks."`

	Completion completionCommand `cmd:"" group:"other" help:"Print the script that completes command lines in a shell."`
	Man        manCommand        `cmd:"" group:"other" help:"Print the manual page in the format of man."`
	Version    versionCommand    `cmd:"" group:"other" help:"Print the version."`
}

// commandGroups are the headings of the commands in the help.
var commandGroups = []kong.Group{
	{Key: "ask", Title: "Ask:"},
	{Key: "answer", Title: "Answer:"},
	{Key: "agents", Title: "Agents:"},
	{Key: "server", Title: "Server:"},
	{Key: "people", Title: "People and access:"},
	{Key: "channels", Title: "Channels:"},
	{Key: "other", Title: "Other:"},
}

// run runs a command and returns its exit code. The flags --help and --version end the
// process.
func run(ctx context.Context, args []string, io streams) (exit int) {
	var all commands
	var conn *connection.Connector // nil if the command does not use one
	connect := func() (_ *connection.Connector, err error) {
		conn, err = all.connector("")
		return conn, err
	}
	parser := all.parser(kong.Writers(io.out, io.err), kong.BindTo(ctx, (*context.Context)(nil)), kong.BindToProvider(connect))
	parsed, err := parser.Parse(withHelpFlag(args))
	if err != nil {
		return printError(io.err, parseError(err))
	}
	err = parsed.Run(io, &all)
	if conn != nil {
		err = thenClose(io, conn, err)
	}
	return printError(io.err, err)
}

// parseError returns the error for an invalid command line. It names the command whose help describes the
// missing or unknown part.
func parseError(err error) error {
	command, what := "askback", err.Error()
	var at *kong.ParseError
	if errors.As(err, &at) && at.Context != nil && at.Context.Selected() != nil {
		selected := at.Context.Selected()
		command = selected.FullPath()
		if some, ok := strings.CutSuffix(what, "..."); ok && strings.HasPrefix(some, "expected one of ") { // kong names five
			what = "expected one of " + childNames(selected)
		}
	} else if word, ok := strings.CutPrefix(what, "unexpected argument "); ok {
		what = "unknown command " + word
	}
	if missing, ok := strings.CutPrefix(what, `expected "`); ok {
		what = "missing " + strings.TrimSuffix(missing, `"`)
	}
	return usage(what + "; see " + command + " --help")
}

// childNames returns the quoted names of the commands of a group.
func childNames(group *kong.Node) string {
	var names []string
	for _, child := range group.Children {
		if !child.Hidden {
			names = append(names, strconv.Quote(child.Name))
		}
	}
	return strings.Join(names, ", ")
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

// parser returns the parser of the command line. A test compares docs/cli.md with it.
func (all *commands) parser(more ...kong.Option) *kong.Kong {
	all.Hook.Plugins = hookCommands()
	return kong.Must(all, append(more,
		kong.Name("askback"),
		kong.Vars{"clients": strings.Join(setup.Names(), ", "), "guarded": setup.GuardedTitles(), "version": versionLine()},
		kong.Description("Askback lets AI agents ask people and get an answer, however long it takes. "+
			"An ask is one or more questions, or a call that needs approval."),
		kong.PostBuild(func(k *kong.Kong) error {
			k.Model.HelpFlag.Help = "Describe the command and its flags, and exit."
			for _, c := range k.Model.Children {
				for _, sub := range c.Children { // otherwise they would be below the heading of c
					sub.Group = &kong.Group{Key: "commands", Title: "Commands:"}
				}
			}
			return nil
		}),
		kong.ExplicitGroups(commandGroups),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
	)...)
}
