import { contentTypeOf, SheafError } from '@sheaf/client';
import type { NamedFile } from './dropped-files.ts';
import { queryClient, sessionEnded } from './queries.ts';
import { onResume } from './resume.ts';
import { service } from './service.ts';
import { createStore } from './store.ts';
import { t } from './text.ts';

/** What is wrong with a file, which no other try would change. */
class UnfitFile extends Error {}

const atOnce = 3;
/** Of a document, in characters. */
const longestName = 200;
/** In bytes. A larger file would take too long to read for its digest, and all of it is read into memory. */
const largestDigested = 32 * 1024 * 1024;
/** While many are sent, lists show those that are stored soon after. */
const refreshMs = 2_000;

export interface UploadItem {
  key: number;
  workspaceId: string;
  file: File;
  /** What the document is called. */
  name: string;
  /** Whether the document is made searchable once it is stored. */
  index: boolean;
  /** The document that gets the file as its new content: the service reads that by itself. */
  replaces: string | undefined;
  state: 'waiting' | 'sending' | 'done' | 'failed' | 'canceled';
  sentBytes: number;
  /** Set once it is stored: only what follows may have failed. */
  documentId?: string;
  /** The name of a document that has the same content. */
  duplicateOf?: string;
  error?: unknown;
}

/** The uploads of this page, the newest last. They go on while other pages of the console are looked at. */
export const uploads = createStore<UploadItem[]>([]);

const running = new Map<number, AbortController>();
let lastKey = 0;
/** Whether nothing is sent, because the session or the connection is away, or the service asks for a wait. */
let isHeld = false;
let waitEnds: ReturnType<typeof setTimeout> | undefined;
let refreshing: ReturnType<typeof setTimeout> | undefined;
/** How often sending went on after that. */
let round = 0;

export const hasEndedWell = ({ state }: UploadItem): boolean => state === 'done' || state === 'canceled';
export const isUnderWay = ({ state }: UploadItem): boolean => state === 'waiting' || state === 'sending';

// To leave the page, or to load it anew, ends them: the browser asks first.
window.addEventListener('beforeunload', (event) => {
  if (uploads.get().some(isUnderWay)) event.preventDefault();
});

interface NewUploads {
  workspaceId: string;
  files: NamedFile[];
  index: boolean;
  replaces?: string;
}

export function startUploads({ files, replaces, ...rest }: NewUploads): void {
  const added = files.map((file): UploadItem => ({ ...rest, ...file, replaces, key: ++lastKey, state: 'waiting', sentBytes: 0 }));
  uploads.set([...uploads.get(), ...added]);
  goOn();
}

export function cancelUpload(key: number): void {
  running.get(key)?.abort();
  change(key, { state: 'canceled', error: undefined });
}

export function retryUpload(key: number): void {
  change(key, { state: 'waiting', sentBytes: 0, error: undefined });
  goOn();
}

/** Whether sending it again can succeed: not if the service refused what the file is, or how large. */
export function mayBeSentAgain({ state, error }: UploadItem): boolean {
  if (state === 'canceled') return true;
  const isRefused = error instanceof SheafError && (error.is('BAD_REQUEST') || error.is('PAYLOAD_TOO_LARGE') || error.is('CONFLICT'));
  return error !== undefined && !isRefused && !(error instanceof UnfitFile);
}

export function removeUpload(key: number): void {
  uploads.set(uploads.get().filter((each) => each.key !== key));
}

/** Forgets those that have ended well. */
export function clearUploads(): void {
  uploads.set(uploads.get().filter((each) => !hasEndedWell(each)));
}

function change(key: number, changes: Partial<UploadItem>): void {
  uploads.set(uploads.get().map((each) => (each.key === key ? { ...each, ...changes } : each)));
}

onResume(goOn);

function goOn(): void {
  clearTimeout(waitEnds);
  isHeld = false;
  round++;
  sendNext();
}

function sendNext(): void {
  const waiting = uploads.get().filter(({ state }) => state === 'waiting');
  // One that has failed already comes last, should it be at fault itself.
  const next = waiting.find(({ error }) => error === undefined) ?? waiting[0];
  if (isHeld || !next || running.size >= atOnce) return;
  const aborted = new AbortController();
  const begunIn = round;
  running.set(next.key, aborted);
  change(next.key, { state: 'sending', error: undefined });
  void send(next, aborted.signal)
    .then(() => {
      isHeld = false;
      change(next.key, { state: 'done', sentBytes: next.file.size });
    })
    .catch((error: unknown) => {
      const hasNoSession = error instanceof SheafError && error.status === 401;
      if (hasNoSession) sessionEnded.set(true);
      if (aborted.signal.aborted) return;
      const waitMs = error instanceof SheafError ? error.retryAfterMs : undefined;
      const isAway = hasNoSession || waitMs !== undefined || (error instanceof SheafError && error.is('NETWORK'));
      if (!isAway) return change(next.key, { state: 'failed', error });
      if (waitMs !== undefined) {
        clearTimeout(waitEnds);
        waitEnds = setTimeout(goOn, waitMs);
      }
      // The others would fail in the same way: they wait, and this one with them, unless what was away came back while it was sent.
      isHeld ||= begunIn === round;
      change(next.key, { state: 'waiting', sentBytes: 0, error });
    })
    .finally(() => {
      running.delete(next.key);
      refreshSoon();
      sendNext();
    });
  sendNext();
}

/** Shows what was stored, or refused: at once after the last, else for several, since what is read counts for the limit of requests. */
function refreshSoon(): void {
  const isLast = !uploads.get().some(isUnderWay);
  if (isLast) clearTimeout(refreshing);
  else if (refreshing !== undefined) return;
  refreshing = setTimeout(
    () => {
      refreshing = undefined;
      for (const name of ['documents', 'document', 'stopped']) void queryClient.invalidateQueries({ queryKey: [name] });
    },
    isLast ? 0 : refreshMs,
  );
}

async function send(item: UploadItem, signal: AbortSignal): Promise<void> {
  const documentId = item.documentId ?? (await store(item, signal));
  if (item.index) await service.jobs.create({ kind: 'document.index', documentId, once: true });
}

async function store({ key, workspaceId, file, replaces, name: path }: UploadItem, signal: AbortSignal): Promise<string> {
  const contentType = contentTypeOf(path);
  if (!contentType) throw new UnfitFile(t.uploads.unknownType);
  if (file.size === 0) throw new UnfitFile(t.uploads.empty);
  const onProgress = ({ sentBytes }: { sentBytes: number }) => change(key, { sentBytes });
  // Of a long path the end says more.
  const name = Array.from(path).slice(-longestName).join('');
  const onDuplicate = ({ name: duplicateOf }: { name: string }) => change(key, { duplicateOf });
  const sha256 = await digest(file);
  const upload = { workspaceId, file, name, contentType, replaces, sha256, onProgress, onDuplicate, signal };
  const { id } = await service.uploadDocument(upload);
  change(key, { documentId: id });
  return id;
}

/** The SHA-256 of a small file in hex. Pages without https have no means for it. */
async function digest(file: File): Promise<string | undefined> {
  if (file.size > largestDigested || !window.isSecureContext) return undefined;
  const hash = await crypto.subtle.digest('SHA-256', await file.arrayBuffer());
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
