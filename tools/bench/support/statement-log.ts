/** A statement as Postgres logged it, with the time that parsing, planning and running it took. */
export interface Statement {
  text: string;
  ms: number;
}

/**
 * The statements in a log that was written with `log_min_duration_statement = 0`, in their order. A statement of the extended
 * protocol is logged in steps, which are added up.
 */
export function readStatements(log: string): Statement[] {
  const statements: Statement[] = [];
  let ms = 0;
  for (const [, duration, step, text = ''] of log.matchAll(
    /duration: ([\d.]+) ms {2}(statement|parse|bind|execute)[^:]*: (.*(?:\n\t.*)*)/g,
  )) {
    ms += Number(duration);
    if (step === 'parse' || step === 'bind') continue;
    statements.push({ text: text.replaceAll(/\s+/g, ' ').trim(), ms });
    ms = 0;
  }
  return statements;
}
