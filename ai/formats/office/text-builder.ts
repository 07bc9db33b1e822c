import { joinPages, markHeading } from '../outline.ts';
import { signOfRaised } from '../raised.ts';
import { toRow } from '../table-row.ts';

/** The text around a cell in a row. */
const cellFrame = ' | '.length;
/** A table of Word has no more columns. */
const maxColumns = 63;

/** A text that is being written, with the paragraph and the table that are open. */
interface Flow {
  blocks: string[];
  line: string;
  tables: number;
  rows: string[];
  cells: string[];
  /** How many columns are passed before the next cell, since cells to the left or above reach into them. */
  passed: number;
  cell: string[];
  /** Paragraphs of asides, which follow the paragraph that they stand in. */
  waiting: string[];
}

const newFlow = (): Flow => ({ blocks: [], line: '', tables: 0, rows: [], cells: [], passed: 0, cell: [], waiting: [] });

/**
 * Collects the text of a document: paragraphs with empty lines between them, tables as rows of Markdown. What is inside of a table's cell
 * becomes one line of it, also another table. Kinds with pages end each of them.
 */
export class TextBuilder {
  readonly #maxCharacters: number;
  #length = 0;
  #isRaised = false;
  #flow = newFlow();
  /** The contents that continue once an aside is closed, the outermost first. */
  readonly #around: Flow[] = [];
  readonly #pages: string[] = [];

  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters;
  }

  /** Whether there is more text than is kept. */
  get full(): boolean {
    // In UTF-16 units, of which a character has two at most.
    return this.#length > this.#maxCharacters * 2;
  }

  /** How many characters were added. */
  get length(): number {
    return this.#length;
  }

  /** `isRaised` says that the text is a superscript. */
  add(text: string, isRaised = false): void {
    if (isRaised && !this.#isRaised) this.#flow.line += signOfRaised(this.#flow.line, text);
    this.#isRaised = isRaised;
    this.#flow.line += text;
    this.#length += text.length;
  }

  /** Ends a paragraph, which is a heading if it has a level. One within a cell, a note or a box of text is none. */
  endParagraph(level?: number): void {
    const flow = this.#flow;
    const text = flow.line.trim();
    const paragraphs = flow.tables > 0 ? flow.cell : flow.blocks;
    const isHeading = level !== undefined && flow.tables === 0 && this.#around.length === 0;
    if (text !== '') paragraphs.push(isHeading ? markHeading(level, text) : text);
    append(paragraphs, flow.waiting);
    flow.line = '';
    flow.waiting = [];
  }

  /** Ends a paragraph that is the title of the page, and stands above all else on it, wherever it is read. */
  endTitle(): void {
    const flow = this.#flow;
    const title = flow.line.trim();
    flow.line = '';
    if (title !== '') flow.blocks.unshift(markHeading(1, title));
  }

  /** Begins a note or a box of text within a paragraph. */
  openAside(): void {
    this.#around.push(this.#flow);
    this.#flow = newFlow();
  }

  /** Closes the aside. Its text is put after the paragraph, or before it if the paragraph has no text yet. */
  closeAside(): void {
    const around = this.#around.pop();
    if (!around) return;
    this.#endTables();
    append(around.waiting, this.#flow.blocks);
    this.#flow = around;
    if (around.line.trim() === '') this.endParagraph();
  }

  openTable(): void {
    this.endParagraph();
    this.#flow.tables += 1;
  }

  endCell(): void {
    this.endParagraph();
    const flow = this.#flow;
    if (flow.tables !== 1) return;
    for (; flow.passed > 0; flow.passed -= 1) flow.cells.push('');
    flow.cells.push(flow.cell.join(' '));
    flow.cell = [];
  }

  /** Passes columns of a row, so that the next cell stands in its own. Nothing is written for them at the end of the row. */
  passColumns(count: number): void {
    if (this.#flow.tables === 1) this.#flow.passed = Math.min(this.#flow.passed + count, maxColumns - this.#flow.cells.length);
  }

  endRow(): void {
    const flow = this.#flow;
    if (flow.tables !== 1) return;
    flow.passed = 0;
    const row = toRow(flow.cells);
    if (row !== undefined) {
      flow.rows.push(row);
      // Empty cells also add characters.
      this.#length += flow.cells.length * cellFrame;
    }
    flow.cells = [];
  }

  closeTable(): void {
    this.endParagraph();
    const flow = this.#flow;
    flow.tables = Math.max(0, flow.tables - 1);
    if (flow.tables > 0) return;
    if (flow.rows.length > 0) flow.blocks.push(flow.rows.join('\n'));
    flow.rows = [];
    flow.cells = [];
    flow.cell = [];
  }

  /** Ends a page with all that is open on it. */
  endPage(): void {
    this.#pages.push(this.#endFlow());
  }

  finish(): { text: string; pageTexts?: string[]; stoppedEarly: boolean } {
    const found = { stoppedEarly: this.full };
    const rest = this.#endFlow();
    if (this.#pages.length === 0) return { text: rest, ...found };
    return { text: joinPages(this.#pages), pageTexts: this.#pages, ...found };
  }

  #endFlow(): string {
    while (this.#around.length > 0) this.closeAside();
    this.#endTables();
    const text = this.#flow.blocks.join('\n\n');
    this.#flow = newFlow();
    return text;
  }

  #endTables(): void {
    this.endParagraph();
    while (this.#flow.tables > 0) this.closeTable();
  }
}

/** A spread would fail: a call has a maximum number of arguments. */
function append<T>(items: T[], more: T[]): void {
  for (const one of more) items.push(one);
}
