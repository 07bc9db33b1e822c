import { setTimeout as delay } from 'node:timers/promises';
import type { Service } from './service.ts';

/** A statement from the log of Postgres, with the time for parsing, planning and running it. */
export interface Statement {
  text: string;
  ms: number;
}

/** Lets Postgres log every statement from now on. */
export async function logStatements({ pool }: Service): Promise<void> {
  await setting(pool, 'set log_min_duration_statement = 0');
}

/** The statements that Postgres logs during `work`. */
export async function statementsDuring(service: Service, work: () => Promise<unknown>): Promise<Statement[]> {
  await delay(500);
  const before = service.stack.readLog('postgres').length;
  await work();
  await delay(500);
  return readStatements(service.stack.readLog('postgres').slice(before));
}

/** How many statements Postgres runs during `work`. */
export async function countStatements(service: Service, work: () => Promise<unknown>): Promise<number> {
  await logStatements(service);
  try {
    return (await statementsDuring(service, work)).length;
  } finally {
    await setting(service.pool, 'reset log_min_duration_statement');
  }
}

async function setting(pool: Service['pool'], change: string): Promise<void> {
  await pool.query(`alter system ${change}`);
  await pool.query('select pg_reload_conf()');
}

/**
 * The statements of a log that was written with `log_min_duration_statement = 0`, in their order. The extended protocol logs a
 * statement in several steps, whose times are added up.
 */
function readStatements(log: string): Statement[] {
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
