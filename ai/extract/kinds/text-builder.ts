import { toRow } from '../table-row.ts';

/** What stands around a cell in a row. */
const cellFrame = ' | '.length;

/**
 * Collects the text of a document: paragraphs with empty lines between them, tables as rows of Markdown. What is inside of a table's cell
 * becomes one line of it, also another table.
 */
export class TextBuilder {
  readonly #blocks: string[] = [];
  readonly #maxCharacters: number;
  #length = 0;
  #line = '';
  #tables = 0;
  #rows: string[] = [];
  #cells: string[] = [];
  #cell: string[] = [];

  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters;
  }

  /** Whether there is more text than is kept. */
  get full(): boolean {
    // In UTF-16 units, of which a character has two at most.
    return this.#length > this.#maxCharacters * 2;
  }

  add(text: string): void {
    this.#line += text;
    this.#length += text.length;
  }

  endParagraph(): void {
    const text = this.#line.trim();
    this.#line = '';
    if (text === '') return;
    if (this.#tables > 0) this.#cell.push(text);
    else this.#blocks.push(text);
  }

  openTable(): void {
    this.endParagraph();
    this.#tables += 1;
  }

  endCell(): void {
    this.endParagraph();
    if (this.#tables !== 1) return;
    this.#cells.push(this.#cell.join(' '));
    this.#cell = [];
  }

  endRow(): void {
    if (this.#tables !== 1) return;
    const row = toRow(this.#cells);
    if (row !== undefined) {
      this.#rows.push(row);
      // Empty cells take room, too.
      this.#length += this.#cells.length * cellFrame;
    }
    this.#cells = [];
  }

  closeTable(): void {
    this.endParagraph();
    this.#tables = Math.max(0, this.#tables - 1);
    if (this.#tables > 0) return;
    if (this.#rows.length > 0) this.#blocks.push(this.#rows.join('\n'));
    this.#rows = [];
    this.#cells = [];
    this.#cell = [];
  }

  finish(): { text: string; stoppedEarly: boolean } {
    this.endParagraph();
    while (this.#tables > 0) this.closeTable();
    return { text: this.#blocks.join('\n\n'), stoppedEarly: this.full };
  }
}
