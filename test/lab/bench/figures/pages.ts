import type { ExtractedText } from '../../../../ai/formats/document.ts';
import { extractText } from '../../../../ai/formats/extract-text.ts';
import { type Block, type PrintedPage, printPages } from '../collections/printed-pages.ts';
import { type Effort, type Figure, toFigure } from '../support/figure.ts';
import { similarityOf } from '../support/similarity.ts';
import { type TreeNode, treeSimilarity } from '../support/tree-distance.ts';

const limits = { maxUploadBytes: 30_000_000, maxTextCharacters: 200_000, maxPdfPages: 500 };

/**
 * How much of 200 pages that were printed from Markdown is found again, as benchmarks of PDF readers score it, but by words instead of
 * letters: all of it in its order, tables by their rows and cells, headings by their levels and what stands below them; the mean of the
 * pages. A quick run has 16.
 */
export async function pages({ quick }: Effort): Promise<Figure[]> {
  const printed = await printPages(quick ? 16 : 200);
  const scores: Score[] = [];
  for (const page of printed) scores.push(await scoreOf(page));
  const figure = (which: keyof Score, atLeast: number) => {
    const values = scores.flatMap((score) => score[which] ?? []);
    return toFigure(which, { value: values.reduce((sum, one) => sum + one, 0) / values.length, unit: '' }, { atLeast });
  };
  return [figure('order', 0.9), figure('tables', 0.75), figure('headings', 0.75)];
}

/** Each from 0 to 1; `tables` is null where there are none. */
interface Score {
  order: number;
  tables: number | null;
  headings: number;
}

async function scoreOf({ bytes, blocks }: PrintedPage): Promise<Score> {
  const found = toBlocks(await extractText({ bytes, mediaType: 'application/pdf', charset: undefined }, limits));
  const hasTables = [...blocks, ...found].some(({ kind }) => kind === 'table');
  return {
    order: similarityOf(textOf(found), textOf(blocks)),
    tables: hasTables ? treeSimilarity(toTables(found), toTables(blocks), changeOf) : null,
    headings: treeSimilarity(toSections(found), toSections(blocks), changeOf),
  };
}

/** The parts of an extracted text. */
function toBlocks({ text, outline: { headings } }: ExtractedText): Block[] {
  const characters = [...text];
  const starts = [{ level: 0, start: 0, title: '' }, ...headings];
  return starts.flatMap(({ level, start, title }, index) => {
    const section = characters.slice(start, starts[index + 1]?.start).join('');
    const [first, rest] = level === 0 ? [[], section] : [[{ kind: 'heading', level, text: title } as const], section.slice(title.length)];
    return [
      ...first,
      ...rest
        .split(/\n{2,}/)
        .filter((part) => part.trim() !== '')
        .map(toBlock),
    ];
  });
}

function toBlock(part: string): Block {
  if (!part.startsWith('| ')) return { kind: 'text', text: part };
  return {
    kind: 'table',
    rows: part.split('\n').map((line) =>
      line
        .slice(2, -2)
        .split(' | ')
        .map((cell) => cell.trim()),
    ),
  };
}

function textOf(blocks: Block[]): string {
  return blocks.map((block) => (block.kind === 'table' ? block.rows.flat().join(' ') : block.text)).join(' ');
}

function toTables(blocks: Block[]): TreeNode {
  const node = (label: string, children: TreeNode[], text = ''): TreeNode => ({ label, text, children });
  const tables = blocks.flatMap((block) => (block.kind === 'table' ? [block.rows] : []));
  return node(
    'tables',
    tables.map((rows) =>
      node(
        'table',
        rows.map((cells) =>
          node(
            'row',
            cells.map((cell) => node('cell', [], cell)),
          ),
        ),
      ),
    ),
  );
}

/** Headings below those that are above them, each with what stands below it. */
function toSections(blocks: Block[]): TreeNode {
  const root: TreeNode = { label: 'page', text: '', children: [] };
  const open: { level: number; node: TreeNode }[] = [{ level: 0, node: root }];
  for (const block of blocks) {
    const text = textOf([block]);
    const last = open.at(-1)?.node.children.at(-1);
    if (block.kind !== 'heading' && last?.label === 'content') last.text += ` ${text}`;
    else if (block.kind !== 'heading') open.at(-1)?.node.children.push({ label: 'content', text, children: [] });
    else {
      while ((open.at(-1)?.level ?? 0) >= block.level) open.pop();
      const node = { label: 'heading', text, children: [] };
      open.at(-1)?.node.children.push(node);
      open.push({ level: block.level, node });
    }
  }
  return root;
}

function changeOf(one: TreeNode, other: TreeNode): number {
  return one.label === other.label ? 1 - similarityOf(one.text, other.text) : 1;
}
