package view

import "strings"

// freeText lists the names, without separators, of the tools whose effect depends only on text that the agent
// writes, such as a shell (docs/api.md).
var freeText = func() map[string]bool {
	out := map[string]bool{}
	for name := range strings.FieldsSeq(`
		confirm_action
		bash shell sh zsh fish cmd powershell pwsh terminal local_shell shell_command run_shell_command run_shell
		exec exec_command unified_exec execute_command execute_bash run_bash bash_tool execute_pwsh run_command run_commands run_terminal_cmd
		run_in_terminal command write_stdin launch_process ssh ssh_exec
		eval python execute_code run_code execute_python run_python code_interpreter repl javascript browser_evaluate
		browser_run_code evaluate_script
		sql execute_sql run_sql query run_query execute_query psql sqlite3
		http http_request request fetch curl webfetch web_fetch fetch_url send_request`) {
		out[separators.Replace(name)] = true
	}
	return out
}()

// separators removes the characters that are ignored when names are compared: runCommand equals run_command.
var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// FreeText reports whether the effect of a tool depends only on free text, as for a shell, SQL, HTTP or
// confirm_action. It ignores case, underscores, hyphens, spaces, and prefixes as in mcp__server__tool and
// server.tool.
func FreeText(tool string) bool {
	name := strings.ToLower(strings.TrimSpace(tool))
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+2:]
	}
	if i := strings.LastIndexAny(name, "./:"); i >= 0 {
		name = name[i+1:]
	}
	return freeText[separators.Replace(name)]
}

// FreeTextWarning is shown before a person approves all calls of a free-text tool,
// whatever their arguments.
const FreeTextWarning = "This tool runs whatever its arguments say. If you allow any arguments, it can do anything " +
	"without showing you."
