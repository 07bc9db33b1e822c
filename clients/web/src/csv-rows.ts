/** The rows of a table of text, each as it stands there and as its cells, which are parted by what parts the names of the columns. */
export function csvRows(text: string): { raw: string; cells: string[] }[] {
  const head = text.split('\n', 1)[0] ?? '';
  const [comma] = [',', ';', '\t'].sort((one, other) => head.split(other).length - head.split(one).length);
  const rows: { raw: string; cells: string[] }[] = [];
  let [from, cell, cells, isQuoted] = [0, '', [] as string[], false];
  for (let at = 0; at <= text.length; at += 1) {
    const sign = text[at];
    const isEnd = sign === undefined || (sign === '\n' && !isQuoted);
    if (isEnd || (sign === comma && !isQuoted)) {
      cells.push(cell.trim());
      cell = '';
    } else if (sign !== '"') cell += sign;
    else if (isQuoted && text[at + 1] === '"') cell += text[at++];
    else isQuoted = !isQuoted;
    if (!isEnd) continue;
    const last = rows.at(-1);
    // An empty line is no row, but counts.
    if (at === from && last) last.raw += text.slice(from, at + 1);
    else rows.push({ raw: text.slice(from, at + 1), cells });
    [from, cells] = [at + 1, []];
  }
  return rows;
}
