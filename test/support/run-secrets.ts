import { randomUUID } from 'node:crypto';
import { appendFileSync, globSync, mkdirSync, renameSync } from 'node:fs';
import { basename, join } from 'node:path';
import { inheritedEnvironment, loadTestServices } from '../../base/config/local.ts';

/** Something that a test of the run has used, and that no log may hold: a key or a token, or the beginning of a text of a tenant. */
export interface NotedSecret {
  sort: 'token' | 'text';
  value: string;
}

export const keptLogs = 'kept-logs';
export const notesOf = 'secrets-*.jsonl';

const { recordDir } = loadTestServices(inheritedEnvironment());
/** Words of this length are no others by chance. */
const leastTokenLength = 16;
const leastTextLength = 16;
const textLength = 40;
const noted = new Set<string>();

/** The parts of a token by which it is found, also if only a part of it was logged. */
export function partsOf(token: string): string[] {
  return token.split(/[^A-Za-z0-9]+/).filter((part) => part.length >= leastTokenLength);
}

/** Notes keys, tokens and passwords for the search of the logs when the run ends (`find-secrets.ts`). */
export function noteTokens(...tokens: (string | undefined)[]): void {
  for (const token of tokens) for (const value of partsOf(token ?? '')) note({ sort: 'token', value });
}

/** Notes how a text of a tenant begins. Short ones may be in a log by chance. */
export function noteText(text: unknown): void {
  if (typeof text !== 'string') return;
  const value = text.trimStart().split('\n')[0]?.slice(0, textLength) ?? '';
  if (value.length >= leastTextLength) note({ sort: 'text', value });
}

/** Notes what a request of a test sends that is of the tenant alone. */
export function noteRequest(body: unknown): void {
  if (typeof body !== 'object' || body === null) return;
  const { text, texts, query, password, newPassword, json } = body as Record<string, unknown>;
  for (const each of [text, query, password, newPassword, ...(Array.isArray(texts) ? texts : [])]) noteText(each);
  noteRequest(json);
}

/** What proves a link: its signature, and of one of S3 the key and the session by which it was signed. */
const proof = /[?&](?:(?:X-Goog-|X-Amz-)?Signature|X-Amz-Credential|X-Amz-Security-Token)=([\w.~%-]+)/gi;

/** Notes the signatures of the links in a response, and whose they are. */
export function noteSignatures(response: string): void {
  noteTokens(...signaturesIn(response));
}

/** What {@link noteSignatures} notes: also without the characters that a query string escapes, for a log may have them as they were. */
export function signaturesIn(response: string): string[] {
  return [...response.matchAll(proof)].flatMap(([, value = '']) => [value, value.replaceAll(/%[0-9A-F]{2}/gi, ' ')]);
}

/** Keeps the logs of a directory for that search, before the directory is deleted. */
export function keepLogs(directory: string): void {
  if (recordDir === undefined) return;
  const logs = globSync(['logs/*.log*', '*/logs/*.log*'], { cwd: directory });
  if (logs.length > 0) mkdirSync(join(recordDir, keptLogs), { recursive: true });
  for (const log of logs) move(join(directory, log), join(recordDir, keptLogs, `${basename(log)}-${randomUUID()}`));
}

/** A process that has not ended yet may rotate or delete its log meanwhile. */
function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function note(secret: NotedSecret): void {
  if (recordDir === undefined || noted.has(secret.value)) return;
  noted.add(secret.value);
  appendFileSync(join(recordDir, `secrets-${process.pid}.jsonl`), `${JSON.stringify(secret)}\n`);
}
