import type { Command } from 'commander';
import { type SearchResults, sliceCharacters } from '../../index.ts';
import { addLeaf, choice, integer, several, workspaceOption } from '../leaf.ts';
import { type Run, requireWorkspace } from '../run.ts';
import { type Output, plain, type Terminal } from '../terminal.ts';

interface Options {
  workspace?: string;
  limit: number;
  mode: 'semantic' | 'lexical' | 'hybrid';
  tag?: string[];
  byDocument?: boolean;
}

type Result = SearchResults['results'][number];

/** `sheaf search`. */
export function addSearch(program: Command, terminal: Terminal): void {
  addLeaf<Options>(program, terminal, {
    usage: 'search <query>',
    description: 'Search the documents of a workspace. A result has its document, page and headings; words that matched are bold.',
    options: (command) =>
      command
        .addOption(workspaceOption())
        .option('--limit <number>', 'how many results at the most', integer(1), 5)
        .addOption(choice('--mode <mode>', 'what to compare: meaning, words or both', ['semantic', 'lexical', 'hybrid']).default('hybrid'))
        .option('--tag <tag>', 'only documents with this tag; may be given several times', several)
        .option('--by-document', 'find each document once'),
    action: search,
  });
}

async function search(run: Run, { workspace, limit, mode, tag: tags, byDocument }: Options, [query = '']: string[]): Promise<void> {
  const { client, output, terminal } = run;
  const found = await client.documents.search(
    {
      workspaceId: await requireWorkspace(run, workspace),
      query,
      limit,
      include: ['citation', 'highlights'],
      mode,
      ...(tags ? { filter: { tags } } : {}),
      ...(byDocument ? { groupBy: 'document' as const } : {}),
    },
    { signal: terminal.signal },
  );
  for (const result of found.results) output.show(result, say(output, result));
  if (found.results.length === 0) output.note('Nothing was found.');
}

function say(output: Output, { rank, documentName, documentId, score, citation, ...chunk }: Result): string {
  const page = citation?.page ? `, page ${citation.page}` : '';
  const headings = citation?.headings?.length ? ` › ${citation.headings.join(' › ')}` : '';
  const head = `${rank}. ${output.paint('bold', plain(documentName))}${page}${plain(headings)}`;
  const tail = output.paint('dim', `${documentId}${score === null ? '' : `  ${score.toFixed(3)}`}`);
  const text = highlighted(output, chunk).replace(/^/gm, '   ');
  return `${head}\n   ${tail}\n${text}\n`;
}

/** Positions count code points of the text as it came, so it is cut before it is cleaned. */
function highlighted(output: Output, { text, highlights = [] }: Pick<Result, 'text' | 'highlights'>): string {
  let end = 0;
  const parts = highlights.map((one) => {
    const before = plain(sliceCharacters(text, { start: end, end: one.start }));
    end = one.end;
    return before + output.paint('bold', plain(sliceCharacters(text, one)));
  });
  return [...parts, plain(sliceCharacters(text, { start: end, end: text.length }))].join('');
}
