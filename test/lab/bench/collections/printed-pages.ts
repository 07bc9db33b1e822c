import { marked } from 'marked';
import { parts } from '../../../../docs/examples/samples/handbook.ts';
import { openBrowser } from '../../../support/browser.ts';

/** A part of a page, as its Markdown has it. */
export type Block = { kind: 'heading'; level: number; text: string } | { kind: 'text'; text: string } | { kind: 'table'; rows: string[][] };

/** A page that was printed from Markdown whose parts are known. */
export interface PrintedPage {
  blocks: Block[];
  bytes: Buffer;
}

/** How reports, papers, price lists and web pages are set, in CSS; first as a browser does by itself. */
const styles = [
  '',
  'body{font:11pt/1.5 serif} table{border-collapse:collapse;width:100%} td,th{border:1px solid #444;padding:4px}',
  'body{font:10pt sans-serif} h1{font-size:15pt} h2{font-size:11.5pt} h3{font-size:10pt} td,th{padding:2px 12px}',
  'body{font:9.5pt/1.3 serif;columns:2;column-gap:8mm;text-align:justify} h1{column-span:all} table{border-collapse:collapse;font-size:8.5pt} td,th{border-bottom:1px solid #999;padding:2px 4px}',
  'body{font:10pt sans-serif} table{width:100%;border-spacing:0} td{padding:3px} tr:nth-child(even){background:#eee} td:not(:first-child),th:not(:first-child){text-align:right}',
  'body{font:14px/1.6 sans-serif;max-width:640px;margin:auto} h2{border-bottom:1px solid #ccc} table{border-collapse:collapse} td,th{border:1px solid #ddd;padding:6px 13px} th{background:#f4f4f4}',
  'body{font:10pt serif} table{width:60%;border-collapse:collapse} td,th{border-top:1px solid;padding:3px 6px;vertical-align:top} td:first-child{width:30%}',
  'body{font:10.5pt sans-serif} h1,h2,h3{color:#246;font-weight:400} h1{font-size:22pt} h2{font-size:14pt} h3{font-size:12pt;font-style:italic} td,th{padding:3px 10px;text-align:left}',
];

const sentences = parts.flatMap((part) => (part.kind === 'paragraph' ? part.text.split(/(?<=[.?!]) (?=[A-Z])/) : []));
const words = [
  'Echelle',
  'North hive',
  'Slipway',
  'Lime honey',
  'Old Mill',
  'Harbour Works',
  'Finder',
  'Second filter',
  'Night watch',
  'Spare rope',
];
const heads = ['Item', 'Hours', 'Price', 'Share', 'First seen', 'Remarks'];

/** Prints so many pages, always the same ones. Takes a quarter of a second for each. */
export async function printPages(count: number): Promise<PrintedPage[]> {
  const browser = await openBrowser();
  try {
    const page = await browser.newPage();
    const printed: PrintedPage[] = [];
    for (let index = 0; index < count; index += 1) {
      const blocks = makeBlocks(new Dice(index + 1));
      await page.setContent(
        `<style>@page{margin:18mm}${styles[index % styles.length]}</style>${marked.parse(toMarkdown(blocks), { async: false })}`,
      );
      printed.push({ blocks, bytes: await page.pdf({ format: 'A4' }) });
    }
    return printed;
  } finally {
    await browser.close();
  }
}

/** Numbers that look random, and are the same in each run. */
class Dice {
  #state: number;
  constructor(seed: number) {
    this.#state = seed * 7919;
  }
  below(count: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * count);
  }
  pick<T>(all: readonly T[]): T {
    return all[this.below(all.length)] as T;
  }
}

function makeBlocks(dice: Dice): Block[] {
  const blocks: Block[] = [{ kind: 'heading', level: 1, text: `${dice.pick(words)} and its use` }];
  const paragraph = () =>
    blocks.push({ kind: 'text', text: Array.from({ length: 1 + dice.below(4) }, () => dice.pick(sentences)).join(' ') });
  paragraph();
  for (let section = 1; section <= 2 + dice.below(3); section += 1) {
    blocks.push({ kind: 'heading', level: 2, text: `${dice.below(2) ? `${section} ` : ''}${dice.pick(words)}, part ${section}` });
    paragraph();
    if (dice.below(3) === 0) blocks.push({ kind: 'heading', level: 3, text: `Of the ${dice.pick(words).toLowerCase()}` });
    if (dice.below(2) === 0) paragraph();
    if (dice.below(2) === 0) blocks.push({ kind: 'table', rows: makeRows(dice) });
  }
  return blocks;
}

function makeRows(dice: Dice): string[][] {
  const columns = 2 + dice.below(4);
  const cell = (column: number, row: number) => {
    if (column === 0) return `${dice.pick(words)} ${row}`;
    const made = [
      `${dice.below(900)}`,
      `${dice.below(90)}.${10 + dice.below(90)} EUR`,
      `${dice.below(100)} %`,
      `2026-0${1 + dice.below(9)}-1${dice.below(10)}`,
    ];
    return column === 5 || (column === columns - 1 && dice.below(6) === 0)
      ? dice.pick(sentences).slice(0, 60).trim()
      : (made[column - 1] ?? '');
  };
  const rows = Array.from({ length: 3 + dice.below(6) }, (_, row) => Array.from({ length: columns }, (_, column) => cell(column, row + 1)));
  return [heads.slice(0, columns), ...rows];
}

function toMarkdown(blocks: Block[]): string {
  return blocks
    .map((block) => {
      if (block.kind === 'heading') return `${'#'.repeat(block.level)} ${block.text}`;
      if (block.kind === 'text') return block.text;
      const [head = [], ...rows] = block.rows.map((row) => `| ${row.join(' | ')} |`);
      return [head, `|${'---|'.repeat(block.rows[0]?.length ?? 0)}`, ...rows].join('\n');
    })
    .join('\n\n');
}
