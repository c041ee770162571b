#compdef latchkey
# Completion of latchkey for zsh. For this shell: source <(latchkey completion zsh)
# For all of them: save it as _latchkey in a folder of $fpath.
_latchkey() {
	local -a candidates
	local candidate rest
	while IFS=$'\t' read -r candidate rest; do
		candidates+=("${candidate//:/\\:}:$rest")
	done < <("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
	if (( ${#candidates} )); then
		_describe latchkey candidates
	else
		_files
	fi
}
if [ "$funcstack[1]" = "_latchkey" ]; then
	_latchkey "$@"
else
	compdef _latchkey latchkey
fi
