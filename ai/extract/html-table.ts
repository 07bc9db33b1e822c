import type { FormatCallback } from 'html-to-text';
import { toRow } from './table-row.ts';

type Element = Parameters<FormatCallback>[0];

/** What the builder of html-to-text has for tables, which its published types leave out. */
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

const groups = new Set(['thead', 'tbody', 'tfoot', 'center']);
const around = { leadingLineBreaks: 2, trailingLineBreaks: 2 };

/** Writes a table as rows of Markdown. One that holds another table only places things on the page: each of its cells is a block. */
export const formatTable: FormatCallback = (table, walk, builder) => {
  if (holdsTable(table)) {
    for (const cell of rowsOf(table).flatMap(cellsOf)) {
      builder.openBlock(around);
      walk(cell.children, builder);
      builder.closeBlock(around);
    }
    return;
  }
  const tables = builder as unknown as TableBuilder;
  tables.openTable();
  for (const row of rowsOf(table)) {
    tables.openTableRow();
    for (const cell of cellsOf(row)) {
      tables.openTableCell({});
      walk(cell.children, builder);
      tables.closeTableCell({});
    }
    tables.closeTableRow();
  }
  const toText = (rows: { text: string }[][]) => rows.flatMap((cells) => toRow(cells.map(({ text }) => text)) ?? []).join('\n');
  tables.closeTable({ tableToString: toText, ...around });
};

function rowsOf(parent: Element): Element[] {
  return childrenOf(parent).flatMap((child) => (child.name === 'tr' ? [child] : groups.has(child.name ?? '') ? rowsOf(child) : []));
}

function cellsOf(row: Element): Element[] {
  return childrenOf(row).filter(({ name }) => name === 'td' || name === 'th');
}

function holdsTable(element: Element): boolean {
  return childrenOf(element).some((child) => child.name === 'table' || holdsTable(child));
}

function childrenOf(element: Element): Element[] {
  return (element.children ?? []).filter(({ type }: Element) => type === 'tag');
}
