// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway completion SHELL`: prints a script that completes the command line. The script asks the hidden command `complete` at each TAB,
// which answers from commander's own program. So the answers are those of the installed version.
import { Argument, type Command } from "commander";
import { candidates } from "./candidates.js";
import { print } from "./print.js";

const BASH = `# Completion of clearway for bash. Add to ~/.bashrc: source <(clearway completion bash)
_clearway_complete() {
  local value
  COMPREPLY=()
  while IFS= read -r value; do
    value=\${value%%$'\\t'*}
    [[ $value =~ ^[A-Za-z0-9_./,:=@+-]+$ ]] || value=$(printf '%q' "$value")
    COMPREPLY+=("$value")
  done < <(command clearway complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == */ ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -F _clearway_complete clearway
`;

const ZSH = `#compdef clearway
# Completion of clearway for zsh. Add to ~/.zshrc: source <(clearway completion zsh)
_clearway_complete() {
  local line value
  local -a lines items folders
  lines=("\${(@f)$(command clearway complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in "\${lines[@]}"; do
    value=\${line%%$'\\t'*}
    if [[ -z $value ]]; then continue
    elif [[ $value == */ ]]; then folders+=("$value")
    else items+=("\${value//:/\\\\:}:\${line#*$'\\t'}")
    fi
  done
  (( \${#folders} )) && compadd -S '' -- "\${folders[@]}"
  (( \${#items} )) && _describe clearway items
}
(( \${+functions[compdef]} )) || { autoload -Uz compinit && compinit }
compdef _clearway_complete clearway
`;

const FISH = `# Completion of clearway for fish. Save as ~/.config/fish/completions/clearway.fish
function __clearway_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    command clearway complete -- $words[2..-1] "$current" 2>/dev/null
end
complete -c clearway -f -a '(__clearway_complete)'
`;

const SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH } as const;

export function addCompletion(program: Command): void {
  program
    .command("completion")
    .description("print a script that completes the command line in bash, zsh or fish")
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(SCRIPTS)))
    .action((shell: keyof typeof SCRIPTS) => {
      print(SCRIPTS[shell]);
    });
  program
    .command("complete", { hidden: true })
    .argument("[words...]", "the words of the command line; the last one is completed")
    .allowUnknownOption()
    .action((words: string[]) => {
      for (const { value, text } of candidates(program, words)) print(`${value}\t${text}\n`);
    });
}
