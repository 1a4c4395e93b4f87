# Completion of askback for bash 4 or later. To use it in a shell:
#   source <(askback completion bash)
# It asks the program for the candidates. They may contain text of agents: a value is quoted
# before it is put on the command line, and a description is only listed.

_askback() {
	local kind='' value description line
	local -a values=() lines=()
	while IFS=$'\t' read -r value description; do
		if [[ -z $kind ]]; then
			kind=$value
			continue
		fi
		line=$value
		[[ -z $description ]] || printf -v line '%-26s  %s' "$value" "$description"
		lines+=("${line:0:${COLUMNS:-80}-1}")
		printf -v value '%q' "$value"
		values+=("$value")
	done < <(command askback completion bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null </dev/null)

	COMPREPLY=()
	if [[ $kind == files ]]; then
		compopt -o default 2>/dev/null
	elif [[ ${COMP_TYPE-} == 63 && ${#values[@]} -gt 1 ]]; then # a list: nothing is inserted
		COMPREPLY=("${lines[@]}")
	else
		COMPREPLY=("${values[@]}")
	fi
}

complete -o nosort -F _askback askback 2>/dev/null || complete -F _askback askback
