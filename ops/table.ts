/** Formats a table: columns are as wide as their widest cell, numbers are aligned right. The first row is the head. */
export function table(rows: (string | number)[][]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => String(row[column] ?? '').length)));
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return typeof cell === 'number' ? String(cell).padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
}

/** `1 job`, `2 jobs`. */
export function counted(value: number, one: string, more = `${one}s`): string {
  return `${value} ${value === 1 ? one : more}`;
}

/** A duration in its largest unit that fits, such as `3 min`. */
export function age(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}
