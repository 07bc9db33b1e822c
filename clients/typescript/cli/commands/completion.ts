import { Argument, type Command } from 'commander';
import type { Terminal } from '../terminal.ts';

/** Each asks `sheaf complete` at a press of the tab key; without an answer the shell completes paths. */
const scripts = {
  bash: `_sheaf() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(sheaf complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}")" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _sheaf sheaf
`,
  zsh: `#compdef sheaf
_sheaf() {
  local -a found
  found=(\${(f)"$(sheaf complete -- "\${(@)words[2,CURRENT]}")"})
  compadd -a found || _files
}
compdef _sheaf sheaf
`,
  fish: `function __sheaf
  set -l found (sheaf complete -- (commandline -opc)[2..-1] "$(commandline -ct)")
  if set -q found[1]
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c sheaf -f -a '(__sheaf)'
`,
};

/** `sheaf completion`, and `sheaf complete`, which its scripts call. */
export function addCompletion(program: Command, { stdout }: Terminal): void {
  program
    .command('completion')
    .description('Print a script by which a shell completes commands: put `source <(sheaf completion bash)` into ~/.bashrc.')
    .addArgument(new Argument('<shell>').choices(Object.keys(scripts)))
    .action((shell: keyof typeof scripts) => void stdout.write(scripts[shell]));
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .action(
      (words: string[]) =>
        void stdout.write(
          complete(program, words)
            .map((word) => `${word}\n`)
            .join(''),
        ),
    );
}

/** What the last of the words may be. */
function complete(program: Command, words: string[]): string[] {
  const [last = '', ...before] = words.toReversed();
  const command = before.reduceRight((parent, word) => parent.commands.find((child) => child.name() === word) ?? parent, program);
  const option = command.options.find(({ long }) => long === before[0]);
  if (option?.required) return option.argChoices ?? [];
  const shown = command.createHelp();
  if (last.startsWith('-')) return shown.visibleOptions(command).flatMap(({ long }) => long ?? []);
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  return [...shown.visibleCommands(command).map((child) => child.name()), ...choices];
}
