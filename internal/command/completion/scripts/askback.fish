# Completion of askback for fish, for a shell or as the file askback.fish in
# ~/.config/fish/completions:
#   askback completion fish | source
# It asks the program for the candidates. They may contain text of agents: fish quotes a
# value before it is put on the command line, and a description is only listed.

function __askback_complete
    set -l current (commandline --current-token)
    set -l words (commandline --cut-at-cursor --current-process --tokenize) "$current"
    set -l lines (command askback completion fish -- $words[2..-1] 2>/dev/null </dev/null)
    if test "$lines[1]" = files
        set -l flag (string match --regex -- '^--[a-z-]+=' $current)
        __fish_complete_path (string replace --regex -- '^--[a-z-]+=' '' $current) |
            string replace --regex -- '^' "$flag"
    else
        printf '%s\n' $lines[2..-1]
    end
end

complete --command askback --no-files --keep-order --arguments '(__askback_complete)'
