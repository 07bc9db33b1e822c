import { csvCell } from './csv-cell.ts';

/** Saves rows as a CSV file, with the names of their columns in the first line. */
export function saveCsv<C extends string>(name: string, columns: readonly C[], rows: Record<C, unknown>[]): void {
  const lines = [columns.join(','), ...rows.map((row) => columns.map((column) => csvCell(row[column])).join(','))];
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([`${lines.join('\r\n')}\r\n`], { type: 'text/csv' }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
