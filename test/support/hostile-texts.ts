const characters = 100_000;

const repeated = [
  ' ',
  '\t',
  '\n',
  ' \n',
  '|',
  ' | ',
  '-',
  ' -',
  '#',
  ' #',
  '`',
  '>',
  '> ',
  '1. ',
  '<',
  '<a ',
  '</',
  '<!--',
  '"',
  '*',
  '[',
  '\\',
  '\\"',
  ':',
  '=',
  '{',
  'a',
  '語',
];
/** What makes a reader expect something of what follows. */
const beginnings = ['', 'a|b\n-|-', 'a|b\n|', '# ', '# a', '```', '"', '{"a":', '<script', '<h1 class="'];
/** What a reader did not expect. */
const ending = 'x';

/** Texts of 100,000 characters that take many seconds if the time for one of them grows with the square of its length. */
export function* hostileTexts(): Generator<{ name: string; text: string }> {
  for (const beginning of beginnings) {
    for (const one of repeated) {
      const text = beginning + one.repeat((characters - beginning.length - ending.length) / one.length) + ending;
      yield { name: JSON.stringify(`${beginning}${one}…${ending}`), text };
    }
  }
}

/** How many seconds of a processor something takes, whatever else the machine does. */
export async function processorSeconds(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000_000;
}
