/** A row of a table in Markdown, its cells on one line; undefined if all of them are empty. */
export function toRow(cells: string[]): string | undefined {
  const lines = cells.map((cell) => cell.replace(/\s+/g, ' ').trim().replaceAll('|', '\\|'));
  return lines.some((cell) => cell !== '') ? `| ${lines.join(' | ')} |` : undefined;
}
