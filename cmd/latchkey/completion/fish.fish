# Completion of latchkey for fish. For this shell: latchkey completion fish | source
# For all of them: latchkey completion fish > ~/.config/fish/completions/latchkey.fish
function __latchkey_complete
	set -l words (commandline -opc) (commandline -ct)
	$words[1] __complete -- $words[2..-1] 2>/dev/null
end
complete -c latchkey -a '(__latchkey_complete)'
