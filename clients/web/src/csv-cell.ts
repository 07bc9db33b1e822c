/** The place before what a spreadsheet takes for a formula. If it splits columns at semicolons or tabs, it does so within quotes, too. */
const beforeFormula = /(?<=^|[;\t\r\n])(?=[=+\-@\t\r\uff1d\uff0b\uff0d\uff20])/g;

/** A value of a CSV file. A spreadsheet would run what begins like a formula, and others choose the names in it. */
export function csvCell(value: unknown): string {
  const text = value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
  return `"${text.replace(beforeFormula, "'").replaceAll('"', '""')}"`;
}
