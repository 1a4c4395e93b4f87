// Command askback asks people for agents, and answers them: one binary for
// both, and for the server in between. Its manual are the scripts in
// testdata/script.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/askback/askback/internal/agentconfig"
	"github.com/askback/askback/internal/claudehook"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second one ends it at once
	ignoreJobControl()
	code := run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// streams are what a command reads and writes. Answers go to out and nothing
// else does; prompts, links and notes go to the terminal or to err.
type streams struct {
	in  *os.File
	out io.Writer
	err io.Writer
}

// commands is the command line (wire.md §9).
type commands struct {
	DB      string           `help:"Use this database file." env:"ASKBACK_DB" placeholder:"FILE"`
	Config  string           `help:"Read this settings file; none if not given." env:"ASKBACK_CONFIG" placeholder:"FILE"`
	Release kong.VersionFlag `name:"version" short:"v" help:"Print the version and exit."`

	Ask     askCommand     `cmd:"" help:"Ask a question and wait for the answer."`
	Confirm confirmCommand `cmd:"" help:"Ask whether something may be done; exit 0 is yes, 1 is no."`
	Answer  answerCommand  `cmd:"" help:"Answer an ask."`
	Decline declineCommand `cmd:"" help:"Refuse to answer an ask."`
	Cancel  cancelCommand  `cmd:"" help:"Withdraw an ask."`
	List    listCommand    `cmd:"" help:"List asks, the open ones if not told otherwise."`
	Show    showCommand    `cmd:"" help:"Show an ask and how it ended."`
	Serve   serveCommand   `cmd:"" help:"Serve asks over HTTP and on pages, until it is stopped."`
	MCP     mcpCommand     `cmd:"" name:"mcp" help:"Serve the ask tools to an agent, over MCP on standard input and output."`
	Hook    hookCommand    `cmd:"" help:"Answer the hooks of Claude Code."`
	Init    initCommand    `cmd:"" help:"Write Askback into the configuration of another program."`
	Login   loginCommand   `cmd:"" help:"Print a link that logs a browser in."`
	Grant   grantCommand   `cmd:"" help:"List and revoke standing approvals."`
	Token   tokenCommand   `cmd:"" help:"Make, list and revoke tokens."`
	Doctor  doctorCommand  `cmd:"" help:"Check the installation and print what is wrong; change nothing."`
	Version versionCommand `cmd:"" help:"Print the version."`
}

// run is the whole program but for its process. Asking for help ends it.
func run(ctx context.Context, args []string, io streams) (exit int) {
	var all commands
	parser := all.parser(kong.Writers(io.out, io.err), kong.BindTo(ctx, (*context.Context)(nil)))
	parsed, err := parser.Parse(asFlags(args))
	if err != nil {
		return code(io.err, misuse(err))
	}
	return code(io.err, parsed.Run(io, &all))
}

// misuse returns the error for a command line that cannot be read. It names the command
// whose help describes what is missing or unknown.
func misuse(err error) error {
	command, what := "askback", err.Error()
	var at *kong.ParseError
	if errors.As(err, &at) && at.Context != nil && at.Context.Selected() != nil {
		command = at.Context.Selected().FullPath()
	} else if word, ok := strings.CutPrefix(what, "unexpected argument "); ok {
		what = "there is no command " + word
	}
	if missing, ok := strings.CutPrefix(what, `expected "`); ok {
		what = "missing " + strings.TrimSuffix(missing, `"`)
	}
	return usage(what + "; " + command + " --help shows how")
}

// asFlags turns what people type to get help into the flag for it: no words at all, and
// "help" before a command.
func asFlags(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "help":
		return append(slices.Clone(args[1:]), "--help")
	}
	return args
}

// parser reads the command line. docs/cli.md is held to its model.
func (all *commands) parser(more ...kong.Option) *kong.Kong {
	return kong.Must(all, append(more,
		kong.Name("askback"),
		kong.Vars{"clients": strings.Join(agentconfig.Clients(), ", "), "patience": claudehook.DefaultWait.String(), "version": versionLine()},
		kong.Description("The place where agents ask people, and get an answer, however long it takes."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)...)
}
