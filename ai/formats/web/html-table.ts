import type { FormatCallback } from 'html-to-text';
import { toRow } from '../table-row.ts';

type Element = Parameters<FormatCallback>[0];

/** The methods of html-to-text's builder for tables, which its published types leave out. */
interface TableBuilder {
  openTable(): void;
  openTableRow(): void;
  openTableCell(options: object): void;
  closeTableCell(options: object): void;
  closeTableRow(): void;
  closeTable(options: {
    tableToString: (rows: { text: string }[][]) => string;
    leadingLineBreaks: number;
    trailingLineBreaks: number;
  }): void;
}

/** A cell reaches over at most so many rows, and into no column behind these. */
const maxColumns = 50;
const around = { leadingLineBreaks: 2, trailingLineBreaks: 2 };

/**
 * Writes a table as rows of Markdown, after its caption. One that holds another table only places things on the page: each of its cells is a
 * block.
 */
export const formatTable: FormatCallback = (table, walk, builder) => {
  const asBlock = ({ children }: Element) => {
    builder.openBlock(around);
    walk(children, builder);
    builder.closeBlock(around);
  };
  childrenOf(table).filter(isCaption).forEach(asBlock);
  if (holdsTable(table)) {
    rowsOf(table).flat().forEach(asBlock);
    return;
  }
  const tables = builder as unknown as TableBuilder;
  const rows = rowsOf(table);
  tables.openTable();
  for (const cells of rows) {
    tables.openTableRow();
    for (const cell of cells) {
      tables.openTableCell({});
      walk(cell.children, builder);
      tables.closeTableCell({});
    }
    tables.closeTableRow();
  }
  const toText = (written: { text: string }[][]) => {
    const inColumns = columnsOf(rows);
    return written.flatMap((cells, row) => toRow(inColumns(row, cells)) ?? []).join('\n');
  };
  tables.closeTable({ tableToString: toText, ...around });
};

/** Puts the texts of rows, from the first on, into their columns: cells reach into columns to the right, and into rows below. */
function columnsOf(rows: Element[][]): (row: number, texts: { text: string }[]) => string[] {
  /** How many more rows each column is taken for. */
  const taken: number[] = [];
  return (row, texts) => {
    const columns: string[] = [];
    const passTaken = () => {
      for (let rest = taken[columns.length] ?? 0; rest > 0; rest = taken[columns.length] ?? 0) {
        taken[columns.length] = rest - 1;
        columns.push('');
      }
    };
    let filled = 0;
    for (const [index, { text }] of texts.entries()) {
      passTaken();
      const { colspan, rowspan } = rows[row]?.[index]?.attribs ?? {};
      filled = columns.push(text);
      const end = Math.min(filled - 1 + countOf(colspan), maxColumns);
      for (let place = filled - 1; place < end; place += 1) {
        columns[place] ??= '';
        taken[place] = countOf(rowspan) - 1;
      }
    }
    passTaken();
    return columns.slice(0, filled);
  };
}

function countOf(span: string | undefined): number {
  return Math.min(Number.parseInt(span ?? '', 10) || 1, maxColumns);
}

/** The cells of each row, whatever stands around the rows. Cells that follow each other outside of a row are one. */
function rowsOf(parent: Element, rows: Element[][] = []): Element[][] {
  let loose: Element[] = [];
  for (const child of childrenOf(parent)) {
    if (isCell(child)) {
      loose.push(child);
      if (loose.length === 1) rows.push(loose);
      continue;
    }
    loose = [];
    if (child.name === 'tr') rows.push(cellsOf(child));
    else if (!isOther(child)) rowsOf(child, rows);
  }
  return rows;
}

function cellsOf(row: Element): Element[] {
  return childrenOf(row).flatMap((child) => (isCell(child) ? [child] : isOther(child) ? [] : cellsOf(child)));
}

function isCell({ name }: Element): boolean {
  return name === 'td' || name === 'th';
}

function isCaption({ name }: Element): boolean {
  return name === 'caption';
}

/** Elements without rows of this table. */
function isOther(element: Element): boolean {
  return isCaption(element) || element.name === 'table';
}

function holdsTable(element: Element): boolean {
  return childrenOf(element).some((child) => child.name === 'table' || holdsTable(child));
}

function childrenOf(element: Element): Element[] {
  return (element.children ?? []).filter(({ type }: Element) => type === 'tag');
}
