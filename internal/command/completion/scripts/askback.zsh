#compdef askback
# Completion of askback for zsh, for a shell or as the file _askback in a folder of fpath:
#   source <(askback completion zsh)
# It asks the program for the candidates. They may contain text of agents: zsh quotes a value
# before it is put on the command line, and a description is only listed.

_askback() {
	local kind line value description
	local -a lines values displays
	local -i width=0
	lines=("${(@f)$(command askback completion zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null </dev/null)}")
	kind=$lines[1]
	if [[ $kind == files ]]; then
		compset -P '--[a-z-]#='
		_files
		return
	fi
	for line in "${(@)lines[2,-1]}"; do
		value=${line%%$'\t'*}
		values+=("$value")
		(( $#value > width )) && width=$#value
	done
	for line in "${(@)lines[2,-1]}"; do
		value=${line%%$'\t'*} description=''
		[[ $line == *$'\t'* ]] && description="  -- ${line#*$'\t'}"
		displays+=("${(r:width:)value}$description")
	done
	(( $#values )) && compadd -l -V askback -d displays -a values
}

if [[ $funcstack[1] == _askback ]]; then
	_askback "$@"
else
	compdef _askback askback
fi
