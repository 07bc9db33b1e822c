/** A cell of a table, from its first to its last row and column, all counted from 0. */
export interface Cell {
  text: string;
  rows: [first: number, last: number];
  columns: [first: number, last: number];
}

/** A table of which each cell stands in one row and one column. */
export function toCells(rows: string[][]): Cell[] {
  return rows.flatMap((row, y) => row.map((text, x): Cell => ({ text, rows: [y, y], columns: [x, x] })));
}

/**
 * The pairs of neighbours of a table, as the competition of ICDAR 2013 counts them: each cell with the next one that is not empty, at its
 * right and below it. Of texts only letters and digits count.
 */
export function pairsOf(cells: Cell[]): string[] {
  const filled = cells.map((cell) => ({ ...cell, text: lettersOf(cell.text) })).filter(({ text }) => text !== '');
  return [...neighbours(filled, 'rows', 'columns'), ...neighbours(filled, 'columns', 'rows')];
}

function neighbours(cells: Cell[], along: 'rows' | 'columns', across: 'rows' | 'columns'): string[] {
  const lines = new Map<number, Cell[]>();
  for (const cell of cells) {
    for (let line = cell[along][0]; line <= cell[along][1]; line += 1) lines.set(line, [...(lines.get(line) ?? []), cell]);
  }
  const found = new Map<Cell, Set<Cell>>();
  for (const line of lines.values()) {
    line.sort((one, other) => one[across][0] - other[across][0]);
    for (const [index, cell] of line.entries()) {
      const next = line[index + 1];
      if (next) found.set(cell, (found.get(cell) ?? new Set()).add(next));
    }
  }
  return [...found].flatMap(([cell, others]) => [...others].map((other) => `${along}\t${cell.text}\t${other.text}`));
}

function lettersOf(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

/** How many pairs of two lists are the same ones. */
export function countCommon(found: string[], known: string[]): number {
  const left = new Map<string, number>();
  for (const pair of known) left.set(pair, (left.get(pair) ?? 0) + 1);
  return found.filter((pair) => {
    const count = left.get(pair) ?? 0;
    if (count > 0) left.set(pair, count - 1);
    return count > 0;
  }).length;
}
