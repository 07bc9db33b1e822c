import type { Command } from 'commander';
import type { Answer } from '../../index.ts';
import { addLeaf, choice, integer, several, workspaceOption } from '../leaf.ts';
import { type Run, requireWorkspace } from '../run.ts';
import { type Output, plain, type Terminal } from '../terminal.ts';

interface Options {
  workspace?: string;
  limit: number;
  sentences: number;
  mode: 'semantic' | 'lexical' | 'hybrid';
  tag?: string[];
}

type Sentence = Answer['sentences'][number];

/** `sheaf ask`. */
export function addAsk(program: Command, terminal: Terminal): void {
  addLeaf<Options>(program, terminal, {
    usage: 'ask <question>',
    description: 'Have a question answered from the documents of a workspace. It consists of their sentences, each with document and page.',
    options: (command) =>
      command
        .addOption(workspaceOption())
        .option('--limit <number>', 'how many passages are read at the most', integer(1), 10)
        .option('--sentences <number>', 'how long the answer may get', integer(1), 5)
        .addOption(
          choice('--mode <mode>', 'what is compared to find passages: meaning, words or both', ['semantic', 'lexical', 'hybrid']).default(
            'hybrid',
          ),
        )
        .option('--tag <tag>', 'only documents with this tag; may be given several times', several),
    action: ask,
  });
}

async function ask(run: Run, { workspace, limit, sentences, mode, tag: tags }: Options, [question = '']: string[]): Promise<void> {
  const { client, output, terminal } = run;
  const answer = await client.documents.ask(
    {
      workspaceId: await requireWorkspace(run, workspace),
      ...{ question, limit, maxSentences: sentences, mode },
      ...(tags ? { filter: { tags } } : {}),
    },
    { signal: terminal.signal },
  );
  if (output.isJson || answer.sentences.length > 0)
    output.show(answer, answer.sentences.map((sentence) => say(output, sentence)).join('\n'));
  if (answer.nothingFound) output.note('Nothing was found.');
  if (answer.withheld > 0) output.note(`${answer.withheld} no longer shown: their documents were deleted.`);
}

function say(output: Output, { text, citations }: Sentence): string {
  const cited = citations.map(({ documentName, page, headings, quote, recognized: isRecognized }) => {
    const place = [plain(documentName), ...(page === null ? [] : [`page ${page}`])].join(', ');
    const path = headings.map((heading) => ` › ${plain(heading)}`).join('');
    const recognized = isRecognized ? ' (recognized text)' : '';
    const quoted = plain(quote).replace(/\s+/g, ' ').trim();
    return `   ${output.paint('dim', `${place}${path}${recognized}:`)} “${quoted}”\n`;
  });
  return `${output.paint('bold', plain(text))}\n${cited.join('')}`;
}
