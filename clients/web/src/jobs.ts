import { type Contract, type Document, isFinal, type Job, type JobEvent, type OutputOf, SheafError } from '@sheaf/client';
import { type InfiniteData, infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { type Place, queryClient, sessionEnded } from './queries.ts';
import { onResume } from './resume.ts';
import { background, service } from './service.ts';
import { createStore } from './store.ts';
import { inBrief } from './text.ts';

type JobPage = OutputOf<Contract['jobs']['list']> & {
  /** When the last of its jobs was made, also if that is not shown any more. */
  reachesTo: string | undefined;
};
export type ListedJob = JobPage['items'][number];
export type JobStatus = Job['status'];
type Filter = { kind?: Job['kind'] | undefined; status?: JobStatus | undefined; documentId?: string | undefined };

/** Several changes are shown at once, so that a hundred a second do not hold up the page. */
const gatherMs = 150;
/** How many jobs the first page may have, with those that came since; then it keeps the newest. */
const [maxFirstPage, keptItems] = [200, 25];
/** A document or the usage shows what a job has done, soon after it. */
const refreshMs = 2_000;

/** The jobs of a workspace, newest first, a page at a time. */
export function jobsQuery({ organization, workspace }: Place, filter: Filter) {
  const input = { organizationId: organization.id, workspaceId: workspace.id, includeResult: true, ...filter };
  return infiniteQueryOptions({
    queryKey: ['jobs', workspace.id, filter],
    queryFn: async ({ pageParam, signal }): Promise<JobPage> => {
      const page = await service.jobs.list({ ...input, ...(pageParam ? { cursor: pageParam } : {}) }, { signal });
      return { ...page, reachesTo: page.items.at(-1)?.createdAt };
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
}

export const jobQuery = (id: string) =>
  queryOptions({ queryKey: ['job', id], queryFn: ({ signal }) => service.jobs.get({ id }, { signal }) });

/**
 * The ids of jobs that were tried again, among those since the oldest of the given ones. A retry names its original, is newer than it, and
 * may be in any state.
 */
export async function findRetried({ organization, workspace }: Place, jobs: ListedJob[]): Promise<Set<string | undefined>> {
  const [oldest = ''] = jobs.map(({ createdAt }) => createdAt).sort();
  const retried = new Set<string | undefined>();
  let cursor: string | undefined;
  do {
    const page = await service.jobs.list({ organizationId: organization.id, workspaceId: workspace.id, limit: 100, cursor });
    for (const { input } of page.items) retried.add(input.retryOf);
    const isDone = page.items.some(({ createdAt }) => createdAt < oldest);
    cursor = (!isDone && page.nextCursor) || undefined;
  } while (cursor !== undefined);
  return retried;
}

/** Codes of jobs that fail again however often they are tried: the document itself is at fault, or gone (docs/reference.md). */
const hopeless = [
  ...['unsupported_type', 'unsupported_image', 'unsupported_encoding', 'unreadable_document', 'unreadable_image', 'unusable_text'],
  ...['encrypted_document', 'empty_document', 'expands_too_far', 'too_many_pages', 'text_too_long', 'too_many_chunks'],
  ...['document_missing', 'workspace_missing'],
];

/** Whether another try would fail in the same way. */
export const isHopeless = (error: ListedJob['error'] | undefined): boolean => hopeless.includes(error?.code ?? '');

/** Whether another try of a job can succeed. */
export const mayBeRetried = ({ status, error }: Pick<ListedJob, 'status' | 'error'>): boolean => status === 'failed' && !isHopeless(error);

/** The codes that concern one job, and not those after it. */
const refusals: string[] = ['BAD_REQUEST', 'NOT_FOUND', 'CONFLICT', 'LIMIT_REACHED'];

/**
 * Tries jobs again, and returns why some of them were refused. If it goes on after an error, or after a response that was lost, the key of a
 * job keeps it from being charged twice.
 */
export const retryJobs = (jobs: ListedJob[]): Promise<string[]> =>
  startEach(jobs, ({ id }) => background.jobs.retry({ id }, { idempotencyKey: `retry-${id}` }));

/** Makes documents searchable, and returns why some jobs were refused. One that is under way or done already is not started again. */
export const indexDocuments = (documents: Document[]): Promise<string[]> =>
  startEach(documents, ({ id }) => background.jobs.create({ kind: 'document.index', documentId: id, once: true }));

async function startEach<T>(items: T[], start: (item: T) => Promise<unknown>): Promise<string[]> {
  const reasons: string[] = [];
  for (const item of items)
    await start(item).catch((error: unknown) => {
      if (!(error instanceof SheafError && refusals.includes(error.code))) throw error;
      reasons.push(inBrief(error));
    });
  return reasons;
}

export interface Live {
  state: 'connecting' | 'live' | 'lost';
  error?: unknown;
  again(): void;
}

/** How the stream of jobs is doing. */
export const liveJobs = createStore<Live>({ state: 'connecting', again: () => undefined });

/** The last news of the jobs that documents wait for, or are worked on by, by document. Those that have ended go once it was read again. */
export const jobsUnderWay = createStore<ReadonlyMap<string, JobEvent>>(new Map());

/** Follows the jobs of a workspace while its pages are open, and keeps what they show up to date. */
export function useLiveJobs({ organization, workspace }: Place): void {
  const [round, setRound] = useState(0);
  const [organizationId, workspaceId] = [organization.id, workspace.id];
  useEffect(() => {
    const closed = new AbortController();
    const again = () => setRound(round + 1);
    const setLive = (live: Omit<Live, 'again'>) => liveJobs.set({ ...live, again });
    const forget = onResume(() => liveJobs.get().state === 'lost' && again());
    const gathered = createGathering(workspaceId);
    const follow = async () => {
      setLive({ state: 'connecting' });
      const stream = await background.jobs.stream({ organizationId, workspaceId }, { signal: closed.signal });
      // Before its first event, which is newer.
      jobsUnderWay.set(await findUnderWay({ organizationId, workspaceId }, closed.signal));
      setLive({ state: 'live' });
      // What changed before the stream was open.
      for (const queryKey of [['jobs', workspaceId], ['job']]) void queryClient.invalidateQueries({ queryKey });
      for await (const event of stream) gathered.add(event);
    };
    follow().catch((error: unknown) => {
      if (closed.signal.aborted) return;
      // The stream may be open still, if it was what is under way that could not be read.
      closed.abort();
      if (error instanceof SheafError && error.status === 401) sessionEnded.set(true);
      setLive({ state: 'lost', error });
    });
    return () => {
      closed.abort();
      forget();
      gathered.end();
    };
  }, [organizationId, workspaceId, round]);
}

/** The jobs that documents wait for, or are worked on by, by document: of each state the newest, more than a page of documents has. */
async function findUnderWay(place: { organizationId: string; workspaceId: string }, signal: AbortSignal): Promise<Map<string, JobEvent>> {
  const list = (status: JobStatus) => background.jobs.list({ ...place, status, limit: 100 }, { signal });
  const pages = await Promise.all([list('queued'), list('running')]);
  const jobs = pages.flatMap(({ items }) => items);
  return new Map(jobs.flatMap((job) => (job.documentId ? [[job.documentId, job]] : [])));
}

/** Whether a job has ended, or has done a stage. */
function changesDocument(event: JobEvent): boolean {
  return isFinal(event) || (event.kind === 'document.process' && event.progress > 0);
}

function createGathering(workspaceId: string) {
  let events: JobEvent[] = [];
  const documentIds = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let refreshing: ReturnType<typeof setTimeout> | undefined;
  const show = () => {
    timer = undefined;
    // A list that is being read may be older than the events, and would replace what they say.
    if (queryClient.isFetching({ queryKey: ['jobs', workspaceId] }) > 0) {
      timer = setTimeout(show, gatherMs);
      return;
    }
    const latest = new Map(events.map((event) => [event.id, event]));
    events = [];
    const underWay = new Map(jobsUnderWay.get());
    for (const event of latest.values()) if (event.documentId) underWay.set(event.documentId, event);
    jobsUnderWay.set(underWay);
    const isShown = ({ queryKey: [name, id] }: { queryKey: readonly unknown[] }) => name === 'job' && latest.has(String(id));
    void queryClient.invalidateQueries({ predicate: isShown });
    for (const [key] of queryClient.getQueriesData<InfiniteData<JobPage>>({ queryKey: ['jobs', workspaceId] })) {
      const merged = queryClient.setQueryData<InfiniteData<JobPage>>(key, (data) => data && merge(data, latest, key[2] as Filter));
      if (!merged?.pages[0] || merged.pages[0].items.length <= maxFirstPage) continue;
      // A page that is watched all night does not grow with each job: it begins anew with the newest.
      const [first] = merged.pages;
      queryClient.setQueryData(key, { pages: [{ ...first, items: first.items.slice(0, keptItems) }], pageParams: [undefined] });
      void queryClient.invalidateQueries({ queryKey: key, exact: true });
    }
    for (const { documentId } of [...latest.values()].filter(changesDocument)) {
      if (documentId) documentIds.add(documentId);
      refreshing ??= setTimeout(() => void refresh(), refreshMs);
    }
  };
  const refresh = async () => {
    refreshing = undefined;
    const ended = new Set([...jobsUnderWay.get().values()].filter(isFinal));
    const changed = [['documents', workspaceId], ['usage'], ...[...documentIds].map((id) => ['document', id])];
    documentIds.clear();
    await Promise.all(changed.map((queryKey) => queryClient.invalidateQueries({ queryKey })));
    jobsUnderWay.set(new Map([...jobsUnderWay.get()].filter(([, event]) => !ended.has(event))));
  };
  return {
    add(event: JobEvent) {
      events.push(event);
      timer ??= setTimeout(show, gatherMs);
    },
    end() {
      clearTimeout(timer);
      clearTimeout(refreshing);
      jobsUnderWay.set(new Map());
    },
  };
}

/**
 * A list with what has changed: a new job stands first; one that the filter no longer shows goes. One that is older than what was loaded
 * comes with its own page.
 */
function merge(data: InfiniteData<JobPage>, changed: Map<string, JobEvent>, { kind, status, documentId }: Filter): InfiniteData<JobPage> {
  const fits = (job: Pick<JobEvent, 'kind' | 'status' | 'documentId'>) =>
    (kind === undefined || job.kind === kind) &&
    (status === undefined || job.status === status) &&
    (documentId === undefined || job.documentId === documentId);
  const known = new Set(data.pages.flatMap(({ items }) => items.map(({ id }) => id)));
  const last = data.pages.at(-1);
  const isLoaded = ({ createdAt }: JobEvent) => !last?.nextCursor || !last.reachesTo || createdAt >= last.reachesTo;
  const added = [...changed.values()].filter((event) => !known.has(event.id) && fits(event) && isLoaded(event)) as ListedJob[];
  const pages = data.pages.map((page, index) => {
    const items = page.items.map((job) => ({ ...job, ...changed.get(job.id) }) as ListedJob).filter(fits);
    return { ...page, items: index === 0 ? [...added.reverse(), ...items] : items };
  });
  return { ...data, pages };
}
