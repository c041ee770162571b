# Completion of latchkey for bash. For this shell: source <(latchkey completion bash)
# For all of them: latchkey completion bash > ~/.local/share/bash-completion/completions/latchkey
_latchkey() {
	local candidate rest
	COMPREPLY=()
	while IFS=$'\t' read -r candidate rest; do
		# Parameters are one word for the shell.
		case $candidate in
		*[!A-Za-z0-9_./:-]*) candidate="'${candidate//\'/\'\\\'\'}'" ;;
		esac
		COMPREPLY+=("$candidate")
	done < <("${COMP_WORDS[0]}" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
# Where nothing is known there may be a file.
complete -o default -F _latchkey latchkey
