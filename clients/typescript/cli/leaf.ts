import { type Command, InvalidArgumentError, Option } from 'commander';
import { type CommonOptions, prepareRun, type Run } from './run.ts';
import { createOutput, type Terminal } from './terminal.ts';

/** A command that calls the service, as it is declared. */
interface Leaf<O> {
  /** Its name and arguments: `delete <id...>`. */
  usage: string;
  description: string;
  options?: (command: Command) => Command;
  /** Whether it waits while the service restarts, for about a minute, instead of a second. */
  patient?: boolean;
  action: (run: Run, options: O, args: string[]) => Promise<void>;
}

/** Adds a command that calls the service, with the options that all of these have. */
export function addLeaf<O extends object = object>(parent: Command, terminal: Terminal, leaf: Leaf<O>): void {
  const command = parent.command(leaf.usage).description(leaf.description);
  leaf.options?.(command);
  command
    .option('--organization <id>', 'instead of SHEAF_ORGANIZATION, the stored one, or that of the key')
    .option('--json', 'print JSON: of a list, an item a line')
    .action(async () => {
      const options = command.opts<O & CommonOptions>();
      const run = await prepareRun(terminal, createOutput(terminal, options.json ?? false), { ...options, patient: leaf.patient });
      await leaf.action(run, options, command.args);
    });
}

/** The option that names a workspace; without it a command takes the only one that its key reaches. */
export function workspaceOption(): Option {
  return new Option('--workspace <id>', 'its id or slug; by default the only one that the key reaches');
}

/** An option that is one of several words. */
export function choice(flags: string, description: string, choices: readonly string[]): Option {
  return new Option(flags, description).choices(choices);
}

/** Reads an option that is a number, of at least `min`. */
export function integer(min: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isSafeInteger(value) && value >= min) return value;
    throw new InvalidArgumentError(`It must be a whole number of at least ${min}.`);
  };
}

/** Collects an option that may be given several times. */
export function several(text: string, before: string[] = []): string[] {
  return [...before, text];
}
